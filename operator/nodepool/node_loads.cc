#include "operator/nodepool/node_loads.h"

#include <algorithm>

#include "operator/cluster/informers.h"

namespace yad {
namespace {

const PodProjection* Counted(const ObjectPtr& object) {
  if (object == nullptr) return nullptr;
  const PodProjection& pod = PodProjectionOf(object);
  return pod.pod.node.empty() || pod.pod.terminal ? nullptr : &pod;
}

// A pod that is being deleted does not show the health of the agent, because another pod will replace it.
bool IsFaultyAgent(const PodProjection& pod) { return pod.agent && !pod.pod.ready && !pod.pod.deleting; }

bool CountsTheSame(const PodProjection* a, const PodProjection* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a->pod.node == b->pod.node && a->pod.requests == b->pod.requests && IsFaultyAgent(*a) == IsFaultyAgent(*b);
}

}  // namespace

std::vector<std::string> NodeLoads::Changed(const Event& event) {
  const PodProjection* before = Counted(event.before);
  const PodProjection* after = Counted(event.after);
  if (CountsTheSame(before, after)) return {};
  std::vector<std::string> nodes;
  if (before != nullptr) nodes.push_back(before->pod.node);
  if (after != nullptr && (before == nullptr || before->pod.node != after->pod.node)) nodes.push_back(after->pod.node);
  known_.With([&](Known& known) {
    for (const std::string& node : nodes) known.entries.erase(node);
  });
  return nodes;
}

std::size_t NodeLoads::remembered() const {
  return known_.With([](const Known& known) { return known.entries.size(); });
}

Result<NodeLoad> NodeLoads::Of(const std::string& node) {
  std::uint64_t count = 0;
  const auto counted = known_.With([&](Known& known) {
    Entry& entry = known.entries[node];
    if (!entry.load) count = entry.count = ++known.counts;
    return entry.load;
  });
  if (counted) return *counted;
  YAD_TRY(const auto pods, pods_.ByIndex(kPodsByNode, node));
  NodeLoad load;
  for (const ObjectPtr& object : pods) {
    const PodProjection* pod = Counted(object);
    if (pod == nullptr) continue;
    load.requested.Add(pod->pod.requests);
    if (IsFaultyAgent(*pod)) load.agents_not_ready.push_back(pod->pod.key.ToString());
  }
  std::sort(load.agents_not_ready.begin(), load.agents_not_ready.end());
  known_.With([&](Known& known) {
    const auto found = known.entries.find(node);
    // If a pod of the Node has changed since the count began, the entry was removed or belongs to a later count. The
    // load may then be outdated, so it is not cached. The event of the pod causes another reconcile.
    if (found == known.entries.end() || found->second.count != count) return;
    if (pods.empty()) {  // A Node without pods may no longer exist, so its entry is removed.
      known.entries.erase(found);
    } else {
      found->second.load = load;
    }
  });
  return load;
}

}  // namespace yad
