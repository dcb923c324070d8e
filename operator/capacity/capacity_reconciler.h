// All NodePoolAutoscalers in one pass: survey -> plan -> writes to Nodes -> status. One key, so that one writer leases
// for all pools, and no node is leased twice.
#ifndef OPERATOR_CAPACITY_CAPACITY_RECONCILER_H_
#define OPERATOR_CAPACITY_CAPACITY_RECONCILER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "operator/base/guarded.h"
#include "operator/capacity/capacity_events.h"
#include "operator/capacity/capacity_status.h"
#include "operator/capacity/node_release.h"
#include "operator/capacity/planner.h"
#include "operator/client/client.h"
#include "operator/runtime/controller.h"
#include "operator/runtime/event_recorder.h"
#include "operator/runtime/store.h"

namespace yad {

// Of the pods' Store: the pool that a pod without a node aims at.
inline constexpr char kPodsByAim[] = "aim";
void AddPodsByAim(Store& pods);

class CapacityReconciler {
 public:
  struct Stores {
    Store& autoscalers;
    const Store& pools;
    Store& nodes;
    const Store& pods;  // by kPodsByNode and kPodsByAim
  };
  struct Options {
    Duration resync = std::chrono::seconds(30);  // a pass at least that often
    std::function<ResourceType()> pool_type;     // which version of NodePool to read live
  };

  CapacityReconciler(Client& client, const Stores& stores, EventSink& events, Options options,
                     Clock& clock = Clock::Real());

  // The key that stands for everything.
  static const Request& Key();
  // Never twice at once.
  Result<ReconcileResult> Reconcile(std::stop_token stop);
  // The last pass's plans by autoscaler, for /debug/capacity. Any thread.
  Json Describe() const;

 private:
  // What one pass finds of the cluster, and what it has done to it.
  struct Pass {
    WallTime now;
    std::vector<ObjectPtr> alive;  // what all these pointers point into
    std::vector<const Node*> nodes;
    std::map<std::string, std::vector<const Node*>> leased;    // by the pool that the lease names
    std::map<std::string, const NodePoolAutoscaler*> of_pool;  // who leases for it; null: one with a bad spec
    std::set<const Node*> taken;                               // leased in this pass
    std::set<std::string> releasing;                           // Nodes, by uid, that wait for their second read
    std::optional<WallTime> wake;
    std::optional<Error> failed;  // a write that is to be tried again
  };
  struct PoolView {
    bool gone = false;
    PoolAttributes attributes;
    bool host_network = false;
  };

  // By the server, which is not asked again at once.
  struct Refused {
    Refusal refusal;
    std::int64_t generation = 0;  // of the autoscaler
    SteadyTime at;
  };

  Status Survey(Pass& pass);
  const Refused* StandingRefusal(const ObjectMeta& meta) const;  // nullptr: there is none
  void ReportJunk(const std::map<const Node*, std::string>& junk);
  Status ReportInvalid(const StoredObject& object, const Error& fault, const Pass& pass, std::stop_token stop);
  Result<PoolView> ViewOf(const std::string& pool, const Pass& pass, std::stop_token stop) const;
  Status RunOne(const NodePoolAutoscaler& autoscaler, Pass& pass, std::stop_token stop);
  // Leases of pools that nobody leases for any more.
  Status DrainForgotten(Pass& pass, std::stop_token stop);
  Result<CapacityPlan> Plan(const NodePoolAutoscaler& autoscaler, const PoolView& pool, bool stopped, Pass& pass) const;
  // The writes of a plan; a Refusal where the server does not let a node's pool be changed.
  Refusal Apply(const NodePoolAutoscaler& autoscaler, const PoolView& pool, const CapacityPlan& plan, Pass& pass,
                std::stop_token stop);
  Status Release(const NodePoolAutoscaler& autoscaler, const CapacityPlan::Release& release, Pass& pass,
                 std::stop_token stop);
  Status WriteNode(const Node& node, const Json& patch, std::stop_token stop);
  Status WriteStatus(const ObjectMeta& meta, const Json& before, const Json& after, std::stop_token stop);

  Client& client_;
  const Stores stores_;
  const CapacityEvents events_;
  const Options options_;
  Clock& clock_;
  NodeRelease release_;
  std::optional<SteadyTime> last_pass_;
  std::map<std::string, Refused> refused_;  // by uid of the autoscaler
  std::set<std::string> shown_;             // autoscalers that have metrics
  std::set<std::string> junk_;              // Nodes, by uid, whose lease was reported
  Guarded<Json> described_;
};

}  // namespace yad

#endif  // OPERATOR_CAPACITY_CAPACITY_RECONCILER_H_
