// kubectl yad explain
#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "operator/api/names.h"
#include "operator/api/node.h"
#include "operator/api/well_known.h"
#include "operator/capacity/lease.h"
#include "operator/cluster/nodepool_type.h"
#include "operator/runtime/paged_list.h"
#include "operator/yurtappdaemon/observe/status_view.h"
#include "plugin/commands/commands.h"
#include "plugin/commands/daemon.h"
#include "plugin/commands/explanation.h"
#include "plugin/commands/object_reader.h"

namespace yad {
namespace {

// The namespace of the Leases that kubelets renew, one for each node.
constexpr char kNodeLeases[] = "kube-node-lease";

// Reads the objects for an explanation. If the user may not read some of them, adds an entry to `unread` and continues.
// Fails only if the pool does not exist or if the server does not respond.
class Reader {
 public:
  Reader(Client& client, const std::string& ns, const std::string& pool, WallTime now) : client_(client), ns_(ns) {
    it_.name = pool;
    it_.now = now;
  }

  Result<Explanation> Read() {
    YAD_TRY_VOID(ReadPool());
    YAD_TRY_VOID(ReadDaemons());
    // The pods are read before the nodes. In the reverse order, the pods of a node that joins between the reads would
    // look misplaced.
    if (CheckLabelValue(it_.name).empty()) {
      YAD_TRY_VOID(ReadPods());
      YAD_TRY_VOID(ReadNodes());
    } else {  // No pod and no node can have an invalid label.
      pods_.emplace();
      it_.nodes.emplace();
    }
    FindMisplaced();
    YAD_TRY_VOID(ReadHeartbeats());
    return std::move(it_);
  }

 private:
  using Each = std::function<void(const Json& object)>;

  Status AddWarning(const std::string& what, const Error& error) {
    if (error.reason == Reason::kTransport) return Fail(error);
    it_.unread.push_back({what, error.message});
    return {};
  }

  Status ReadPool() {
    YAD_TRY(const auto types, DiscoverNodePoolTypes(client_, {}));
    auto pool = InAnyVersion(types, [&](const ResourceType& type) { return client_.Get(type, {"", it_.name}); });
    if (pool) {
      it_.pool = *std::move(pool);
      return {};
    }
    if (pool.error().reason == Reason::kNotFound) return Fail(Reason::kNotFound, NodePoolNotFound(it_.name));
    return AddWarning("the NodePool", pool.error());
  }

  // Lists the objects of all namespaces. If the user may not do that, lists the objects of namespace `ns`.
  // Returns whether one of the two lists succeeded.
  Result<bool> List(const ResourceType& type, const std::string& label_selector, const JsonParts& parts,
                    const Each& each) {
    const auto list = [&](const std::string& ns) {
      const ListOptions options{.ns = ns, .label_selector = label_selector, .limit = kPageLimit};
      return ForEachListed(client_, type, options, {}, [&](const JsonDocument& object) {
        each(object.TreeOfObject(parts));
        return true;
      });
    };
    const auto all = list("");
    if (all) return true;
    const bool narrow = type.namespaced && all.error().reason == Reason::kForbidden;
    const auto own = narrow ? list(ns_) : all;
    YAD_TRY_VOID(AddWarning(type.resource + (own ? " outside namespace " + ns_ : ""), all.error()));
    return own.has_value();
  }

