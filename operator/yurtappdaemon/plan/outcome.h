// The result of the writes of one plan. Plain data.
#ifndef OPERATOR_YURTAPPDAEMON_PLAN_OUTCOME_H_
#define OPERATOR_YURTAPPDAEMON_PLAN_OUTCOME_H_

#include <optional>
#include <string>
#include <vector>

#include "operator/base/error.h"
#include "operator/yurtappdaemon/plan/plan.h"

namespace yad {

// One selected pool after the plan's writes.
struct PoolOutcome {
  const PoolPlan* plan = nullptr;
  std::optional<WorkloadRef> workload;  // as the server has it now; nullopt if it could not be created
  bool outstanding = false;             // a planned write has not succeeded, and is retried
  std::string failure_reason;           // from the plan, or from the server that rejected the write
  std::string failure_message;
  std::string not_kept;      // a JSON pointer to a value that the server did not keep as written
  std::string service = {};  // the name of the pool's Service; "" if the pool has none
};

struct Outcome {
  std::vector<PoolOutcome> pools;    // in the order of the plan
  std::vector<WorkloadRef> leaving;  // workloads of pools that are no longer selected, which may still exist
  // Names of pools, by the kind of write to their workload.
  std::vector<std::string> created, updated, scaled, repaired, adopted, removed, duplicates_removed;
  std::vector<std::string> deleted;  // names of workloads that are gone, or whose deletion the server has accepted
  // Names of pools, by the kind of write to their Service.
  std::vector<std::string> services_created, services_updated, services_repaired, services_removed;
  // The error of a write that must be retried. The retry waits for the backoff of the daemon in the work queue, or for
  // the time that the server requested (retry_after).
  std::optional<Error> retry;
  // Set if the plan was not carried out, because the daemon has changed since the plan was made, because an earlier
  // daemon of this name left workloads that are not in the plan, or because a read failed.
  std::optional<Error> rejected;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_OUTCOME_H_
