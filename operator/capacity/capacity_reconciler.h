// Reconciles all NodePoolAutoscalers in one pass, so that no node is leased twice. A pass reads the nodes and pods,
// makes a plan for each pool, and writes the Nodes and the status. Passes never overlap, because all events have the
// same key.
#ifndef OPERATOR_CAPACITY_CAPACITY_RECONCILER_H_
#define OPERATOR_CAPACITY_CAPACITY_RECONCILER_H_

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "operator/base/synchronized.h"
#include "operator/capacity/capacity_events.h"
#include "operator/capacity/capacity_plan.h"
#include "operator/capacity/capacity_status.h"
#include "operator/capacity/node_rejections.h"
#include "operator/capacity/node_release.h"
#include "operator/client/client.h"
#include "operator/runtime/controller.h"
#include "operator/runtime/event_recorder.h"
#include "operator/runtime/store.h"

namespace yad {

// Index of the pods that have no node yet, by the pool in their node selector.
inline constexpr char kPodsByWantedPool[] = "wantedPool";
void AddPodsByWantedPool(Store& pods);

class CapacityReconciler {
 public:
  struct Stores {
    Store& autoscalers;
    const Store& pools;
    Store& nodes;
    const Store& pods;  // must have the indexes kPodsByNode and kPodsByWantedPool
  };
  struct Options {
    Duration resync = std::chrono::seconds(30);  // longest time between two passes
    std::function<ResourceType()> pool_type;     // returns the API version of NodePool to read
  };

  CapacityReconciler(Client& client, const Stores& stores, EventSink& events, Options options,
                     Clock& clock = Clock::Real());

  // Returns the only key of the work queue. Events of all objects add this key.
  static const Request& Key();
  // Runs one pass. Not thread-safe.
  Result<ReconcileResult> Reconcile(std::stop_token stop);
  // Returns the last plan of each autoscaler, for /debug/capacity. Thread-safe.
  Json Describe() const;

 private:
  // The state of one pass.
  struct Pass {
    WallTime now;
    std::vector<ObjectPtr> alive;  // keeps the Nodes and Pods of this pass alive
    std::vector<const Node*> nodes;
    std::map<std::string, std::vector<const Node*>> leased;  // by the pool in the lease
    // Nodes with the releasing taint whose lease a user has removed, or whose pool a user has changed.
    std::vector<const Node*> with_stale_taint;
    std::map<std::string, const NodePoolAutoscaler*> of_pool;  // the autoscaler of each pool; nullptr if it is invalid
    std::set<const Node*> taken;                               // plans of this pass must not lease them
    std::set<std::string> releasing;                           // uids of Nodes that NodeRelease must read again
    std::optional<WallTime> wake;  // the time of the next pass, if it must run before the resync
    std::optional<Error> failed;   // the last error

    const std::vector<const Node*>& LeasedBy(const std::string& pool) const {
      static const std::vector<const Node*> none;
      const auto found = leased.find(pool);
      return found == leased.end() ? none : found->second;
    }
  };
  struct PoolView {
    ObjectMeta meta;
    bool gone = false;
    PoolAttributes attributes;
    bool host_network = false;
  };

  // Returns when the next pass must run.
  ReconcileResult AfterPass(const Pass& pass) const;
  Status Survey(Pass& pass);
  // Removes the releasing taint from the Nodes in pass.with_stale_taint. A user has removed their lease or changed
  // their pool, so no release will remove the taint.
  void UntaintKeptNodes(Pass& pass, std::stop_token stop);
  Status ReportInvalid(const StoredObject& object, const Error& fault, Pass& pass, std::stop_token stop);
  Result<PoolView> ViewOf(const std::string& pool, const Pass& pass, std::stop_token stop) const;
  NodeRejections& RejectionsOf(const NodePoolAutoscaler& autoscaler);
  // Returns why the autoscaler must not begin leases and releases, or an empty Rejection if it may begin them. There
  // are two reasons:
  // - The server has rejected the changes of several Nodes in a row.
  // - The server has rejected a change, and there is no other Node to lease or release.
  Rejection WhyStopped(const NodePoolAutoscaler& autoscaler, const Pass& pass);
  Status RunOne(const NodePoolAutoscaler& autoscaler, Pass& pass, std::stop_token stop);
  // Undoes the releases that have begun in the pool. Otherwise, pods could not use these nodes for as long as the
  // autoscaler can't complete the releases.
  void UndoReleases(const NodePoolAutoscaler& autoscaler, Pass& pass, std::stop_token stop);
  // Releases the nodes of pools that no longer have an autoscaler.
  Status DrainForgotten(Pass& pass, std::stop_token stop);
  Result<CapacityPlan> Plan(const NodePoolAutoscaler& autoscaler, const PoolView& pool, bool stopped, Pass& pass);
  // Writes the planned changes to the Nodes.
  void Apply(const NodePoolAutoscaler& autoscaler, const PoolView& pool, const CapacityPlan& plan, Pass& pass,
             std::stop_token stop);
  // Handles the result of a write to the node. Returns whether the write succeeded.
  bool HandleWriteResult(const NodePoolAutoscaler& autoscaler, const Node& node, const Status& written, Pass& pass);
  // Reads the pool from the server, and returns whether `pool` is still up to date. An outdated `pool` may lack a new
  // taint that would evict pods from a leased node.
  bool ConfirmPool(const std::string& name, const PoolView& pool, Pass& pass, std::stop_token stop) const;
  Status Lease(const Node& node, const NodeLease& lease, const PoolAttributes& pool, std::stop_token stop);
  Status Release(const NodePoolAutoscaler& autoscaler, const CapacityPlan::Release& release, Pass& pass,
                 std::stop_token stop);
  Status WriteNode(const Node& node, const Json& patch, std::stop_token stop);
  // If the cache was stale, writes nothing and requests another pass.
  Status WriteStatus(const ObjectMeta& meta, const Json& before, const Json& after, Pass& pass, std::stop_token stop);

  Client& client_;
  const Stores stores_;
  const CapacityEvents events_;
  const Options options_;
  Clock& clock_;
  NodeRelease release_;
  std::optional<SteadyTime> last_pass_;
  std::map<std::string, NodeRejections> rejections_;  // by uid of the autoscaler
  std::set<std::string> invalid_leases_;              // uids of Nodes whose invalid lease was reported
  // The last plan of each autoscaler that has metrics, by name.
  Synchronized<std::map<std::string, Json>> described_;
};

}  // namespace yad

#endif  // OPERATOR_CAPACITY_CAPACITY_RECONCILER_H_
