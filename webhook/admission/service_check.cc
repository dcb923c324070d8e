#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/client/status_error.h"
#include "operator/workload/service.h"
#include "operator/yurtappdaemon/observe/ownership.h"
#include "operator/yurtappdaemon/observe/snapshot.h"
#include "webhook/admission/rendered_workloads.h"
#include "webhook/admission/trials.h"
#include "webhook/admission/warning_list.h"

namespace yad {
namespace {

constexpr char kPath[] = "spec.serviceTemplate";

// Returns the content from which a Service is rendered.
RevisionContent ContentFor(const YurtAppDaemon& daemon) {
  RevisionContent content;
  content.workload_template["spec"]["selector"] = daemon.selector;
  content.service_template = daemon.service_template;
  return content;
}

// Returns the daemon's first workload by name; nullopt if the cache has no workload.
std::optional<WorkloadRef> OneWorkload(const YurtAppDaemon& daemon, const AdmissionStores& stores) {
  const auto workloads = ControlledObjects(stores.WorkloadsOf(daemon.kind), daemon.meta);
  if (!workloads) return std::nullopt;
  std::optional<WorkloadRef> first;
  for (const ObjectPtr& object : *workloads) {
    if (object->meta().deleting() || object->meta().key.ns != daemon.meta.key.ns) continue;
    if (!first || object->meta().key.name < first->object->meta().key.name) first = MakeWorkloadRef(object);
  }
  return first;
}

bool IsTaken(const std::string& message) { return message.find("already allocated") != std::string::npos; }

TrialResult ResultOf(const Error& error) {
  TrialResult result;
  const bool undecodable =
      error.http_status == 400 && error.message.find(" cannot be handled as a ") != std::string::npos;
  if (error.http_status == 403 || (error.http_status != 422 && IsDenialOfWebhook(error))) {
    // A webhook is called before the validation of the fields.
    if (IsDenialOfWebhook(error)) result.known = TrialResult::Known::kNothing;
    result.warnings.push_back(std::string(kPath) + ": the cluster forbids this Service now: " + error.message);
  } else if (undecodable || (error.http_status == 422 && error.causes.empty())) {
    result.causes.push_back({kPath, "FieldValueInvalid", "Invalid value: " + error.message});
  } else if (error.http_status == 422) {
    for (const Cause& cause : error.causes) {
      const std::string field = cause.field.empty() ? kPath : std::string(kPath) + "." + cause.field;
      if (IsTaken(cause.message)) {
        result.warnings.push_back(field + ": " + cause.message);
      } else {
        result.causes.push_back({field, cause.reason.empty() ? "FieldValueInvalid" : cause.reason, cause.message});
      }
    }
  } else {
    result.known = TrialResult::Known::kNothing;
  }
  return result;
}

class ServiceTrial {
 public:
  ServiceTrial(const YurtAppDaemon& daemon, Client& client, const AdmissionStores& stores, Deadline& deadline)
      : daemon_(daemon), client_(client), deadline_(deadline) {
    const auto workload = OneWorkload(daemon, stores);
    pool_ = workload ? workload->pool : kAnyPool;
    name_ = ServiceName(workload ? workload->object->meta().key.name
                                 : WorkloadName(daemon.meta.key.name, daemon_.meta.uid, pool_, daemon.kind));
    if (!workload) return;
    auto live = client_.Get(kServiceType, {daemon.meta.key.ns, name_}, deadline.Token());
    if (live && ControlledBy(ParseMeta(*live), daemon_.meta.uid)) live_ = *std::move(live);
  }

  TrialResult Of(const YurtAppDaemon& version) {
    if (deadline_.Passed()) return {{}, {}, TrialResult::Known::kNothing};
    TrialResult result;
    const WriteOptions options{.dry_run = true, .warnings = &result.warnings};
    const Json rendered = RenderService(ContentFor(version), pool_);
    Json service = live_.is_null() ? NewService(rendered, daemon_, name_) : MergeService(rendered, daemon_, live_);
    service["metadata"].erase("resourceVersion");
    const auto done = live_.is_null() ? client_.Create(kServiceType, service, options, deadline_.Token())
                                      : client_.Update(kServiceType, service, options, deadline_.Token());
    for (std::string& warning : result.warnings) warning = std::string(kPath) + ": " + warning;
    if (done) return result;
    return ResultOf(done.error());
  }

 private:
  const YurtAppDaemon& daemon_;
  Client& client_;
  Deadline& deadline_;
  std::string pool_, name_;
  Json live_;  // null: the Service does not exist
};

}  // namespace

Findings TryService(const YurtAppDaemon& wanted, const YurtAppDaemon* before, Client& client,
                    const AdmissionStores& stores, Deadline& deadline, ByteBudget& text) {
  Findings findings;
  if (!wanted.service_template.is_object() || deadline.Passed()) return findings;
  const bool had = before != nullptr && before->service_template.is_object();
  if (had && SameService(ContentFor(wanted), ContentFor(*before))) return findings;
  // The JSON of the Service is at most 12 times as long as its template. It contains the rendered fields twice (also in
  // an annotation), and a variable of 12 bytes may be replaced with a name of 63 bytes.
  const ByteBudget::Lease lease = text.Take(12 * MeasureJson(wanted.service_template).text, deadline.Token());
  ServiceTrial trial(wanted, client, stores, deadline);
  TrialResult now = trial.Of(wanted);
  findings.warnings = std::move(now.warnings);
  if (now.causes.empty()) return findings;
  const TrialResult then = had ? trial.Of(*before) : TrialResult();
  for (Cause& cause : now.causes) {
    const bool is_known = std::any_of(then.causes.begin(), then.causes.end(), [&](const Cause& other) {
      return other.field == cause.field && other.message == cause.message;
    });
    if (is_known || then.known == TrialResult::Known::kNothing) {
      findings.warnings.push_back(cause.field + ": " + cause.message);
    } else {
      findings.rejections.push_back(std::move(cause));
    }
  }
  return findings;
}

std::vector<std::string> ServiceTemplateWarnings(const YurtAppDaemon& wanted, const YurtAppDaemon* before) {
  std::vector<std::string> found;
  const bool names_none =
      wanted.kind == WorkloadKind::kStatefulSet && StringAt(wanted.workload_template, {"spec", "serviceName"}).empty();
  if (!wanted.service_template.is_object()) {
    if (names_none && before != nullptr && before->service_template.is_object()) {
      found.push_back(
          std::string(kPath) +
          ": without it, the pools' Services are deleted; existing StatefulSets still name these Services, so "
          "their pods lose their DNS names");
    }
    return found;
  }
  const Json* spec = Find(wanted.service_template, {"spec"});
  const std::string address = StringAt(*spec, {"clusterIP"});
  if (names_none && address != "None") {
    found.push_back(std::string(kPath) +
                    ".spec.clusterIP: is not None, so the StatefulSets' pods have no DNS names of their own");
  }
  Warnings warnings(found);
  constexpr char kOnlyOne[] =
      "every pool's Service requests this value, and only one Service can have it: remove the value";
  if (!address.empty() && address != "None") warnings.Add(std::string(kPath) + ".spec.clusterIP", kOnlyOne);
  const Json& ports = ListAt(*spec, {"ports"});
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (IntAt(ports[i], {"nodePort"}) == 0) continue;
    warnings.Add(std::string(kPath) + ".spec.ports[" + std::to_string(i) + "].nodePort", kOnlyOne);
  }
  return found;
}

}  // namespace yad
