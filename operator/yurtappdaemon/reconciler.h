// Reconciles one YurtAppDaemon: observe, plan, apply, diagnose, report. Each stage reads the results of the earlier
// stages and does not change them.
#ifndef OPERATOR_YURTAPPDAEMON_RECONCILER_H_
#define OPERATOR_YURTAPPDAEMON_RECONCILER_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "operator/base/synchronized.h"
#include "operator/client/client.h"
#include "operator/runtime/controller.h"
#include "operator/runtime/event_recorder.h"
#include "operator/runtime/store.h"
#include "operator/yurtappdaemon/apply/check_job_writer.h"
#include "operator/yurtappdaemon/apply/executor.h"
#include "operator/yurtappdaemon/apply/image_volumes.h"
#include "operator/yurtappdaemon/apply/prefetch_writer.h"
#include "operator/yurtappdaemon/check_sampler.h"
#include "operator/yurtappdaemon/crd_check.h"
#include "operator/yurtappdaemon/daemon_state.h"
#include "operator/yurtappdaemon/diagnose/misplaced.h"
#include "operator/yurtappdaemon/diagnose/pod_diagnoser.h"
#include "operator/yurtappdaemon/observe/stores.h"
#include "operator/yurtappdaemon/observer.h"
#include "operator/yurtappdaemon/planner.h"
#include "operator/yurtappdaemon/removal_gate.h"
#include "operator/yurtappdaemon/report/daemon_events.h"
#include "operator/yurtappdaemon/report/rollout_notices.h"
#include "operator/yurtappdaemon/report/rollout_trace.h"
#include "operator/yurtappdaemon/reporter.h"

namespace yad {

// The functions that send reports about rollouts to receivers outside the cluster. Empty: there is no receiver. They
// must not block.
struct RolloutListeners {
  std::function<void(const CloudEvent&)> notices = nullptr;
  std::function<void(const std::vector<Span>&)> trace = nullptr;
};

// Thread-safe if two calls of Reconcile for the same key never run at the same time. A Controller ensures this.
class Reconciler {
 public:
  struct Options {
    std::optional<IntOrPercent> max_removals = {};  // nullopt: any number of workloads may be removed together
    PlanExecutor::Options apply = {};
    std::shared_ptr<MisplacedPods> misplaced = nullptr;  // null: status does not count misplaced pods
    std::shared_ptr<CheckSampler> sampler = nullptr;     // null: checks with Prometheus can't run
    std::string prefetch_image = kDefaultPrefetchImage;
    RolloutListeners listeners = {};
    std::shared_ptr<const MissingFields> missing_fields = nullptr;  // null: status has no condition about the CRD
  };
  Reconciler(Client& client, ReconcilerStores stores, EventSink& events, Clock& clock, Options options);

  Result<ReconcileResult> Reconcile(const Request& request, std::stop_token stop);

  // Returns whether this process wrote this version of the daemon's status, or a later version. The watch event of this
  // version then does not need a reconcile. Thread-safe.
  bool HasWrittenStatus(const ObjectMeta& daemon) const { return reporter_.HasWrittenStatus(daemon); }
  // Returns the result of HealthPaceAfter for the daemon's last plan. Thread-safe.
  Duration HealthPaceOf(const ObjectKey& daemon) const;

 private:
  std::shared_ptr<DaemonState> StateOf(const ObjectMeta& meta);
  // Creates and deletes the Jobs of checks, and starts and stops the sampling of Prometheus checks.
  CheckJobOutcome RunChecks(const Snapshot& snapshot, const Plan& plan, DaemonState& state, std::stop_token stop) const;
  // Stores the results that the next plan needs, and reports the writes.
  void RecordOutcome(const Observation& seen, const Outcome& outcome, DaemonState& state) const;
  // Writes the status, and deletes revisions that are no longer needed. Sets `due` to the time until a delayed status
  // may be written, or to zero if no status is delayed.
  Status Report(const Observation& seen, const Plan& plan, const Outcome& outcome, const Diagnoses& diagnoses,
                DaemonState& state, Duration& due, std::stop_token stop);
  Result<ReconcileResult> ReportBlocked(const StoredObject& stored, const Blocked& blocked, DaemonState& state,
                                        std::stop_token stop);
  // Replaces pods that never become ready and block their StatefulSet.
  void ReleaseStuck(const YurtAppDaemon& daemon, const Plan& plan, ExaminedPools& examined, std::stop_token stop);
  void Forget(const ObjectKey& key);

  Client& client_;
  const ReconcilerStores stores_;
  EventSink& events_;
  Clock& clock_;
  const Options options_;
  const RemovalGate removals_;
  ImageVolumes image_volumes_;
  const Observer observer_;
  const PlanExecutor executor_;
  const Planner planner_;
  Reporter reporter_;
  PodDiagnoser pod_diagnoser_;
  // Limits the pools of all daemons whose StatefulSets are examined by ReleaseStuck.
  RateLimiter stuck_reads_{/*qps=*/10, /*burst=*/20, clock_};
  const PrefetchWriter prefetches_;
  Synchronized<std::map<ObjectKey, std::shared_ptr<DaemonState>>> states_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_RECONCILER_H_
