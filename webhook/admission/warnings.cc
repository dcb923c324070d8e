#include "webhook/admission/warnings.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "operator/api/names.h"
#include "operator/api/well_known.h"
#include "operator/cluster/pool_projection.h"
#include "operator/json/json_document.h"
#include "operator/workload/merge.h"
#include "operator/yurtappdaemon/observe/daemon_projection.h"
#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/report/status.h"
#include "webhook/admission/warning_list.h"

namespace yad {
namespace {

// Returns the elements in the `pools` of an override that do not refer to an existing pool. "-x" and "x" refer to the
// same pool; "*" is not the name of a pool.
std::vector<std::string> UnknownInOverride(const Json& names, const std::set<std::string_view>& pools) {
  std::vector<std::string> unknown;
  if (!names.is_array()) return unknown;
  for (const Json& item : names) {
    if (!item.is_string()) continue;
    std::string name = item.get<std::string>();
    if (name.starts_with('-')) name.erase(0, 1);
    if (name != "*" && !pools.contains(name)) unknown.push_back(std::move(name));
  }
  return unknown;
}

void WarnOfSelection(const YurtAppDaemon& daemon, const std::vector<ObjectPtr>& pools, std::vector<std::string>& out) {
  if (!daemon.pools.selector) return;
  std::size_t by_label = 0;
  std::size_t by_type = 0;
  std::size_t selected = 0;
  for (const ObjectPtr& object : pools) {
    const NodePool& pool = PoolProjectionOf(object).pool;
    if (daemon.pools.Selects(pool)) ++selected;
    if (!daemon.pools.selector->Matches(pool.labels)) continue;
    ++by_label;
    if (daemon.pools.type.empty() || pool.type == daemon.pools.type) ++by_type;
  }
  if (by_label == 0) {
    out.push_back(pools.empty() ? "spec.nodepoolSelector: there is no NodePool yet; the operator creates workloads "
                                  "when NodePools are created"
                                : "spec.nodepoolSelector: matches no NodePool now; compare it with `kubectl get "
                                  "nodepools --show-labels`");
  } else if (by_type == 0) {
    out.push_back("spec.nodePools.type: none of the NodePools (" + std::to_string(by_label) +
                  ") that spec.nodepoolSelector matches now is of type " + daemon.pools.type);
  } else if (selected == 0) {
    out.push_back("spec.nodePools.exclude: excludes all NodePools (" + std::to_string(by_type) +
                  ") that spec.nodepoolSelector and spec.nodePools.type match now");
  }
}

void WarnOfUnknownPools(const YurtAppDaemon& daemon, const std::vector<ObjectPtr>& pools,
                        std::vector<std::string>& out) {
  if (daemon.pools.names.empty() && daemon.overrides.empty()) return;
  std::set<std::string_view> names;
  for (const ObjectPtr& object : pools) names.insert(PoolProjectionOf(object).pool.name);
  std::vector<std::string> missing, impossible;
  for (const std::string& name : daemon.pools.names) {
    if (!names.contains(name)) (CheckDns1123Subdomain(name).empty() ? missing : impossible).push_back(name);
  }
  if (!impossible.empty())
    out.push_back("spec.nodePools.names: no NodePool can have the name " + QuoteSome(impossible));
  if (!missing.empty()) {
    out.push_back("spec.nodePools.names: no NodePool is named " + QuoteSome(missing) +
                  "; the YurtAppDaemon selects a NodePool of that name as soon as it exists");
  }
  Warnings warnings(out);
  for (std::size_t i = 0; i < daemon.overrides.size(); ++i) {
    const Json* listed = Find(daemon.overrides[i], {"pools"});
    if (listed == nullptr) continue;
    if (const auto unknown = UnknownInOverride(*listed, names); !unknown.empty()) {
      warnings.Add(
          "spec.overrides[" + std::to_string(i) + "].pools",
          "no NodePool is named " + QuoteSome(unknown) + "; the entry applies to missing pools when they are created");
    }
  }
}

bool SamePools(const PoolSelection& a, const PoolSelection& b) {
  const auto text = [](const PoolSelection& pools) { return pools.selector ? pools.selector->ToString() : "<none>"; };
  return text(a) == text(b) && a.type == b.type && a.names == b.names && a.exclude == b.exclude;
}

// Warns of daemons whose selectors overlap in a pool. A PodDisruptionBudget, an HPA, an anti-affinity rule and `kubectl
// rollout` select pods only by labels. For them, a pod that matches both selectors belongs to both daemons.
void WarnOfOverlap(const YurtAppDaemon& daemon, const AdmissionStores& stores, const std::vector<ObjectPtr>& pools,
                   std::vector<std::string>& out) {
  auto daemons = stores.daemons.List();
  const auto selector = LabelSelector::Parse(daemon.selector, "spec.selector");
  if (!daemons || !selector) return;
  std::sort(daemons->begin(), daemons->end(),
            [](const ObjectPtr& a, const ObjectPtr& b) { return a->meta().key < b->meta().key; });
  const StringMap labels = StringMapAt(daemon.workload_template, {"spec", "template", "metadata", "labels"});
  Warnings warnings(out);
  for (const ObjectPtr& object : *daemons) {
    const ObjectMeta& meta = object->meta();
    if (meta.key.ns != daemon.meta.key.ns || meta.key.name == daemon.meta.key.name || meta.deleting()) continue;
    const auto& other = ProjectionOf<DaemonProjection>(object);
    if (!other.readable) continue;
    if (!selector->Matches(other.pod_labels) && !other.selector.Matches(labels)) continue;
    const NodePool* shared = nullptr;  // the first by name, so that each review reports the same pool
    for (const ObjectPtr& candidate : pools) {
      const NodePool& pool = PoolProjectionOf(candidate).pool;
      if (shared != nullptr && shared->name <= pool.name) continue;
      if (daemon.pools.Selects(pool) && other.pools.Selects(pool)) shared = &pool;
    }
    // Even if the daemons do not select a common pool now, they will overlap later if they select pools in the same
    // way.
    if (shared == nullptr && !SamePools(daemon.pools, other.pools)) continue;
    const std::string where = shared == nullptr ? "the same pools" : "NodePool \"" + shared->name + "\" too";
    warnings.Add("spec.selector",
                 "overlaps with the selector of YurtAppDaemon \"" + meta.key.name + "\", which selects " + where +
                     ": give the selector and the pod template of each YurtAppDaemon a label that the other "
                     "does not have");
  }
}

bool IsLatest(const std::string& image) {
  if (image.find('@') != std::string::npos) return false;
  const std::size_t slash = image.rfind('/');
  const std::size_t colon = image.find(':', slash == std::string::npos ? 0 : slash);  // skips the port of a registry
  return colon == std::string::npos || image.substr(colon) == ":latest";
}

void WarnOfLatest(const YurtAppDaemon& daemon, std::vector<std::string>& out) {
  Warnings warnings(out);
  const auto check = [&](const std::string& path, const std::string& image) {
    if (!image.empty() && IsLatest(image)) {
      warnings.Add(path, "\"" + image +
                             "\" may be a different image on each node: with imagePullPolicy IfNotPresent, a node "
                             "pulls it only once; name a version");
    }
  };
  std::set<std::string> keeps;  // containers with IfNotPresent
  const std::string pod_path = TemplatePath(daemon.kind) + ".spec.template.spec.";
  for (const char* list : {"initContainers", "containers"}) {
    const Json& containers = ListAt(daemon.workload_template, {"spec", "template", "spec", list});
    for (std::size_t i = 0; i < containers.size(); ++i) {
      const Json& container = containers[i];
      if (StringAt(container, {"imagePullPolicy"}) != "IfNotPresent") continue;
      keeps.insert(StringAt(container, {"name"}));
      check(pod_path + list + "[" + std::to_string(i) + "].image", StringAt(container, {"image"}));
    }
  }
  for (std::size_t i = 0; i < daemon.overrides.size(); ++i) {
    const Json& images = ListAt(daemon.overrides[i], {"images"});
    for (std::size_t j = 0; j < images.size(); ++j) {
      if (!keeps.contains(StringAt(images[j], {"name"}))) continue;
      check("spec.overrides[" + std::to_string(i) + "].images[" + std::to_string(j) + "].image",
            StringAt(images[j], {"image"}));
    }
  }
}

// Warns of a minReadySeconds that is too short: if a revision disconnects a pool, Kubernetes reports the lost nodes
// only about 40 s later. Does not repeat the warning if neither minReadySeconds nor the strategy's type has changed.
void WarnOfShortSoak(const YurtAppDaemon& daemon, const YurtAppDaemon* before, std::vector<std::string>& out) {
  constexpr std::chrono::seconds kShortest{60};
  const UpdateStrategy& strategy = daemon.strategy;
  if (before != nullptr && before->strategy.type == strategy.type &&
      before->strategy.rolling.min_ready == strategy.rolling.min_ready)
    return;
  if (strategy.type != UpdateStrategyType::kRollingUpdate || strategy.rolling.min_ready >= kShortest) return;
  Warnings(out).Add(
      "spec.updateStrategy.rollingUpdate.minReadySeconds",
      "is below 60: Kubernetes reports lost nodes only after some 40 s, so a revision that disconnects its "
      "own sites may reach further pools; set it to 60 or more");
}

// Returns the path of the first null in `value` that is the value of a field, for example ".spec.replicas". Returns
// nullopt if there is no null.
std::optional<std::string> FindNull(const Json& value) {
  if (!value.is_structured()) return std::nullopt;
  for (const auto& [key, member] : value.items()) {
    const std::string step = value.is_array() ? "[" + key + "]" : "." + key;
    if (member.is_null() && value.is_object()) return step;
    if (const auto found = FindNull(member)) return step + *found;
  }
  return std::nullopt;
}

// Warns of a patch of an override whose list has a key twice. The API allows this in some lists, such as env.
void WarnOfDuplicateKeys(const YurtAppDaemon& daemon, std::vector<std::string>& out) {
  Warnings warnings(out);
  for (std::size_t i = 0; i < daemon.overrides.size(); ++i) {
    const Json* patch = Find(daemon.overrides[i], {"patch"});
    const auto item = patch == nullptr ? std::nullopt : FindDuplicateKey(*patch);
    if (!item) continue;
    warnings.Add("spec.overrides[" + std::to_string(i) + "].patch" + *item,
                 "has the same key as an earlier item, so the patch replaces the whole list of the template; use each "
                 "key once");
  }
}

// Warns of the first null in the patches of overrides. A JSON merge patch, which kubectl apply and other clients send,
// has no nulls in its lists, and overrides is a list.
void WarnOfNulls(const YurtAppDaemon& daemon, std::vector<std::string>& out) {
  for (std::size_t i = 0; i < daemon.overrides.size(); ++i) {
    const Json* patch = Find(daemon.overrides[i], {"patch"});
    const auto field = patch == nullptr ? std::nullopt : FindNull(*patch);
    if (!field) continue;
    Warnings(out).Add("spec.overrides[" + std::to_string(i) + "].patch" + *field,
                      "null removes the field, but kubectl apply, Helm and Argo CD drop the null, at the latest when "
                      "they change overrides; use jsonPatches with op remove");
    return;
  }
}

// Warns of overrides that change nothing.
void WarnOfEmptyOverrides(const YurtAppDaemon& daemon, std::vector<std::string>& out) {
  Warnings warnings(out);
  for (std::size_t i = 0; i < daemon.overrides.size(); ++i) {
    const auto is_empty = [&](const char* field) {
      const Json* value = Find(daemon.overrides[i], {field});
      return value == nullptr || value->is_null() || (value->is_structured() && value->empty());
    };
    if (is_empty("replicas") && is_empty("images") && is_empty("patch") && is_empty("jsonPatches"))
      warnings.Add("spec.overrides[" + std::to_string(i) + "]",
                   "changes nothing: add replicas, images, patch or jsonPatches, or remove the entry");
  }
}

// Warns of a template whose nodeSelector names a pool, because the operator replaces this value by each pool's name.
// Does not repeat the warning if the template has not changed.
void WarnOfNodeSelector(const YurtAppDaemon& daemon, const YurtAppDaemon* before, std::vector<std::string>& out) {
  if (before != nullptr && before->workload_template == daemon.workload_template) return;
  if (Find(daemon.workload_template, {"spec", "template", "spec", "nodeSelector", kNodePoolLabel}) == nullptr) return;
  Warnings(out).Add(
      TemplatePath(daemon.kind) + ".spec.template.spec.nodeSelector[" + kNodePoolLabel + "]",
      "has no effect, because the operator sets this label; choose pools by nodepoolSelector or nodePools");
}

// Warns of fields in the patches of overrides that have no effect, because the operator sets them itself.
void WarnOfOperatorsFields(const YurtAppDaemon& daemon, std::vector<std::string>& out) {
  Warnings warnings(out);
  for (std::size_t i = 0; i < daemon.overrides.size(); ++i) {
    const Json* patch = Find(daemon.overrides[i], {"patch"});
    if (patch == nullptr) continue;
    const auto warn_of = [&](const std::string& field) {
      warnings.Add("spec.overrides[" + std::to_string(i) + "].patch." + field,
                   "has no effect, because the operator sets this field");
    };
    if (StringAt(*patch, {"kind"}, TypeOf(daemon.kind).kind) != TypeOf(daemon.kind).kind) warn_of("kind");
    for (const char* field : {"name", "namespace"}) {
      if (Find(*patch, {"metadata", field}) != nullptr) warn_of(std::string("metadata.") + field);
    }
    const std::string label = std::string("[") + kPoolNameLabel + "]";
    if (Find(*patch, {"metadata", "labels", kPoolNameLabel}) != nullptr) warn_of("metadata.labels" + label);
    if (Find(*patch, {"spec", "template", "metadata", "labels", kPoolNameLabel}) != nullptr)
      warn_of("spec.template.metadata.labels" + label);
    if (Find(*patch, {"spec", "template", "spec", "nodeSelector", kNodePoolLabel}) != nullptr)
      warn_of(std::string("spec.template.spec.nodeSelector[") + kNodePoolLabel + "]");
  }
}

// Returns the overrides in the manifest that `kubectl apply` has stored in an annotation of the object. Returns an
// empty list if there is no such manifest, or if it is long: its values need much more memory than its text.
Json AppliedOverrides(const Json& object) {
  constexpr std::size_t kLongestManifest = 64u << 10;
  const std::string text = StringAt(object, {"metadata", "annotations", kLastAppliedAnnotation});
  if (text.empty() || text.size() > kLongestManifest) return Json::array();
  const auto manifest = ParseJson(text);
  if (!manifest || IsDeeperThan(*manifest, kMaxJsonDepth)) return Json::array();
  return ListAt(*manifest, {"spec", "overrides"});
}

}  // namespace

std::vector<std::string> WarningsFor(const YurtAppDaemon& daemon, const YurtAppDaemon* before,
                                     const AdmissionStores& stores) {
  std::vector<std::string> warnings;
  if (const auto pools = stores.pools.List()) {
    WarnOfSelection(daemon, *pools, warnings);
    WarnOfUnknownPools(daemon, *pools, warnings);
    WarnOfOverlap(daemon, stores, *pools, warnings);
    WarnOfGroups(daemon, *pools, warnings);
    WarnOfIgnoredGates(daemon, before, *pools, warnings);
  }
  WarnOfTimeZones(daemon, warnings);
  WarnOfShortSoak(daemon, before, warnings);
  WarnOfFailedTemplate(daemon, before, warnings);
  WarnOfLatest(daemon, warnings);
  WarnOfDuplicateKeys(daemon, warnings);
  if (before == nullptr || before->overrides != daemon.overrides) {
    WarnOfNulls(daemon, warnings);
    WarnOfEmptyOverrides(daemon, warnings);
    WarnOfOperatorsFields(daemon, warnings);
  }
  WarnOfNodeSelector(daemon, before, warnings);
  return warnings;
}

std::string ServiceWarning(const YurtAppDaemon& daemon, Client& client, Deadline& deadline) {
  if (daemon.kind != WorkloadKind::kStatefulSet || deadline.Passed()) return "";
  const std::string path = TemplatePath(daemon.kind) + ".spec.serviceName: ";
  const std::string name = StringAt(daemon.workload_template, {"spec", "serviceName"});
  if (name.empty() && daemon.service_template.is_object()) return "";  // Each pool has its own Service.
  if (name.empty()) return path + "is empty, so the pods have no DNS names of their own: name a headless Service";
  const auto service = client.Get(kServiceType, {daemon.meta.key.ns, name}, deadline.Token());
  if (!service && service.error().http_status == 404) {
    return path + "there is no Service \"" + name +
           "\", so the pods have no DNS names of their own: create this Service with clusterIP: None";
  }
  if (service && StringAt(*service, {"spec", "clusterIP"}) != "None") {
    return path + "Service \"" + name +
           "\" is not headless, so the pods have no DNS names of their own: recreate it with clusterIP: None";
  }
  return "";
}

std::string DroppedNullWarning(const Json& object, const Json& old_object) {
  const Json applied = AppliedOverrides(object);
  if (applied.empty() || applied == AppliedOverrides(old_object)) return "";
  const Json& overrides = ListAt(object, {"spec", "overrides"});
  if (IsDeeperThan(overrides, kMaxJsonDepth)) return "";
  for (std::size_t i = 0; i < applied.size() && i < overrides.size(); ++i) {
    const Json* written = Find(applied[i], {"patch"});
    const Json* patch = Find(overrides[i], {"patch"});
    const auto field = written == nullptr ? std::nullopt : FindNull(*written);
    if (!field || patch == nullptr || FindNull(*patch)) continue;
    return "spec.overrides[" + std::to_string(i) + "].patch" + *field +
           ": kubectl apply has dropped the null of the manifest, so the field is not removed; use jsonPatches with op "
           "remove";
  }
  return "";
}

std::string RemovalTokenWarning(const Json& object, const Json& old_object) {
  const std::string token = StringAt(object, {"metadata", "annotations", kAllowRemovalAnnotation});
  if (token.empty() || token == StringAt(old_object, {"metadata", "annotations", kAllowRemovalAnnotation})) return "";
  const Json* status = Find(old_object, {"status"});
  if (status != nullptr && ShowsRemovalBlocked(*status, token)) return "";
  return std::string("metadata.annotations[") + kAllowRemovalAnnotation +
         "]: no removal with this token is blocked now; condition RemovalBlocked has the current token";
}

}  // namespace yad
