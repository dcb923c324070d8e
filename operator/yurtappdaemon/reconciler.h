// One YurtAppDaemon: fetch -> revision -> pools -> workloads -> plan -> apply -> status.
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

// The index that the stores of workloads need beside Controller::kControllerUidIndex.
inline constexpr char kOrphansByNamespace[] = "orphans";  // namespace, of what nobody controls

// Adds both; before the informers run.
void AddIndexes(Store& store);

struct ReconcilerStores {
  Store& daemons;
  Store& pools;
  Store& deployments;
  Store& stateful_sets;
  Store& revisions;
  Informer* services = nullptr;  // on demand: asked for with the first daemon that needs it. Null: there are none
};

// Thread-safe as a controller calls it: never twice at once for one key.
class Reconciler {
 public:
  // Without a limit any number of workloads may be removed at once. Without `misplaced` status counts no such pods.
  Reconciler(Client& client, ReconcilerStores stores, EventSink& events, Clock& clock = Clock::Real(),
             std::optional<RemovalLimit> limit = {}, PlanExecutor::Options apply = {},
             std::shared_ptr<MisplacedPods> misplaced = nullptr);
  ~Reconciler();

  Result<ReconcileResult> Reconcile(const Request& request, std::stop_token stop);

  // Whether we have written this daemon's status, in the state that is shown or after it: then the watch has no news of
  // its status for us. Any thread.
  bool HasWrittenStatus(const ObjectMeta& daemon) const;

 private:
  struct DaemonState;

  std::shared_ptr<DaemonState> StateOf(const ObjectMeta& meta);
  // Says in status, and once in an event, why the spec is not acted upon. What runs stays as it is.
  Result<ReconcileResult> ReportBlocked(const StoredObject& stored, const std::string& reason, const Error& error,
                                        DaemonState& state, std::stop_token stop);
  Result<Snapshot> TakeSnapshot(YurtAppDaemon daemon, RevisionHistory& history, RevisionHistory::State& revisions,
                                std::stop_token stop) const;
  // The plan; nullopt: something had to be written or read first, and all is to be looked at again.
  Result<std::optional<Plan>> MakePlanFor(Snapshot& snapshot, RevisionHistory::State& revisions, const Json& previous,
                                          DaemonState& state, std::stop_token stop);
  // Reads what a revision is about to be marked failed for past the caches, into the stores. Conflict: a pool that went
  // dark is online again.
  Status ConfirmFailures(const Snapshot& snapshot, const Plan& plan, std::stop_token stop);
  // Replaces pods of StatefulSets that wait for a pod that never becomes ready; `last` is NextStuckPools'.
  void ReleaseStuck(const YurtAppDaemon& daemon, const Plan& plan, std::string& last, std::stop_token stop);
  const PlanExecutor& ExecutorFor(const YurtAppDaemon& daemon) const {
    return daemon.kind == WorkloadKind::kDeployment ? deployments_ : stateful_sets_;
  }
  // Writes it if it differs and the last write is long enough ago; else says when to come again.
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
  Guarded<std::map<ObjectKey, std::string>> status_versions_;  // the daemons' resourceVersions after our last write
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_RECONCILER_H_
