#include "webhook/admission/validating.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "operator/api/yurtappdaemon.h"
#include "operator/workload/semantics.h"
#include "webhook/admission/defaulting.h"
#include "webhook/admission/known_errors.h"
#include "webhook/admission/template_errors.h"
#include "webhook/admission/trials.h"
#include "webhook/admission/warnings.h"

namespace yad {
namespace {

// Compares without recursion, because the values may be nested too deeply for a recursive comparison.
bool SameAtAnyDepth(const Json& a, const Json& b) {
  std::vector<std::pair<const Json*, const Json*>> open{{&a, &b}};
  while (!open.empty()) {
    const auto [left, right] = open.back();
    open.pop_back();
    if (left->type() != right->type() && !(left->is_number() && right->is_number())) return false;
    if (!left->is_structured()) {
      if (*left != *right) return false;
      continue;
    }
    if (left->size() != right->size()) return false;
    for (auto l = left->begin(), r = right->begin(); l != left->end(); ++l, ++r) {
      if (left->is_object() && l.key() != r.key()) return false;
      open.emplace_back(&*l, &*r);
    }
  }
  return true;
}

const Json& SpecOf(const Json& object) { return MemberOf(object, "spec"); }

// Returns the spec with defaults, for a comparison.
Json Comparable(const Json& object) {
  Json defaulted = Json::object();  // copies the spec only once, because it may be several megabytes
  Json& spec = defaulted["spec"] = SpecOf(object);
  defaulted.patch_inplace(DefaultYurtAppDaemon(defaulted).patch);
  if (!spec.is_object()) return std::move(spec);
  for (const char* owner :
       {"/workloadTemplate/deploymentTemplate", "/workloadTemplate/statefulSetTemplate", "/serviceTemplate"}) {
    const Json::json_pointer at(owner);
    if (spec.contains(at)) ReplaceNullTexts(spec[at]);
  }
  // The nulls in overrides stay, because a null in a patch removes a field.
  Json overrides = std::exchange(spec["overrides"], nullptr);
  spec = WithoutNulls(std::move(spec));
  spec["overrides"] = std::move(overrides);
  // {} and [] mean the same as an absent field, except for nodepoolSelector, where {} selects all pools.
  for (auto it = spec.begin(); it != spec.end();) {
    const bool nothing = it->is_null() || (it->is_structured() && it->empty() && it.key() != "nodepoolSelector");
    it = nothing ? spec.erase(it) : std::next(it);
  }
  return std::move(spec);
}

bool SameTemplate(const Json& a, const Json& b) {
  return a.is_object() && b.is_object() ? SameObject(WorkloadSchema(), a, b) : a == b;
}

// Adds an error for each check that can never pass. The operator accepts these checks, because stored objects may have
// them.
void AddEndlessChecks(const Json& object, FieldErrors& errors) {
  const Json& checks = ListAt(object, {"spec", "updateStrategy", "rollingUpdate", "checks"});
  for (std::size_t i = 0; i < checks.size() && !errors.full(); ++i) {
    const std::string type = StringAt(checks[i], {"condition", "type"});
    if (!IsConditionOfControllers(type)) continue;
    errors.Add(FieldError::Invalid("spec.updateStrategy.rollingUpdate.checks[" + std::to_string(i) + "].condition.type",
                                   type,
                                   "would never pass, because the operator ignores the conditions of Kubernetes' "
                                   "controllers; use a condition that "
                                   "another client sets, such as example.org/Tested"));
  }
}

// Parses only the workload template and the selector. If other fields have errors, the template can still be tried, so
// that all errors are reported together.
Result<YurtAppDaemon> ParseTemplate(const Json& object) {
  const Json& spec = SpecOf(object);
  Json rest = Json::object();
  rest["metadata"] = MemberOf(object, "metadata");
  Json& rest_of_spec = rest["spec"];
  rest_of_spec["selector"] = MemberOf(spec, "selector");
  rest_of_spec["workloadTemplate"] = MemberOf(spec, "workloadTemplate");
  rest_of_spec["nodepoolSelector"] = Json::object();
  return ParseYurtAppDaemonWithoutStatus(rest);
}

// An object after the static checks.
struct Checked {
  FieldErrors errors;
  bool parses = false;  // false: `errors` contains the reason
  // If the object does not parse, only the part that a dry run needs: the workload template and the selector. nullopt
  // if this part has errors too.
  std::optional<YurtAppDaemon> daemon;
};

Checked CheckSpec(const AdmissionRequest& request, const Json& object) {
  Checked checked;
  YurtAppDaemon read = ReadYurtAppDaemon(object, checked.errors);
  checked.parses = checked.errors.empty();
  checked.errors.Append(TemplateErrors(object));
  AddEndlessChecks(object, checked.errors);
  if (checked.parses) {
    if (const Json& status = MemberOf(object, "status"); !IsDeeperThan(status, kMaxJsonDepth)) read.status = status;
    checked.daemon = std::move(read);
  } else if (!IsDeeperThan(SpecOf(object), kMaxJsonDepth)) {
    if (auto part = ParseTemplate(object)) checked.daemon = *std::move(part);
  }
  if (!checked.daemon) return checked;
  ObjectMeta& meta = checked.daemon->meta;
  if (!request.key.ns.empty()) meta.key.ns = request.key.ns;
  // A new object has no uid yet, and perhaps no name (generateName), because the server sets them later. The dry run
  // needs values, because a workload's ownerReference must have a uid.
  if (meta.key.name.empty()) meta.key.name = "new";
  if (meta.uid.empty()) meta.uid = "00000000-0000-0000-0000-000000000000";
  return checked;
}

// Returns whether a static check has already reported the error `cause`. `reported` contains the errors that static
// checks found: first `fresh` errors, which are rejections, and then the known errors, which are only warnings.
bool IsReported(const Cause& cause, const std::vector<Cause>& reported, std::size_t fresh) {
  constexpr char kTypeInvalid[] = "FieldValueTypeInvalid";
  for (std::size_t i = 0; i < reported.size(); ++i) {
    const Cause& other = reported[i];
    if (other.field == cause.field) return true;
    // If the apiserver can't decode a value, the path in its error lacks the indices of lists, so it can't be compared.
    // The error then counts as reported if the workload template has a fresh error, or a known error of this kind.
    const bool may_be_same = i < fresh || other.reason == kTypeInvalid;
    if (cause.reason == kTypeInvalid && may_be_same && other.field.starts_with("spec.workloadTemplate.")) return true;
  }
  return false;
}

// Returns whether a static check has reported errors of the serviceTemplate, which the apiserver would only repeat.
bool IsReportedForServices(const std::vector<Cause>& reported) {
  return std::any_of(reported.begin(), reported.end(),
                     [](const Cause& cause) { return cause.field.starts_with("spec.serviceTemplate"); });
}

void Append(Findings more, Findings& findings) {
  std::move(more.rejections.begin(), more.rejections.end(), std::back_inserter(findings.rejections));
  std::move(more.warnings.begin(), more.warnings.end(), std::back_inserter(findings.warnings));
}

// Allows an update that does not change the spec. Warns if the update sets a removal token or an approval that has no
// effect, or if its manifest had a null that is lost.
AdmissionResponse AllowSameSpec(const AdmissionRequest& request) {
  AdmissionResponse response = AdmissionResponse::Allowed();
  for (std::string warning :
       {RemovalTokenWarning(request.object, request.old_object), ApprovalWarning(request.object, request.old_object),
        DroppedNullWarning(request.object, request.old_object)}) {
    if (!warning.empty()) response.warnings.push_back(std::move(warning));
  }
  return response;
}

}  // namespace

bool SameSpec(const Json& object, const Json& old_object) {
  const Json& spec = SpecOf(object);
  const Json& old_spec = SpecOf(old_object);
  if (IsDeeperThan(spec, kMaxJsonDepth) || IsDeeperThan(old_spec, kMaxJsonDepth)) return SameAtAnyDepth(spec, old_spec);
  if (spec == old_spec) return true;
  Json now = Comparable(object);
  Json before = Comparable(old_object);
  // The workload templates are compared by the schema of workloads, and the rest of the specs literally.
  for (const WorkloadKind kind : {WorkloadKind::kDeployment, WorkloadKind::kStatefulSet}) {
    const Json::json_pointer at = Json::json_pointer("/workloadTemplate") / TemplateField(kind);
    if (!now.contains(at) || !before.contains(at)) continue;
    if (!SameTemplate(now[at], before[at])) return false;
    now[at] = before[at] = nullptr;
  }
  return now == before;
}

AdmissionResponse Validator::Validate(const AdmissionRequest& request, Deadline& deadline) {
  const Json& object = request.object;
  if (!StringAt(object, {"metadata", "deletionTimestamp"}).empty()) return AdmissionResponse::Allowed();
  const bool update = request.old_object.is_object();
  if (update && SameSpec(object, request.old_object)) return AllowSameSpec(request);

  const Checked checked = CheckSpec(request, object);
  const Checked old_checked = update ? CheckSpec(request, request.old_object) : Checked();
  SortedErrors errors = SortErrors(checked.errors, old_checked.errors);
  if (update && !IsDeeperThan(SpecOf(object), kMaxJsonDepth)) {
    errors.fresh.Append(ValidateYurtAppDaemonUpdate(object, request.old_object));
  }
  std::vector<Cause> rejections = ToCauses(errors.fresh);
  std::vector<Cause> reported = rejections;
  std::vector<std::string> warnings;
  for (const FieldError& error : errors.known) {
    warnings.push_back(error.ToString());
    reported.push_back(error.ToCause());
  }
  if (const auto& daemon = checked.daemon) {
    const YurtAppDaemon* const old = old_checked.daemon ? &*old_checked.daemon : nullptr;
    Findings findings = dry_run_.Try(*daemon, old, deadline);
    if (!IsReportedForServices(reported)) Append(TryService(*daemon, old, client_, stores_, deadline, text_), findings);
    if (checked.parses && rejections.empty())
      Append(TryChecks(*daemon, old, client_, check_query_, deadline), findings);
    if (reported.empty()) {
      warnings = WarningsFor(*daemon, old, stores_);
      for (std::string& warning : ServiceTemplateWarnings(*daemon, old)) warnings.push_back(std::move(warning));
      for (std::string warning :
           {ServiceWarning(*daemon, client_, deadline), ApprovalWarning(object, request.old_object),
            DroppedNullWarning(object, request.old_object),
            update ? RemovalTokenWarning(object, request.old_object) : ""}) {
        if (!warning.empty()) warnings.push_back(std::move(warning));
      }
    }
    for (Cause& cause : findings.rejections) {
      if (!IsReported(cause, reported, errors.fresh.size())) rejections.push_back(std::move(cause));
    }
    for (std::string& warning : findings.warnings) {
      if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end())
        warnings.push_back(std::move(warning));
    }
  }
  AdmissionResponse response;
  if (!rejections.empty()) {
    response = AdmissionResponse::Invalid(request, rejections);
  } else if (!errors.known.empty() && !checked.parses) {
    warnings.push_back(
        "spec: the stored spec has these errors already; the operator does not reconcile the YurtAppDaemon until they "
        "are fixed");
  }
  response.warnings = std::move(warnings);
  return response;
}

}  // namespace yad
