// Combines the attempted writes of one reconcile into its Outcome. Changes nothing but the memo.
#ifndef OPERATOR_YURTAPPDAEMON_APPLY_COLLECT_H_
#define OPERATOR_YURTAPPDAEMON_APPLY_COLLECT_H_

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/yurtappdaemon/apply/workload_writer.h"
#include "operator/yurtappdaemon/plan/outcome.h"
#include "operator/yurtappdaemon/plan/plan.h"

namespace yad {

// The attempted writes of one pool.
struct PoolAttempt {
  WorkloadAttempt workload;
  std::optional<Undone> undone;  // the values of the request that the server's response lacks
  std::optional<Result<ObjectPtr>> service = std::nullopt;
  bool blocked = false;  // the workload was not written, because the write of its Service failed
};

// Returns the outcome before any write: the pools as the plan saw them, and the rejected writes that are not retried
// yet.
Outcome OutcomeWithoutWrites(const Plan& plan);

// Returns the indexes of the pools in the plan that have something to write.
std::vector<std::size_t> PoolsToWrite(const Plan& plan);

// Keeps in outcome.retry the error with the longest wait. If a Conflict, which is retried soon, determined the wait,
// the other failed writes would be retried too soon.
void Retry(const Error& error, Outcome& outcome);

// Adds the results of `attempts` to the outcome. `attempts[i]` is about the pool with index `writes[i]` in the plan.
// Records in the memo the values that the server did not keep.
void CollectWrites(const std::vector<std::size_t>& writes, const std::vector<PoolAttempt>& attempts, PlanMemo& memo,
                   Outcome& outcome);

// Adds the removals to the outcome. Returns the pools whose workload could not be removed.
std::set<std::string> CollectRemovals(const std::vector<Removal>& removals, const std::vector<Status>& removed,
                                      PlanMemo& memo, Outcome& outcome);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_APPLY_COLLECT_H_
