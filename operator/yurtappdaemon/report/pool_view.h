// One pool as status shows it. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_REPORT_POOL_VIEW_H_
#define OPERATOR_YURTAPPDAEMON_REPORT_POOL_VIEW_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>

#include "operator/yurtappdaemon/diagnose/diagnosis.h"
#include "operator/yurtappdaemon/observe/status_view.h"
#include "operator/yurtappdaemon/plan/outcome.h"
#include "operator/yurtappdaemon/report/status_lists.h"

namespace yad {

struct PoolView : PoolEntry {
  bool healthy = false;    // in its workload's present generation, with no write outstanding
  bool soaking = false;    // healthy, but not for minReadySeconds yet
  bool verifying = false;  // not all checks of its update have passed
  bool updated = false;    // on updateRevision, healthy, soaked and verified; or Offline, with the workload written
  bool settled = false;    // has finished its update to updateRevision, even if it is unhealthy now
  bool assigned = false;   // it has a workload on updateRevision that no write of this reconcile has changed
  bool excused = false;    // failed, but the revision is not the cause
  bool revision_failed = false;  // failed, and the revision may be the cause
  bool late = false;             // failed, because it was not healthy within the deadline
};

// The data that all pools of a daemon share.
struct ViewContext {
  const Snapshot& snapshot;
  const PoolStatusIndex& old;
  const Rollout* rollout = nullptr;  // null: the strategy is not RollingUpdate
  const Diagnoses* diagnoses = nullptr;
};

PoolView MakeView(const PoolOutcome& result, const ViewContext& context);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_REPORT_POOL_VIEW_H_
