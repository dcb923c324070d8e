#include "operator/yurtappdaemon/stuck_pods.h"

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

#include "operator/api/conditions.h"
#include "operator/api/well_known.h"
#include "operator/yurtappdaemon/plan.h"
#include "operator/yurtappdaemon/pods.h"

namespace yad {
namespace {

constexpr int kPageSize = 500;

// Of "web-3": 3.
std::int64_t Ordinal(const std::string& name) {
  std::int64_t ordinal = 0;
  const std::size_t dash = name.rfind('-');
  std::from_chars(name.data() + dash + 1, name.data() + name.size(), ordinal);
  return ordinal;
}

bool HasNotBeenReady(const Json& pod, const ObjectMeta& meta, WallTime since) {
  const Json* ready = FindCondition(pod, "Ready");
  if (ready == nullptr) return ParseTime(meta.creation_timestamp) <= since;
  if (StringAt(*ready, {"status"}) == "True") return false;
  // By its node's clock. What lies in the future says nothing.
  const WallTime then = ParseTime(StringAt(*ready, {"lastTransitionTime"}));
  return then <= since || then > since + 2 * kStuckAfter;
}

}  // namespace

Result<std::vector<std::string>> ReplaceStuckPods(Client& client, const ObjectKey& stateful_set, const std::string& uid,
                                                  WallTime since, std::stop_token stop) {
  // As it is now: a cache could take a pod of the newest template for an old one.
  auto owner = client.Get(kStatefulSetType, stateful_set, stop);
  if (!owner) return Fail(owner.error());
  const std::string update = StringAt(*owner, {"status", "updateRevision"});
  const bool observed = IntAt(*owner, {"status", "observedGeneration"}) >= IntAt(*owner, {"metadata", "generation"});
  std::vector<std::string> deleted;
  if (StringAt(*owner, {"metadata", "uid"}) != uid || !observed || update.empty()) return deleted;
  const std::int64_t partition = IntAt(*owner, {"spec", "updateStrategy", "rollingUpdate", "partition"});

  ListOptions options;
  options.ns = stateful_set.ns;
  options.limit = kPageSize;
  options.label_selector =
      std::string(kPoolNameLabel) + "=" + StringAt(*owner, {"spec", "selector", "matchLabels", kPoolNameLabel});
  const auto replace = [&](const Json& pod) -> Status {
    const ObjectMeta meta = ParseMeta(pod);
    const OwnerReference* controller = meta.controller();
    if (controller == nullptr || controller->uid != uid || meta.deleting()) return {};
    if (!HasNotBeenReady(pod, meta, since)) return {};
    if (meta.Label(kPodRevisionLabel) == update || Ordinal(meta.key.name) < partition) return {};
    DeleteOptions precondition;
    precondition.uid = meta.uid;
    precondition.resource_version = meta.resource_version;  // It may have become ready.
    const Status gone = client.Delete(kPodType, meta.key, precondition, stop);
    if (gone) deleted.push_back(meta.key.name);
    const bool changed =
        !gone && (gone.error().reason == Reason::kNotFound || gone.error().reason == Reason::kConflict);
    return gone || changed ? Status() : gone;
  };
  const auto read = ForEachPod(client, options, std::numeric_limits<int>::max(), stop, replace);
  if (!read) return Fail(read.error());
  return deleted;
}

}  // namespace yad
