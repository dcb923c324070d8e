#include "operator/nodepool/pool_status.h"

#include <algorithm>
#include <array>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/api/merge_patch.h"
#include "operator/base/join.h"
#include "operator/base/metrics.h"

namespace yad {
namespace {

constexpr std::array<std::pair<NodeState, const char*>, 3> kStates = {
    {{NodeState::kReady, "ready"}, {NodeState::kWarning, "warning"}, {NodeState::kNotReady, "notReady"}}};
// The amounts of a pool, with their names in the status and in the metrics.
constexpr std::array<std::pair<const char*, Resources PoolSummary::*>, 3> kAmounts = {
    {{"capacity", &PoolSummary::capacity},
     {"allocatable", &PoolSummary::allocatable},
     {"requested", &PoolSummary::requested}}};

std::string MilliText(std::int64_t milli) {
  return milli % 1000 == 0 ? std::to_string(milli / 1000) : std::to_string(milli) + "m";
}

// Returns the amount with the largest suffix for which no rounding is necessary, such as "16Gi".
std::string BytesText(std::int64_t bytes) {
  if (bytes == 0) return "0";
  const char* const suffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  std::size_t power = 0;
  while (bytes % 1024 == 0 && power + 1 < std::size(suffixes)) {
    bytes /= 1024;
    ++power;
  }
  return std::to_string(bytes) + suffixes[power];
}

Json ListOf(const Resources& resources) {
  Json list = {{"cpu", MilliText(resources.milli_cpu)},
               {"memory", BytesText(resources.memory)},
               {"pods", std::to_string(resources.pods)}};
  if (resources.ephemeral_storage > 0) list["ephemeral-storage"] = BytesText(resources.ephemeral_storage);
  for (const auto& [name, amount] : resources.others) {
    if (amount > 0) list[name] = name.starts_with("hugepages-") ? BytesText(amount) : std::to_string(amount);
  }
  return list;
}

// Returns a message such as "PIDPressure on 2 nodes (a, b); AgentNotReady on 1 node (c: kube-system/kube-proxy-x)". The
// most severe problem is first.
std::string Describe(const std::vector<PoolNode>& nodes) {
  std::string text;
  for (int fault = static_cast<int>(NodeFault::kUnknown); fault > static_cast<int>(NodeFault::kNone); --fault) {
    std::vector<std::string> names;
    for (const PoolNode& node : nodes) {
      if (static_cast<int>(node.health.fault) != fault) continue;
      names.push_back(node.name + (node.health.detail.empty() ? "" : ": " + node.health.detail));
    }
    if (names.empty()) continue;
    text += (text.empty() ? "" : "; ") + std::string(ToString(static_cast<NodeFault>(fault))) + " on " +
            Pluralize(names.size(), "node") + " (" + NameSome(names) + ")";
  }
  return text;
}

metrics::Labels StateLabels(const std::string& pool, const char* state) { return {{"pool", pool}, {"state", state}}; }

metrics::Labels ResourceLabels(const std::string& pool, const std::string& resource, const char* kind) {
  return {{"pool", pool}, {"resource", resource}, {"kind", kind}};
}

void RemoveResource(const std::string& pool, const std::string& resource) {
  for (const auto& [kind, amounts] : kAmounts)
    metrics::Remove("nodepool_resource", ResourceLabels(pool, resource, kind));
}

}  // namespace

std::size_t PoolSummary::Count(NodeState state) const {
  return static_cast<std::size_t>(std::count_if(
      nodes.begin(), nodes.end(), [&](const PoolNode& node) { return StateOf(node.health.fault) == state; }));
}

Json BuildPoolStatus(const PoolSummary& summary, const Json& previous, std::int64_t generation, WallTime now) {
  const std::vector<PoolNode>& nodes = summary.nodes;
  const auto ready = std::count_if(nodes.begin(), nodes.end(), [](const PoolNode& node) { return node.node_ready; });
  const auto total = static_cast<std::int64_t>(nodes.size());
  Json names = Json::array();
  for (const PoolNode& node : nodes) {
    if (names.size() == kMaxNodesInStatus) break;
    names.push_back(node.name);
  }
  Json states = Json::object();
  for (const auto& [state, name] : kStates) states[name] = summary.Count(state);
  Json resources = Json::object();
  for (const auto& [kind, amounts] : kAmounts) resources[kind] = ListOf(summary.*amounts);

  NodeFault worst = NodeFault::kNone;
  for (const PoolNode& node : nodes) worst = std::max(worst, node.health.fault);
  const std::string counted = std::to_string(ready) + " of " + std::to_string(total) + " nodes are ready";
  Conditions conditions(previous, generation, now);
  if (nodes.empty()) {
    conditions.Set({"Ready", "False", "NoNodes", "no node has the pool's label"});
    conditions.Set({"Degraded", "False", "NoNodes", ""});
  } else {
    conditions.Set(
        {"Ready", ready > 0 ? "True" : "False", ready > 0 ? "NodesReady" : std::string(ToString(worst)), counted});
    if (worst == NodeFault::kNone) {
      conditions.Set({"Degraded", "False", "AllNodesWell", ""});
    } else {
      conditions.Set({"Degraded", "True", std::string(ToString(worst)), Describe(nodes)});
    }
  }
  return {{"readyNodeNum", ready},           {"unreadyNodeNum", total - ready},   {"nodes", std::move(names)},
          {"nodeStates", std::move(states)}, {"resources", std::move(resources)}, {"conditions", conditions.Take()}};
}

Json PoolStatusPatch(const Json& before, const Json& after) {
  Json mine = Json::object();
  for (const auto& [field, value] : after.items()) {
    if (before.contains(field)) mine[field] = before[field];
  }
  Json difference = MergePatch(mine, after, mine);
  if (difference.empty()) return nullptr;
  return {{"status", std::move(difference)}};
}

PoolMetrics::~PoolMetrics() {
  for (const auto& [state, name] : kStates) metrics::Remove("nodepool_nodes", StateLabels(pool_, name));
  for (const std::string& resource : resources_) RemoveResource(pool_, resource);
}

void PoolMetrics::Show(const PoolSummary& summary) {
  for (const auto& [state, name] : kStates) {
    metrics::GetGauge("nodepool_nodes", "Nodes of a NodePool, by state.", StateLabels(pool_, name))
        .Set(static_cast<double>(summary.Count(state)));
  }
  std::vector<std::string> resources = {"cpu", "memory", "pods", "ephemeral-storage"};
  for (const auto& [name, amount] : summary.capacity.others) resources.push_back(name);
  for (const std::string& gone : resources_) {
    if (std::find(resources.begin(), resources.end(), gone) == resources.end()) RemoveResource(pool_, gone);
  }
  for (const std::string& resource : resources) {
    const double unit = resource == "cpu" ? 0.001 : 1;
    for (const auto& [kind, amounts] : kAmounts) {
      metrics::GetGauge("nodepool_resource",
                        "Resources of a NodePool and requests of its pods, in cores, bytes or counts.",
                        ResourceLabels(pool_, resource, kind))
          .Set(static_cast<double>((summary.*amounts).Get(resource)) * unit);
    }
  }
  resources_ = std::move(resources);
}

}  // namespace yad
