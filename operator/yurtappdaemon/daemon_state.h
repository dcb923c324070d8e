// The state of one daemon between two reconciles.
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
#include "operator/yurtappdaemon/diagnose/misplaced.h"
#include "operator/yurtappdaemon/diagnose/pod_diagnoser.h"
#include "operator/yurtappdaemon/next_look.h"
#include "operator/yurtappdaemon/observe/history.h"
#include "operator/yurtappdaemon/plan/plan.h"
#include "operator/yurtappdaemon/plan/services.h"
#include "operator/yurtappdaemon/removal_gate.h"
#include "operator/yurtappdaemon/report/daemon_events.h"
#include "operator/yurtappdaemon/report/rollout_notices.h"
#include "operator/yurtappdaemon/report/rollout_trace.h"

namespace yad {

// The state that is kept between two reconciles of one daemon. A loss of this state costs requests and time; the
// decisions stay correct.
struct DaemonState {
  DaemonState(std::string daemon_uid, Client& client, Store& revisions)
      : uid(std::move(daemon_uid)), history(client, revisions) {}

  const std::string uid;
  PlanMemo memo;
  ServiceMemo services;
  WritePace pace;
  std::atomic<Duration> health_pace{kFastHealthPace};  // HealthPaceAfter of the last plan; any thread may read it
  RevisionHistory history;
  bool claimed = false;  // true: the revisions that OpenYurt left have kOurRevisionLabel
  std::optional<SteadyTime> last_status_write;
  std::optional<HealthRecord> health;            // set only for RollingUpdate
  bool unlisted_have_soaked = false;             // as Snapshot::unlisted_have_soaked
  std::optional<SteadyTime> failures_confirmed;  // the last time at which live reads confirmed the failed pools
  ClockLeap leap;
  std::optional<std::pair<std::string, std::set<std::string>>>
      begun;                                       // a revision's name, and the groups whose update to it has begun
  std::map<std::string, RefusedJob> refused_jobs;  // as Snapshot::refused_jobs
  std::map<std::string, std::string> refused_prefetches;  // as Snapshot::refused_prefetches
  bool caches_confirmed = false;  // true: the workloads have been read live, as the first update requires
  // The last status that was written, if the server drops some of its fields because the CRD is old; otherwise null.
  Json unkept_status;
  std::set<std::string_view> waits_shown;  // the reasons to wait that have a metric
  RemovalGate::Memory removals;
  DaemonEvents::Memory events;
  RolloutNotices::Memory notices;
  RolloutTrace::Memory trace;
  PodDiagnoser::Memory pod_diagnoser;
  MisplacedPods::Memory misplaced;
  std::set<std::string> deleted;  // names of workloads that status lists and that the operator has deleted
  std::string reported;           // the last message that ReportBlocked reported
  std::string last_stuck;         // the argument `last` of NextStuckPools
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_DAEMON_STATE_H_
