#include "operator/workload/revision.h"

#include "operator/api/well_known.h"
#include "operator/workload/owner.h"
#include "operator/workload/safe_encode.h"
#include "operator/workload/semantics.h"

namespace yad {
namespace {

constexpr std::size_t kMaxName = 253;
// A person's words for a change. The ControllerRevisions of a DaemonSet have it too; `history` shows it.
constexpr char kChangeCause[] = "kubernetes.io/change-cause";

// In `patch` a null takes away, and an empty value in jsonPatches is a value: only the entries themselves lose their
// nulls.
Json CleanOverrides(const Json& overrides) {
  Json result = Json::array();
  if (!overrides.is_array()) return result;
  for (const Json& entry : overrides) {
    Json& kept = result.emplace_back(entry);
    if (!kept.is_object()) continue;
    for (auto it = kept.begin(); it != kept.end();) it = it->is_null() ? kept.erase(it) : std::next(it);
  }
  return result;
}

RevisionContent Content(WorkloadKind kind, const Json& workload_template, const Json& service_template,
                        const Json& overrides) {
  RevisionContent content;
  content.kind = kind;
  content.workload_template = WithoutNulls(workload_template);
  content.service_template = WithoutNulls(service_template);
  content.overrides = CleanOverrides(overrides);
  content.override_index = OverrideIndex(content.overrides);
  Json canonical = Json::object();
  canonical[TemplateField(kind)] = Canonical(WorkloadSchema(), content.workload_template);
  // What is not there leaves no trace: a revision of an older version of this operator stays the same revision.
  if (!content.service_template.is_null()) {
    canonical["serviceTemplate"] = Canonical(ServiceSchema(), content.service_template);
  }
  if (!content.overrides.empty()) canonical["overrides"] = content.overrides;
  content.digest = canonical.dump(-1, ' ', false, Json::error_handler_t::replace);
  return content;
}

}  // namespace

RevisionContent ContentOf(const YurtAppDaemon& daemon) {
  return Content(daemon.kind, daemon.workload_template, daemon.service_template, daemon.overrides);
}

Result<RevisionContent> ContentOf(const Json& controller_revision) {
  const std::string name = StringAt(controller_revision, {"metadata", "name"});
  const Json* spec = Find(controller_revision, {"data", "spec"});
  if (spec == nullptr) return Fail(Reason::kDecode, "ControllerRevision " + name + ": data.spec is missing");
  const Json& choice = MemberOf(*spec, "workloadTemplate");
  for (const WorkloadKind kind : {WorkloadKind::kDeployment, WorkloadKind::kStatefulSet}) {
    const Json& workload_template = MemberOf(choice, TemplateField(kind));
    if (workload_template.is_object())
      return Content(kind, workload_template, MemberOf(*spec, "serviceTemplate"), MemberOf(*spec, "overrides"));
  }
  return Fail(Reason::kDecode, "ControllerRevision " + name + ": data.spec.workloadTemplate holds no template");
}

std::string RevisionHash(const RevisionContent& content, std::int64_t collision_count) {
  std::uint32_t hash = Fnv1a32(content.digest);
  if (collision_count != 0) hash = Fnv1a32("/" + std::to_string(collision_count), hash);
  std::string text = std::to_string(hash);
  for (char& c : text) c = kSafeAlphabet[static_cast<unsigned char>(c) % kSafeAlphabet.size()];
  return text;
}

std::string RevisionName(const std::string& daemon_name, const std::string& hash) {
  std::string prefix = daemon_name.substr(0, kMaxName - 1 - hash.size());
  while (!prefix.empty() && (prefix.back() == '.' || prefix.back() == '-')) prefix.pop_back();
  return prefix + "-" + hash;
}

Json MakeControllerRevision(const YurtAppDaemon& daemon, const RevisionContent& content, const std::string& hash,
                            std::int64_t revision) {
  Json spec = {{"workloadTemplate", {{"$patch", "replace"}, {TemplateField(content.kind), content.workload_template}}}};
  if (!content.service_template.is_null()) spec["serviceTemplate"] = content.service_template;
  if (!content.overrides.empty()) spec["overrides"] = content.overrides;
  Json metadata = {{"name", RevisionName(daemon.meta.key.name, hash)},
                   {"namespace", daemon.meta.key.ns},
                   {"labels", {{kOurRevisionLabel, "true"}, {kHashLabel, hash}}},
                   {"ownerReferences", Json::array({ControllerReference(daemon)})}};
  if (const std::string& cause = daemon.meta.Annotation(kChangeCause); !cause.empty()) {
    metadata["annotations"][kChangeCause] = cause;
  }
  return {{"apiVersion", kControllerRevisionType.ApiVersion()},
          {"kind", kControllerRevisionType.kind},
          {"metadata", std::move(metadata)},
          {"data", {{"spec", std::move(spec)}}},
          {"revision", revision}};
}

}  // namespace yad
