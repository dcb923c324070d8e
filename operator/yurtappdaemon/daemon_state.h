// The state of one daemon between two reconciles.
#ifndef OPERATOR_YURTAPPDAEMON_DAEMON_STATE_H_
#define OPERATOR_YURTAPPDAEMON_DAEMON_STATE_H_

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "operator/api/object.h"
#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "operator/runtime/store.h"
#include "operator/yurtappdaemon/apply/write_pace.h"
#include "operator/yurtappdaemon/diagnose/misplaced.h"
#include "operator/yurtappdaemon/diagnose/pod_diagnoser.h"
#include "operator/yurtappdaemon/observe/history.h"
#include "operator/yurtappdaemon/plan/plan.h"
#include "operator/yurtappdaemon/plan/services.h"
#include "operator/yurtappdaemon/removal_gate.h"
#include "operator/yurtappdaemon/report/daemon_events.h"

namespace yad {

// The state that is kept between two reconciles of one daemon. A loss costs time, never correctness.
struct DaemonState {
  DaemonState(std::string daemon_uid, Client& client, Store& revisions)
      : uid(std::move(daemon_uid)), history(client, revisions) {}

  const std::string uid;
  PlanMemo memo;
  ServiceMemo services;
  WritePace pace;
  RevisionHistory history;
  bool claimed = false;  // OpenYurt's revisions are labelled
  std::optional<SteadyTime> last_status_write;
  std::optional<HealthRecord> health;            // only for RollingUpdate
  bool unlisted_have_soaked = false;             // Snapshot::unlisted_have_soaked
  std::optional<SteadyTime> failures_confirmed;  // the last live read before a revision is marked as failed
  ClockLeap leap;
  std::optional<std::pair<std::string, std::set<std::string>>> begun;  // a revision, and the groups begun on it
  bool caches_confirmed = false;  // workloads were read live before the first update
  Json unkept_status;  // the status as it was written, if the server drops fields that an old CRD lacks; otherwise null
  RemovalGate::Memory removals;
  DaemonEvents::Memory events;
  PodDiagnoser::Memory pod_diagnoser;
  MisplacedPods::Memory misplaced;
  std::set<std::string> deleted;  // names of workloads that status lists and that the operator has deleted
  std::string reported;           // the last message of ReportBlocked
  std::string last_stuck;         // the argument of NextStuckPools
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_DAEMON_STATE_H_
