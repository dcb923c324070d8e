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

// A pod that is being deleted will be replaced, so its readiness is not evidence about the agent.
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
  entries_.With([&](auto& entries) {
    for (const std::string& node : nodes) {
      // Only Of() creates entries, because the loads of some Nodes that pods name are never read.
      const auto found = entries.find(node);
      if (found == entries.end()) continue;
      ++found->second.changes;
      found->second.load.reset();
    }
  });
  return nodes;
}

std::size_t NodeLoads::remembered() const {
  return entries_.With([](const auto& entries) { return entries.size(); });
}

Result<NodeLoad> NodeLoads::Of(const std::string& node) {
  std::uint64_t changes = 0;
  const auto known = entries_.With([&](auto& entries) {
    const Entry& entry = entries[node];
    changes = entry.changes;
    return entry.load;
  });
  if (known) return *known;
  YAD_TRY(const auto pods, pods_.ByIndex(kPodsByNode, node));
  NodeLoad load;
  for (const ObjectPtr& object : pods) {
    const PodProjection* pod = Counted(object);
    if (pod == nullptr) continue;
    load.requested.Add(pod->pod.requests);
    if (IsFaultyAgent(*pod)) load.agents_not_ready.push_back(pod->pod.key.ToString());
  }
  std::sort(load.agents_not_ready.begin(), load.agents_not_ready.end());
  entries_.With([&](auto& entries) {
    if (pods.empty()) {  // A Node without pods may be gone, so its entry is removed.
      if (const auto found = entries.find(node); found != entries.end() && found->second.changes == changes)
        entries.erase(found);
      return;
    }
    Entry& entry = entries[node];
    // If `changes` differs, a pod has changed after it was read. The event of that change causes another reconcile.
    if (entry.changes == changes) entry.load = load;
  });
  return load;
}

}  // namespace yad
