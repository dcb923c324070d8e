#include "operator/workload/revision.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "operator/api/well_known.h"
#include "operator/base/join.h"
#include "operator/workload/owner.h"
#include "operator/workload/safe_encode.h"
#include "operator/workload/semantics.h"

namespace yad {
namespace {

constexpr std::size_t kMaxName = 253;

// Removes members of the entries of spec.overrides that are null. Nulls that are nested deeper stay, because they have
// a meaning: in `patch`, a null removes a member, and in jsonPatches it is a value.
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

std::string CanonicalText(const RevisionContent& content, Defaults defaults) {
  Json canonical = Json::object();
  canonical[TemplateField(content.kind)] = Canonical(WorkloadSchema(), content.workload_template, defaults);
  // Omits a missing Service template and missing overrides. Older versions of the operator do not have these fields. If
  // they were not omitted, an upgrade would change the hash of the same content.
  if (!content.service_template.is_null()) {
    canonical["serviceTemplate"] = Canonical(ServiceSchema(), content.service_template, defaults);
  }
  if (!content.overrides.empty()) canonical["overrides"] = content.overrides;
  return DumpJson(canonical);
}

// Returns whether OpenYurt wrote the revision. OpenYurt encodes Go structs, which have a null creationTimestamp.
// Revisions of this operator do not contain nulls.
bool IsOfOpenYurt(const Json& workload_template) {
  const auto is_null = [](const Json* value) { return value != nullptr && value->is_null(); };
  return is_null(Find(workload_template, {"metadata", "creationTimestamp"})) ||
         is_null(Find(workload_template, {"spec", "template", "metadata", "creationTimestamp"}));
}

// Calls visit(key, container) for each container of the pod template. `Workload` is Json or const Json.
template <typename Workload, typename Visit>
void ForEachContainer(Workload& workload, Visit visit) {
  if (Find(workload, {"spec", "template", "spec"}) == nullptr) return;
  auto& pod = workload.at("spec").at("template").at("spec");
  for (const char* list : {"initContainers", "containers"}) {
    if (!MemberOf(pod, list).is_array()) continue;
    for (auto& container : pod.at(list)) {
      if (container.is_object()) visit(std::string(list) + "/" + StringAt(container, {"name"}), container);
    }
  }
}

RevisionContent Content(WorkloadKind kind, const Json& workload_template, const Json& service_template,
                        const Json& overrides) {
  RevisionContent content;
  content.kind = kind;
  content.workload_template = WithoutNulls(workload_template);
  content.service_template = WithoutNulls(service_template);
  content.overrides = CleanOverrides(overrides);
  content.override_index = OverrideIndex(content.overrides);
  content.digest = CanonicalText(content, Defaults::kDropped);
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
    if (!workload_template.is_object()) continue;
    auto content = Content(kind, workload_template, MemberOf(*spec, "serviceTemplate"), MemberOf(*spec, "overrides"));
    content.of_openyurt = IsOfOpenYurt(workload_template);
    return content;
  }
  return Fail(Reason::kDecode, "ControllerRevision " + name + ": data.spec.workloadTemplate has no template");
}

bool SameContent(const RevisionContent& wanted, const RevisionContent& revision) {
  if (wanted.kind != revision.kind) return false;
  if (wanted.digest == revision.digest) return true;
  return revision.of_openyurt && WithPullPoliciesOf(revision, wanted).digest == revision.digest;
}

PullPolicies PullPoliciesOf(const Json& workload) {
  PullPolicies policies;
  ForEachContainer(workload, [&](const std::string& key, const Json& container) {
    policies[key] = StringAt(container, {"imagePullPolicy"});
  });
  return policies;
}

bool KeepPullPolicies(const PullPolicies& policies, Json& workload) {
  bool changed = false;
  ForEachContainer(workload, [&](const std::string& key, Json& container) {
    const auto known = policies.find(key);
    if (known == policies.end() || known->second.empty()) return;
    const std::string own = StringAt(container, {"imagePullPolicy"});
    if (own == known->second || (!own.empty() && known->second != "Always")) return;
    container["imagePullPolicy"] = known->second;
    changed = true;
  });
  return changed;
}

RevisionContent WithPullPoliciesOf(const RevisionContent& revision, RevisionContent wanted) {
  if (!revision.of_openyurt) return wanted;
  if (KeepPullPolicies(PullPoliciesOf(revision.workload_template), wanted.workload_template)) {
    wanted.digest = CanonicalText(wanted, Defaults::kDropped);
  }
  wanted.of_openyurt = true;
  return wanted;
}

std::string DigestWithoutPullPolicies(const RevisionContent& content) {
  RevisionContent without = content;
  ForEachContainer(without.workload_template,
                   [](const std::string&, Json& container) { container.erase("imagePullPolicy"); });
  return CanonicalText(without, Defaults::kDropped);
}

std::string ImagesOf(const RevisionContent& content) {
  std::vector<std::string> images;
  const auto add_all = [&](const Json& list) {
    for (const Json& entry : list) {
      std::string image = StringAt(entry, {"image"});
      if (!image.empty() && std::find(images.begin(), images.end(), image) == images.end())
        images.push_back(std::move(image));
    }
  };
  add_all(ListAt(content.workload_template, {"spec", "template", "spec", "containers"}));
  for (const Json& entry : content.overrides) add_all(ListAt(entry, {"images"}));
  return Join(images, ",");
}

std::size_t RenderedBytes(const RevisionContent& content) {
  if (content.override_index.copies()) return kMaxRenderedText;
  // A variable of 12 bytes may become a name of 63 bytes.
  const bool has_variables = content.digest.find("{{nodepool") != std::string::npos;
  return std::min((has_variables ? 6 : 1) * content.digest.size(), kMaxRenderedText);
}

std::string RevisionHash(const RevisionContent& content, std::int64_t collision_count) {
  std::uint32_t hash = Fnv1a32(CanonicalText(content, Defaults::kKept));
  if (collision_count != 0) hash = Fnv1a32("/" + std::to_string(collision_count), hash);
  std::string text = std::to_string(hash);
  for (char& c : text) c = kSafeAlphabet[static_cast<unsigned char>(c) % kSafeAlphabet.size()];
  return text;
}

std::string RevisionName(const std::string& daemon_name, const std::string& hash) {
  return Truncated(daemon_name, kMaxName - 1 - hash.size()) + "-" + hash;
}

Json MakeControllerRevision(const YurtAppDaemon& daemon, const RevisionContent& content, const std::string& hash,
                            std::int64_t revision) {
  Json object = OwnedObject(kControllerRevisionType, RevisionName(daemon.meta.key.name, hash), daemon);
  object["metadata"]["labels"] = {{kOurRevisionLabel, "true"}, {kHashLabel, hash}};
  if (const std::string& cause = daemon.meta.Annotation(kChangeCauseAnnotation); !cause.empty()) {
    object["metadata"]["annotations"][kChangeCauseAnnotation] = cause;
  }
  Json& spec = object["data"]["spec"];
  spec["workloadTemplate"] = {{"$patch", "replace"}, {TemplateField(content.kind), content.workload_template}};
  if (!content.service_template.is_null()) spec["serviceTemplate"] = content.service_template;
  if (!content.overrides.empty()) spec["overrides"] = content.overrides;
  object["revision"] = revision;
  return object;
}

}  // namespace yad
