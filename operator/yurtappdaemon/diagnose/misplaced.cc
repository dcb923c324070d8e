#include "operator/yurtappdaemon/diagnose/misplaced.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/names.h"
#include "operator/api/well_known.h"
#include "operator/base/join.h"
#include "operator/base/metrics.h"
#include "operator/cluster/informers.h"
#include "operator/runtime/paged_list.h"
#include "operator/yurtappdaemon/observe/pods.h"
#include "operator/yurtappdaemon/observe/regarding.h"
#include "operator/yurtappdaemon/observe/status_view.h"

namespace yad {
namespace {

// The intervals between two reads of one pool.
constexpr Duration kMinInterval = std::chrono::seconds(2);
constexpr Duration kFirstInterval = std::chrono::seconds(5);
constexpr Duration kLongestInterval = std::chrono::minutes(5);
constexpr int kRequestsPerCount = 2;  // enough for most pools
constexpr std::size_t kMaxReadsByName = 32;
constexpr int kItemsPerPage = 500;
const JsonParts kName = {{"metadata", {{"name"}}}};
const JsonParts kNameAndLabels = {{"metadata", {{"name"}, {"labels"}}}};
constexpr int kPodPages = 20;

// Returns the number of nodes in the NodePool's status; negative if the status has no numbers.
std::int64_t NodesIn(const PoolProjection& pool) { return pool.ready_nodes + pool.unready_nodes; }

// Returns whether the pod runs on a node and counts for its workload.
bool Runs(const Json& pod, const ObjectMeta& meta) {
  const std::string phase = StringAt(pod, {"status", "phase"});
  return !meta.deleting() && phase != "Succeeded" && phase != "Failed" && !StringAt(pod, {"spec", "nodeName"}).empty();
}

}  // namespace

MisplacedPods::MisplacedPods(Client& client, const ReconcilerStores& stores, EventSink& events, std::string ns,
                             Clock& clock)
    : client_(client), stores_(stores), events_(events), ns_(std::move(ns)), clock_(clock) {}

void MisplacedPods::Connect(std::function<void(const Request&)> count, std::function<void(const Request&)> show) {
  count_ = std::move(count);
  show_ = std::move(show);
}

bool MisplacedPods::RequiresCount(const Event& pool_event) const {
  if (!IsSameObject(pool_event)) return false;
  const PoolProjection& before = PoolProjectionOf(pool_event.before);
  const PoolProjection& after = PoolProjectionOf(pool_event.after);
  if (before.nodes == after.nodes && NodesIn(before) == NodesIn(after)) return false;
  if (!std::includes(after.nodes.begin(), after.nodes.end(), before.nodes.begin(), before.nodes.end())) return true;
  // The list in status may be truncated, so the counters are also compared.
  if (NodesIn(after) < NodesIn(before)) return true;
  return pools_.With([&](const auto& pools) {
    const auto found = pools.find(after.pool.name);
    return found != pools.end() && !found->second.counts.empty();
  });
}

std::vector<Request> MisplacedPods::PoolOf(const Event& workload_event) const {
  const ObjectMeta& meta = (workload_event.after ? workload_event.after : workload_event.before)->meta();
  const std::string& pool = meta.Label(kPoolNameLabel);
  const bool counted = pools_.With([&](const auto& pools) {
    const auto found = pools.find(pool);
    return found != pools.end() && found->second.counts.contains(meta.key);
  });
  if (!counted) return {};
  return {{"", pool}};
}

std::optional<Duration> MisplacedPods::TimeUntilCount(const std::string& pool) {
  const SteadyTime now = clock_.Now();
  return pools_.With([&](auto& pools) -> std::optional<Duration> {
    Pool& known = pools[pool];
    if (known.counted && now < known.last + kMinInterval) return known.last + kMinInterval - now;
    if (!known.reserved) known.reserved = budget_.Take(kRequestsPerCount);
    if (*known.reserved > now) return *known.reserved - now;
    known.reserved.reset();
    return std::nullopt;
  });
}

Result<ReconcileResult> MisplacedPods::CountPods(const Request& pool, std::stop_token stop) {
  // If the pool's name can't be the value of a label, the pool has no Nodes.
  if (!CheckLabelValue(pool.name).empty()) return ReconcileResult::Done();
  if (const auto wait = TimeUntilCount(pool.name)) return ReconcileResult::RequeueAfter(*wait);
  const auto found = Read(pool.name, stop);
  read_log_.Report(found);
  if (!found) {
    // If the operator lacks the permission to read Nodes or pods, a retry does not help. The next change of the pool
    // causes another count.
    if (found.error().reason == Reason::kForbidden) return ReconcileResult::Done();
    return Fail(found.error());
  }
  Duration interval{0};
  const ByWorkload before = pools_.With([&](auto& pools) {
    Pool& known = pools[pool.name];
    const bool same = known.counted && known.counts == found->counts;
    known.interval = same ? std::min(2 * known.interval, kLongestInterval) : kFirstInterval;
    known.counted = true;
    known.last = clock_.Now();
    interval = known.interval;
    ByWorkload old = std::exchange(known.counts, found->counts);
    if (found->counts.empty()) pools.erase(pool.name);
    return old;
  });
  Report(pool.name, before, *found);
  if (found->counts.empty()) return ReconcileResult::Done();
  return ReconcileResult::RequeueAfter(interval);
}

Result<MisplacedPods::Found> MisplacedPods::Read(const std::string& pool, std::stop_token stop) {
  ListOptions options{
      .label_selector = std::string(kNodePoolLabel) + "=" + pool, .limit = kItemsPerPage, .metadata_only = true};
  std::set<std::string> members;
  const auto listed = ForEachListed(client_, kNodeType, options, stop, [&](const JsonDocument& node) {
    members.insert(StringAt(node.TreeOfObject(kName), {"metadata", "name"}));
    return true;
  });
  if (!listed) return Fail(listed.error());

  options = {};
  options.ns = ns_;
  options.label_selector = std::string(kPoolNameLabel) + "=" + pool;
  options.limit = kItemsPerPage;
  std::map<std::string, ByWorkload> elsewhere;  // by node
  const auto add = [&](const JsonDocument& document) {
    const Json pod = document.TreeOfObject();
    const ObjectMeta meta = ParseMeta(pod);
    const std::string node = StringAt(pod, {"spec", "nodeName"});
    const auto workload = Runs(pod, meta) && !members.contains(node) ? WorkloadOf(meta) : std::nullopt;
    if (workload) ++elsewhere[node][*workload];
    return true;
  };
  const auto read = ForEachListed(client_, kPodType, options, stop, add, kPodPages);
  if (!read) return Fail(read.error());

  Found found;
  YAD_TRY(found.nodes, NodesOutside(elsewhere, pool, stop));
  for (const std::string& node : found.nodes) {
    for (const auto& [workload, count] : elsewhere.at(node)) found.counts[workload] += count;
  }
  return found;
}

Result<std::set<std::string>> MisplacedPods::NodesOutside(const std::map<std::string, ByWorkload>& nodes,
                                                          const std::string& pool, std::stop_token stop) {
  // The Nodes are read again, for two reasons:
  // - A Node may have been deleted. Its pods then do not count, because Kubernetes deletes them.
  // - A Node may have joined the pool after the pool's Nodes were listed.
  std::set<std::string> found;
  if (nodes.empty()) return found;
  ListOptions options{.limit = kItemsPerPage, .metadata_only = true};
  const auto read = [&] {
    return ForEachListed(client_, kNodeType, options, stop, [&](const JsonDocument& node) {
      const Json object = node.TreeOfObject(kNameAndLabels);
      const std::string name = StringAt(object, {"metadata", "name"});
      if (nodes.contains(name) && StringAt(object, {"metadata", "labels", kNodePoolLabel}) != pool) found.insert(name);
      return true;
    });
  };
  // TimeUntilCount has not reserved requests for these reads. So they delay the next counts.
  if (nodes.size() > kMaxReadsByName) {
    YAD_TRY(const int pages, read());  // in most clusters fewer requests than reads by name
    budget_.Take(pages);
    return found;
  }
  budget_.Take(static_cast<int>(nodes.size()));
  for (const auto& [node, counts] : nodes) {
    options.field_selector = "metadata.name=" + node;
    YAD_TRY_VOID(read());
  }
  return found;
}

std::optional<ObjectKey> MisplacedPods::WorkloadOf(const ObjectMeta& pod) const {
  const OwnerReference* controller = pod.controller();
  if (controller == nullptr) return std::nullopt;
  std::string name = controller->name;
  if (controller->kind == "ReplicaSet") {
    const std::string hash = "-" + pod.Label(kPodTemplateHashLabel);
    if (!name.ends_with(hash)) return std::nullopt;
    name.resize(name.size() - hash.size());
  }
  const ObjectKey workload{pod.key.ns, name};
  if (!DaemonOf(workload)) return std::nullopt;
  return workload;
}

std::optional<ObjectKey> MisplacedPods::DaemonOf(const ObjectKey& workload) const {
  for (const Store* store : {&stores_.deployments, &stores_.stateful_sets}) {
    const auto object = store->Get(workload);
    if (!object) continue;
    const OwnerReference* controller = (*object)->meta().controller();
    if (controller != nullptr && controller->kind == kYurtAppDaemonType.kind)
      return ObjectKey{workload.ns, controller->name};
  }
  return std::nullopt;
}

void MisplacedPods::Report(const std::string& pool, const ByWorkload& before, const Found& found) {
  ByWorkload both = before;
  both.insert(found.counts.begin(), found.counts.end());
  for (const auto& [workload, any_count] : both) {
    const auto old = before.find(workload);
    const auto now = found.counts.find(workload);
    if (old != before.end() && now != found.counts.end() && old->second == now->second) continue;
    const auto daemon = DaemonOf(workload);
    if (!daemon) continue;
    const auto object = stores_.daemons.Get(*daemon);
    if (object && old == before.end()) {
      const bool one = now->second == 1;
      events_.Record(Regarding((*object)->meta()), EventType::kWarning, "PodsMisplaced", "Count",
                     Pluralize(now->second, "pod") + " of pool " + pool + (one ? " runs" : " run") +
                         " on nodes outside the pool (" + NameSome({found.nodes.begin(), found.nodes.end()}) +
                         ") and still " + (one ? "counts" : "count") + " as ready; delete " +
                         (one ? "this pod, so that it is" : "these pods, so that they are") +
                         " recreated on nodes of the pool");
    }
    show_(*daemon);
  }
}

MisplacedCounts MisplacedPods::CountsOf(const ObjectKey& daemon, const std::vector<PoolOutcome>& pools,
                                        const Json& previous, bool& restored) {
  if (!std::exchange(restored, true)) {
    for (const PoolStatusView& entry : StatusView(previous).pools()) {
      const std::int64_t count = entry.misplaced_replicas();
      if (count <= 0) continue;
      const std::string name(entry.name());
      const bool unread = pools_.With([&](auto& known) {
        if (known[name].counted) return false;
        known[name].counts[{daemon.ns, std::string(entry.workload())}] = count;
        return true;
      });
      if (unread) count_({"", name});
    }
  }
  MisplacedCounts counts;
  std::int64_t sum = 0;
  pools_.With([&](const auto& known) {
    for (const PoolOutcome& pool : pools) {
      const auto found = pool.workload ? known.find(pool.plan->pool) : known.end();
      if (found == known.end()) continue;
      const auto count = found->second.counts.find(pool.workload->object->meta().key);
      if (count == found->second.counts.end()) continue;
      counts.emplace(pool.plan->pool, count->second);
      sum += count->second;
    }
  });
  metrics::GetGauge("yurtappdaemon_misplaced_replicas",
                    "Pods of a YurtAppDaemon on nodes that are not in the pods' pool.", DaemonLabels(daemon))
      .Set(static_cast<double>(sum));
  return counts;
}

void MisplacedPods::Forget(const ObjectKey& daemon) {
  metrics::Remove("yurtappdaemon_misplaced_replicas", DaemonLabels(daemon));
}

}  // namespace yad