  Status ReadDaemons() {
    std::vector<ExplainedDaemon> daemons;
    YAD_TRY(const auto read, List(kYurtAppDaemonType, "", {}, [&](const Json& object) {
              if (auto daemon = DaemonOf(object)) daemons.push_back(*std::move(daemon));
            }));
    if (!read) return {};
    std::sort(daemons.begin(), daemons.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    it_.daemons = std::move(daemons);
    return {};
  }

  // Returns nullopt if the daemon neither selects the pool nor lists it in status.
  std::optional<ExplainedDaemon> DaemonOf(const Json& object) const {
    ExplainedDaemon result;
    result.key = ParseMeta(object).key;
    if (const Json* status = Find(object, {"status"})) {
      for (const PoolStatusView& entry : StatusView(*status).pools()) {
        if (entry.name() == it_.name) result.pool = entry.json();
      }
    }
    Snapshot snapshot;
    auto daemon = ParseYurtAppDaemonWithoutStatus(object);
    if (!daemon) {
      result.fault = daemon.error().message;
    } else {
      snapshot.daemon = *std::move(daemon);
      snapshot.now = it_.now;
      if (it_.pool) result.selects = snapshot.daemon.pools.Selects(ParseNodePool(*it_.pool));
    }
    if (result.selects != true && result.pool.is_null()) return std::nullopt;
    if (result.selects == true && snapshot.daemon.strategy.type == UpdateStrategyType::kRollingUpdate) {
      Gates gates(snapshot);
      result.opening = OpeningOf(*it_.pool, snapshot.daemon, gates);
    }
    return result;
  }

  Status ReadPods() {
    static const JsonParts kParts = {{"metadata", {{"namespace"}, {"name"}, {"deletionTimestamp"}}},
                                     {"spec", {{"nodeName"}}},
                                     {"status", {{"phase"}}}};
    std::vector<MisplacedPod> pods;
    YAD_TRY(const auto read, List(kPodType, std::string(kPoolNameLabel) + "=" + it_.name, kParts, [&](const Json& pod) {
              const ObjectMeta meta = ParseMeta(pod);
              const std::string phase = StringAt(pod, {"status", "phase"});
              std::string node = StringAt(pod, {"spec", "nodeName"});
              if (meta.deleting() || phase == "Succeeded" || phase == "Failed" || node.empty()) return;
              pods.push_back({meta.key, std::move(node)});
            }));
    if (read) pods_ = std::move(pods);
    return {};
  }

  Status ReadNodes() {
    static const JsonParts kParts = {{"metadata", {{"name"}, {"annotations", {{kLeaseAnnotation}}}}},
                                     {"status", {{"conditions"}}}};
    std::vector<ExplainedNode> nodes;
    std::string in_maintenance;  // the first Node by name
    YAD_TRY(const auto read,
            List(kNodeType, std::string(kNodePoolLabel) + "=" + it_.name, kParts, [&](const Json& object) {
              const Node node = ParseNode(object);
              ExplainedNode& entry = nodes.emplace_back();
              entry.name = node.meta.key.name;
              entry.ready = node.ready();
              entry.since = node.ready_since;
              const auto lease = ParseLease(node.meta.Annotation(kLeaseAnnotation));
              if (lease && lease->pool == it_.name) entry.leased = ToString(lease->phase);
              const char* condition = MaintenanceConditionOf(object);
              if (condition == nullptr || (!in_maintenance.empty() && in_maintenance < entry.name)) return;
              in_maintenance = entry.name;
              it_.maintenance = DescribeMaintenance(entry.name, condition);
            }));
    if (!read) return {};
    std::sort(nodes.begin(), nodes.end(), [](const ExplainedNode& a, const ExplainedNode& b) {
      return std::pair(a.ready, std::string_view(a.name)) < std::pair(b.ready, std::string_view(b.name));
    });
    it_.nodes = std::move(nodes);
    return {};
  }

  void FindMisplaced() {
    if (!pods_ || !it_.nodes) return;
    std::set<std::string_view> members;
    for (const ExplainedNode& node : *it_.nodes) members.insert(node.name);
    std::erase_if(*pods_, [&](const MisplacedPod& pod) { return members.contains(pod.node); });
    std::sort(pods_->begin(), pods_->end(), [](const auto& a, const auto& b) { return a.pod < b.pod; });
    it_.misplaced = *std::move(pods_);
  }

  // Reads the Lease of each node separately. A list would contain the Leases of all pools' nodes.
  Status ReadHeartbeats() {
    if (!it_.nodes) return {};
    for (std::size_t i = 0; i < std::min(it_.nodes->size(), kMaxNamedNodes); ++i) {
      ExplainedNode& node = (*it_.nodes)[i];
      const auto lease = client_.Get(kLeaseType, {kNodeLeases, node.name});
      if (!lease && lease.error().reason == Reason::kNotFound) continue;
      if (!lease) return AddWarning(std::string("leases in namespace ") + kNodeLeases, lease.error());
      node.heartbeat = ParseTime(StringAt(*lease, {"spec", "renewTime"}));
    }
    return {};
  }

  Client& client_;
  const std::string& ns_;
  Explanation it_;
  std::optional<std::vector<MisplacedPod>> pods_;  // all pods of the pool that run on a node
};

}  // namespace

Result<Explanation> ExplainPool(Client& client, const std::string& ns, const std::string& pool, WallTime now) {
  return Reader(client, ns, pool, now).Read();
}

Result<int> RunExplain(Session& session) {
  const std::string& pool = session.options.pools.front();
  YAD_TRY(const auto explanation, ExplainPool(session.client, session.ns, pool, session.clock.WallNow()));
  for (const Unread& unread : explanation.unread) session.console.Warn(unread.what + " can't be read: " + unread.why);
  if (PrintObject(session.options, session.console, ToJson(explanation))) return kDone;
  for (const std::string& line : DescribePool(explanation)) session.console.out << line << "\n";
  return kDone;
}

}  // namespace yad
