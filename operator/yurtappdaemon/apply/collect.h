// Makes the Outcome of a reconcile from the results of its writes, and records in the PlanMemo the values that the
// server did not keep.
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
  // nullopt: the plan has no write of the workload, or the write of the pool's Service failed first.
  std::optional<Result<WrittenWorkload>> workload = std::nullopt;
  std::optional<MergeChanges> not_kept = std::nullopt;  // the requested values that the server did not keep
  std::optional<Status> service = std::nullopt;
};

// Returns the outcome of a plan before its first write: the pools as they are in the plan. If the retry of a rejected
// write is not due yet (PoolPlan::deferred), the pool has the failure of this write.
Outcome OutcomeWithoutWrites(const Plan& plan);

// Returns the indexes of the pools whose workload or Service the plan writes now.
std::vector<std::size_t> PoolsToWrite(const Plan& plan);

// Returns a shortened copy of the error of a failed write. Truncates the message to 4 KiB. Keeps only the reasons of
// the causes, without duplicates. A reconcile keeps the errors of all pools until its last write, so the errors of
// thousands of pools must be short.
Error ShortError(const Error& error);

// Adds the results of the writes to the outcome. `attempts[i]` has the results of the pool with index `writes[i]` in
// the plan. Records in `memo` the values that the server did not keep.
void CollectWrites(const std::vector<std::size_t>& writes, const std::vector<PoolAttempt>& attempts, PlanMemo& memo,
                   Outcome& outcome);

// Adds the removals to the outcome. Returns the pools whose workload could not be removed.
std::set<std::string> CollectRemovals(const std::vector<Removal>& removals, const std::vector<Status>& removed,
                                      PlanMemo& memo, Outcome& outcome);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_APPLY_COLLECT_H_
