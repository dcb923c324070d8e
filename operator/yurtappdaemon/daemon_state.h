// The state of one daemon that the process keeps between two reconciles.
#ifndef OPERATOR_YURTAPPDAEMON_DAEMON_STATE_H_
#define OPERATOR_YURTAPPDAEMON_DAEMON_STATE_H_

#include <atomic>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "operator/api/object.h"
#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "operator/runtime/store.h"
#include "operator/yurtappdaemon/apply/write_pace.h"
#include "operator/yurtappdaemon/crd_check.h"
#include "operator/yurtappdaemon/diagnose/pod_diagnoser.h"
#include "operator/yurtappdaemon/diagnose/stuck_pods.h"
#include "operator/yurtappdaemon/next_reconcile.h"
#include "operator/yurtappdaemon/observe/history.h"
#include "operator/yurtappdaemon/plan/plan.h"
#include "operator/yurtappdaemon/plan/services.h"
#include "operator/yurtappdaemon/removal_gate.h"
#include "operator/yurtappdaemon/report/daemon_events.h"
#include "operator/yurtappdaemon/report/rollout_notices.h"
#include "operator/yurtappdaemon/report/rollout_trace.h"

namespace yad {

// Saves requests and time. If the state is lost, the decisions stay correct.
struct DaemonState {
  DaemonState(std::string daemon_uid, Client& client, Store& revisions)
      : uid(std::move(daemon_uid)), history(client, revisions) {}

  const std::string uid;
  PlanMemo memo;
  ServiceMemo services;
  WritePace pace;
  // The shortest time between reconciles that only health events cause (HealthPaceAfter). Any thread may read it.
  std::atomic<Duration> health_pace{kFastHealthPace};
  RevisionHistory history;
  KnownSpec known_spec;
  bool claimed = false;  // kOurRevisionLabel was added to the revisions of OpenYurt
  std::optional<SteadyTime> last_status_write;
  std::optional<HealthRecord> health;  // set only for RollingUpdate
  bool unlisted_have_soaked = false;   // see Snapshot
  // The time when reads from the apiserver last confirmed that the failed pools have failed.
  std::optional<SteadyTime> failures_confirmed;
  ClockLeap leap;  // detects changes of the wall clock
  // The name of a revision, and the groups of pools whose update to this revision has begun.
  std::optional<std::pair<std::string, std::set<std::string>>> begun;
  // True while Jobs of an earlier spec may still exist, although no check of the current spec is a Job. nullopt: not
  // known yet.
  std::optional<bool> jobs_left;
  std::map<std::string, RejectedJob> rejected_jobs;             // see Snapshot
  std::map<std::string, RejectedPrefetch> rejected_prefetches;  // see Snapshot
  std::map<std::string, WallTime> prefetches_since;             // PrefetchRef::since, by the uid of the DaemonSet
  // True after live reads have confirmed the cached workloads. The process makes these reads before its first update,
  // because its caches may be stale.
  bool caches_confirmed = false;
  // True after a live read has confirmed the cached status, from which the process restores the state of a rollout.
  bool status_confirmed = false;
  // The last status that this process wrote, if the server dropped some of its fields because of an old CRD. Otherwise
  // null.
  Json written_status;
  bool was_incomplete = false;             // see StatusInput
  std::set<std::string_view> waits_shown;  // the values of waitingFor that have a metric
  RemovalGate::Memory removals;
  EventMemory events;
  NoticeMemory notices;
  TraceMemory trace;
  PodDiagnoser::Memory pod_diagnoser;
  bool misplaced_restored = false;  // see MisplacedPods::CountsOf
  std::set<std::string> deleted;    // names of workloads that status lists and that the operator has deleted
  std::string reported;             // the last message that ReportBlocked reported
  ExaminedPools stuck_pools;        // see NextStuckPools
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_DAEMON_STATE_H_
