#include "webhook/admission/dry_run.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/base/log.h"
#include "operator/base/metrics.h"
#include "operator/base/parallel.h"
#include "operator/client/status_error.h"
#include "operator/json/json_document.h"
#include "operator/runtime/json_bytes.h"
#include "webhook/admission/known_errors.h"

namespace yad {
namespace {

constexpr std::size_t kMaxWorkloads = 16;
constexpr std::size_t kParallel = 8;

bool IsAtOrBelow(const std::string& field, const std::string& path) {
  return field.starts_with(path) &&
         (field.size() == path.size() || std::string(".[").find(field[path.size()]) != std::string::npos);
}

// Converts the path of a field in a workload to its path in the YurtAppDaemon.
std::string DaemonPath(WorkloadKind kind, const std::string& field) {
  if (IsAtOrBelow(field, "spec.selector")) return field;
  return field.empty() ? TemplatePath(kind) : TemplatePath(kind) + "." + field;
}

// Removes a prefix such as `deployments.apps "web-a-x7k2p" is forbidden: `, because the user did not write this
// workload.
std::string WithoutSubject(const std::string& message) {
  for (const char* verb : {" is forbidden: ", " is invalid: "}) {
    const std::size_t at = message.find(verb);
    if (at != std::string::npos) return message.substr(at + std::string(verb).size());
  }
  return message;
}

// Returns the part of `text` between `begin` and `end`; "" if it does not contain both.
std::string Between(const std::string& text, std::string_view begin, std::string_view end) {
  const std::size_t from = text.find(begin);
  if (from == std::string::npos) return "";
  const std::size_t to = text.find(end, from + begin.size());
  return to == std::string::npos ? "" : text.substr(from + begin.size(), to - from - begin.size());
}

// Describes a Go type for a user.
std::string WantedType(const std::string& type) {
  if (type == "string") return "a string";
  if (type == "bool") return "true or false";
  if (type.starts_with("int") || type.starts_with("uint")) return "an integer";
  if (type.starts_with("[]")) return "a list";
  return "an object";
}

// Returns the cause for a message such as "… cannot be handled as a Deployment: json: cannot unmarshal string into Go
// struct field ContainerPort.spec.template.spec.containers.ports.containerPort of type int32". The path in this message
// has no indices.
Cause UndecodableCause(const std::string& message, WorkloadKind kind) {
  const std::string found = Between(message, "cannot unmarshal ", " into Go struct field ");
  const std::string field = Between(message, " into Go struct field ", " of type ");
  const std::size_t dot = field.find('.');
  if (found.empty() || dot == std::string::npos) {
    return {TemplatePath(kind), "FieldValueTypeInvalid", "Invalid value: " + message.substr(message.find(": ") + 2)};
  }
  const std::string type = message.substr(message.rfind(" of type ") + std::string_view(" of type ").size());
  return {DaemonPath(kind, field.substr(dot + 1)), "FieldValueTypeInvalid",
          "Invalid value: \"" + found + "\": must be " + WantedType(type)};
}

bool CannotBeDecoded(const Error& error) {
  return error.http_status == 400 && error.message.find(" cannot be handled as a ") != std::string::npos &&
         error.message.find(": ") != std::string::npos;
}

std::vector<Cause> CausesOf(const Error& error, WorkloadKind kind) {
  std::vector<Cause> causes;
  if (CannotBeDecoded(error)) return {UndecodableCause(error.message, kind)};
  for (const Cause& cause : error.causes) {
    causes.push_back(
        {DaemonPath(kind, cause.field), cause.reason.empty() ? "FieldValueInvalid" : cause.reason, cause.message});
  }
  if (causes.empty()) causes.push_back({TemplatePath(kind), "FieldValueInvalid", WithoutSubject(error.message)});
  return causes;
}

// Returns the causes of a workload that can't be rendered. The causes of its error already have paths in the
// YurtAppDaemon.
std::vector<Cause> RenderCauses(const Error& error, WorkloadKind kind) {
  if (!error.causes.empty()) return error.causes;
  return {{TemplatePath(kind), "FieldValueInvalid", error.message}};
}

// Converts the message of a Warning header to a warning about the YurtAppDaemon; "" if the user can't fix the cause.
std::string DaemonWarning(WorkloadKind kind, const std::string& text) {
  constexpr std::string_view kUnknown = "unknown field \"";
  if (text.starts_with(kUnknown) && text.ends_with('"')) {
    const std::string field = text.substr(kUnknown.size(), text.size() - kUnknown.size() - 1);
    return DaemonPath(kind, field) + ": unknown field: this version of Kubernetes drops it";
  }
  if (text.starts_with("metadata.name")) return "";  // The operator chooses the name.
  const std::string first = text.substr(0, text.find(':'));
  const bool names_field = IsAtOrBelow(first, "spec") || IsAtOrBelow(first, "metadata");
  return names_field ? DaemonPath(kind, first) + text.substr(first.size()) : TemplatePath(kind) + ": " + text;
}

// Returns a digest of a merged workload. The digest does not depend on the name of the revision.
std::string MergedDigest(Json workload) {
  Json& metadata = workload["metadata"];
  for (const char* key : {"generation", "ownerReferences"}) metadata.erase(key);
  metadata["labels"].erase(kRevisionLabel);
  metadata["annotations"].erase(kRenderedFromAnnotation);
  return AcceptanceCache::Digest("PUT " + DumpJson(workload));
}

// Returns a digest of the inputs of NewWorkload, so that the cache can be searched before the workload is rendered. The
// digest omits inputs that do not change the workload's spec, such as overrides of other pools.
std::string NewDigest(const YurtAppDaemon& daemon, const PoolPlan& plan) {
  const RevisionContent& content = plan.to.revision->content;
  const RenderInputs& inputs = plan.to.inputs;
  // Each part is encoded with its length, so that different inputs never result in the same string.
  std::string text = "POST ";
  AppendCborKey(TypeOf(daemon.kind).kind, text);
  AppendCborKey(daemon.meta.key.ns, text);
  AppendCborKey(plan.pool, text);
  AppendCbor(content.workload_template, text);
  AppendCborObject(inputs.tolerations.size(), text);
  for (const Taint& taint : inputs.tolerations) {
    AppendCborKey(taint.key, text);
    AppendCborKey(taint.effect, text);
  }
  for (const int index : inputs.overrides) {
    Json entry = content.overrides[static_cast<std::size_t>(index)];
    for (const char* key : {"pools", "nodepoolSelector"}) entry.erase(key);
    AppendCbor(entry, text);
  }
  // The spec of a StatefulSet contains the name of its Service, which is derived from the workload's name. So the
  // workload's name is part of the digest.
  if (daemon.kind == WorkloadKind::kStatefulSet && content.service_template.is_object())
    AppendCborKey(WorkloadName(daemon.meta.key.name, daemon.meta.uid, plan.pool, daemon.kind), text);
  return AcceptanceCache::Digest(text);
}

// Describes the pool and the overrides of a RenderedWorkload, for messages; "" if no override applies.
std::string Where(const RenderedWorkload& rendered) {
  const std::vector<int>& overrides = rendered.plan.to.inputs.overrides;
  if (overrides.empty()) return "";
  std::string text;
  for (const int index : overrides) {
    text += (text.empty() ? "spec.overrides[" : ", [") + std::to_string(index) + "]";
    if (text.size() > 80) return text + ", …";
  }
  return rendered.pool.object == nullptr ? text : "NodePool " + rendered.plan.pool + " by " + text;
}

void CountDryRun(const char* result) {
  metrics::GetCounter(
      "yurtappdaemon_admission_dry_runs_total",
      "Dry runs of workloads on the apiserver, by result; cached: an equal workload was accepted recently.",
      {{"result", result}})
      .Increment();
}

// Returns true if `causes` contains this error, perhaps at another index of a list.
bool Contains(const std::vector<Cause>& causes, const Cause& cause) {
  return std::any_of(causes.begin(), causes.end(), [&](const Cause& other) {
    return WithoutIndices(other.field) == WithoutIndices(cause.field) && other.reason == cause.reason &&
           other.message == cause.message;
  });
}

// Adds the pools and overrides in which a rejection occurs (the results of Where) to its message.
void AddPlaces(const std::vector<std::string>& places, Cause& cause) {
  // "" stands for a workload without overrides. If the error also occurs there, the template causes it, so the message
  // does not contain pools or overrides.
  if (std::find(places.begin(), places.end(), "") != places.end()) return;
  if (cause.field.starts_with("spec.overrides[")) return;
  cause.message += " (in " + places.front();
  if (places.size() > 1) cause.message += " and " + std::to_string(places.size() - 1) + " more";
  cause.message += ")";
}

// Returns whether the workload with this result has the error `cause`. Also returns true if the result is incomplete,
// and the workload may have the error.
bool MayHave(const TrialResult& result, const Cause& cause) {
  if (result.known == TrialResult::Known::kNothing) return true;
  const bool by_server = !cause.field.starts_with("spec.overrides[");
  return (by_server && result.known == TrialResult::Known::kOverrides) || Contains(result.causes, cause);
}

}  // namespace

DryRun::DryRun(Client& client, const AdmissionStores& stores, Clock& clock, ByteBudget& text)
    : client_(client), stores_(stores), text_(text), accepted_(clock) {}

TrialResult DryRun::Send(const YurtAppDaemon& daemon, const PoolPlan& plan, const Json& workload,
                         const std::string& digest, std::stop_token stop) {
  TrialResult result;
  const WriteOptions options{.dry_run = true, .warnings = &result.warnings};
  const ResourceType& type = TypeOf(daemon.kind);
  const auto done =
      plan.workload ? client_.Update(type, workload, options, stop) : client_.Create(type, workload, options, stop);
  for (std::string& warning : result.warnings) warning = DaemonWarning(daemon.kind, warning);
  std::erase(result.warnings, "");
  if (done) {
    CountDryRun("accepted");
    accepted_.Put(digest, result.warnings);
  } else if (done.error().http_status == 422 || CannotBeDecoded(done.error())) {
    CountDryRun("refused");
    result.causes = CausesOf(done.error(), daemon.kind);
  } else if (done.error().http_status == 403 || IsDenialOfWebhook(done.error())) {
    CountDryRun("forbidden");
    // A webhook is called before the validation, so its denial does not show whether the fields are valid.
    if (IsDenialOfWebhook(done.error())) result.known = TrialResult::Known::kOverrides;
    result.warnings.push_back(TemplatePath(daemon.kind) +
                              ": the cluster forbids this workload now: " + WithoutSubject(done.error().message));
  } else {
    CountDryRun("unknown");
    result.known = TrialResult::Known::kOverrides;
    log::Debug("A dry run has no result",
               {{"yurtappdaemon", daemon.meta.key.ToString()}, {"pool", plan.pool}, {"error", done.error()}});
  }
  return result;
}

std::optional<TrialResult> DryRun::TryOne(const YurtAppDaemon& daemon, const RenderedWorkload& rendered,
                                          const PoolPlan& plan, Deadline& deadline, bool may_send) {
  // The reserved part of the memory budget. It is reserved before the workload is rendered or merged. For a new
  // workload, it is reserved after the lookup in the cache, so that the lookup never waits for other reviews.
  std::optional<ByteBudget::Lease> text;
  const auto take_text = [&] {
    std::size_t size = RenderedBytes(plan.to.revision->content);
    if (plan.workload) size += plan.workload->object->unpacked_bytes();
    if (rendered.origin != nullptr) size += rendered.origin->unpacked_bytes();
    text.emplace(text_.Take(size, deadline.Token()));
    return !deadline.Passed();
  };
  Result<Json> workload = Json();
  if (plan.workload) {
    if (!take_text()) return TrialResult{{}, {}, TrialResult::Known::kNothing};
    PoolPlan merge = plan;
    if (rendered.origin != nullptr) merge.from = OriginOf(rendered);
    workload = MergedWorkload(daemon, merge, plan.workload->object->Parse());
    if (!workload) return TrialResult{RenderCauses(workload.error(), daemon.kind), {}};
    (*workload)["metadata"].erase("resourceVersion");  // Frequent writes of the status would cause conflicts.
    workload->erase("status");
  }
  const std::string digest = plan.workload ? MergedDigest(*workload) : NewDigest(daemon, plan);
  if (auto warnings = accepted_.Find(digest)) {
    CountDryRun("cached");
    return TrialResult{{}, *std::move(warnings)};
  }
  if (!may_send) return std::nullopt;
  if (!plan.workload) {
    if (!take_text()) return TrialResult{{}, {}, TrialResult::Known::kNothing};
    workload = NewWorkload(daemon, plan);
    if (!workload) return TrialResult{RenderCauses(workload.error(), daemon.kind), {}};
  }
  text->ShrinkTo(MeasureJson(*workload).text);  // Other reviews may use the rest while the request runs.
  return Send(daemon, plan, *workload, digest, deadline.Token());
}

Findings DryRun::Try(const YurtAppDaemon& daemon, const YurtAppDaemon* before, Deadline& deadline) {
  const std::vector<RenderedWorkload> workloads =
      DistinctWorkloads(daemon, before, stores_, kMaxWorkloads, [&] { return deadline.Passed(); });
  if (workloads.empty() || workloads.front().plan.to.revision->content.digest.size() > kMaxRenderedText) return {};

  struct TwoResults {
    TrialResult now;
    TrialResult then;  // the result for the spec of `before`; set only if `now` has causes
  };
  std::vector<TwoResults> results(workloads.size());
  const auto try_one = [&](std::size_t i, bool may_send) {
    auto now = TryOne(daemon, workloads[i], workloads[i].plan, deadline, may_send);
    if (!now) return false;
    results[i].now = *std::move(now);
    if (results[i].now.causes.empty() || before == nullptr) return true;
    results[i].then.known = TrialResult::Known::kNothing;  // until there is a result
    auto then = TryOne(daemon, workloads[i], workloads[i].before, deadline, may_send);
    if (!then) return false;
    results[i].then = *std::move(then);
    if (workloads[i].unknown_origin) {
      results[i].then.known = std::min(results[i].then.known, TrialResult::Known::kOverrides);
    }
    return true;
  };
  // This thread handles the workloads up to the first that needs a request. If no workload needs a request, other
  // threads are not started.
  std::size_t done = 0;
  while (done < workloads.size() && !deadline.Passed() && try_one(done, false)) ++done;
  ParallelFor(workloads.size() - done, kParallel, [&](std::size_t i) {
    if (!deadline.Passed()) try_one(done + i, true);
  });

  // An error in the template occurs in every workload, but is reported once.
  Findings findings;
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<std::string>> places;  // of each rejection
  const auto place_of = [&](const Cause& cause) -> auto& { return places[{cause.field, cause.reason, cause.message}]; };
  const auto warn = [&list = findings.warnings](const std::string& text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
  };
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (const std::string& warning : results[i].now.warnings) warn(warning);
    for (const Cause& cause : results[i].now.causes) {
      if (MayHave(results[i].then, cause)) {
        warn(cause.field + ": " + cause.message);
        continue;
      }
      if (place_of(cause).empty()) findings.rejections.push_back(cause);
      place_of(cause).push_back(Where(workloads[i]));
    }
  }
  for (Cause& cause : findings.rejections) AddPlaces(place_of(cause), cause);
  return findings;
}

}  // namespace yad
