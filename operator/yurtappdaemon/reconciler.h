// Reconciles one YurtAppDaemon: fetch -> revision -> pools -> workloads -> plan -> apply -> status.
#ifndef OPERATOR_YURTAPPDAEMON_RECONCILER_H_
#define OPERATOR_YURTAPPDAEMON_RECONCILER_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/base/guarded.h"
#include "operator/client/client.h"
#include "operator/runtime/controller.h"
#include "operator/runtime/event_recorder.h"
#include "operator/runtime/informer.h"
#include "operator/runtime/store.h"
#include "operator/yurtappdaemon/apply.h"
#include "operator/yurtappdaemon/daemon_events.h"
#include "operator/yurtappdaemon/diagnostician.h"
#include "operator/yurtappdaemon/history.h"
#include "operator/yurtappdaemon/misplaced.h"
#include "operator/yurtappdaemon/removal_gate.h"
#include "operator/yurtappdaemon/status.h"

namespace yad {

// The index that the stores of workloads and of revisions need besides Controller::kControllerUidIndex.
inline constexpr char kOrphansByNamespace[] = "orphans";  // the namespace, for objects without a controller

// Adds both indexes, before the informers run.
void AddIndexes(Store& store);

struct ReconcilerStores {
  Store& daemons;
  Store& pools;
  Store& deployments;
  Store& stateful_sets;
  Store& revisions;
  Informer* services = nullptr;  // on demand: starts with the first daemon that needs it. null: no Services are read
};

// Thread-safe, if no two calls of Reconcile for one key run at the same time. A Controller ensures that.
class Reconciler {
 public:
  // Without `limit`, the number of workloads that are removed at once has no limit. Without `misplaced`, status counts
  // no misplaced pods.
  Reconciler(Client& client, ReconcilerStores stores, EventSink& events, Clock& clock = Clock::Real(),
             std::optional<RemovalLimit> limit = {}, PlanExecutor::Options apply = {},
             std::shared_ptr<MisplacedPods> misplaced = nullptr);
  ~Reconciler();

  Result<ReconcileResult> Reconcile(const Request& request, std::stop_token stop);

  // Returns whether this process wrote the daemon's status in the given version or a later one. Then the watch has no
  // news of the status. Thread-safe.
  bool HasWrittenStatus(const ObjectMeta& daemon) const;

 private:
  struct DaemonState;

  std::shared_ptr<DaemonState> StateOf(const ObjectMeta& meta);
  // Reports in status, and once in an event, why the operator does not act on the spec. Workloads stay as they are.
  Result<ReconcileResult> ReportBlocked(const StoredObject& stored, const std::string& reason, const Error& error,
                                        DaemonState& state, std::stop_token stop);
  Result<Snapshot> TakeSnapshot(YurtAppDaemon daemon, RevisionHistory& history, RevisionHistory::State& revisions,
                                std::stop_token stop) const;
  // Returns the plan. nullopt: something had to be written or read first, and the reconcile starts again.
  Result<std::optional<Plan>> MakePlanFor(Snapshot& snapshot, RevisionHistory::State& revisions, const Json& previous,
                                          DaemonState& state, std::stop_token stop);
  // Reads the dark pools, and the workloads into the store, before a revision is marked as failed. Fails with kConflict
  // if such a pool is online again.
  Status ConfirmFailures(const Snapshot& snapshot, const Plan& plan, std::stop_token stop);
  // Replaces pods that never become ready and that block their StatefulSet. `last` is the argument of NextStuckPools.
  void ReleaseStuck(const YurtAppDaemon& daemon, const Plan& plan, std::string& last, std::stop_token stop);
  const PlanExecutor& ExecutorFor(const YurtAppDaemon& daemon) const {
    return daemon.kind == WorkloadKind::kDeployment ? deployments_ : stateful_sets_;
  }
  // Writes the status if it differs and the last write is long enough ago. Returns the time until it may be written;
  // zero if no write is due.
  Result<Duration> WriteStatus(const ObjectMeta& meta, const Json& before, const DaemonStatus& after,
                               DaemonState& state, std::stop_token stop);
  void Forget(const ObjectKey& key);

  Client& client_;
  const ReconcilerStores stores_;
  EventSink& events_;
  Clock& clock_;
  const RemovalGate removals_;
  const DaemonEvents daemon_events_;
  Diagnostician diagnostician_;
  const std::shared_ptr<MisplacedPods> misplaced_;
  const PlanExecutor deployments_;
  const PlanExecutor stateful_sets_;
  Guarded<std::map<ObjectKey, std::shared_ptr<DaemonState>>> states_;
  Guarded<std::map<ObjectKey, std::string>> status_versions_;  // resourceVersion of each daemon after the last write
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_RECONCILER_H_
