// Condition Progressing of a RollingUpdate. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_REPORT_ROLLOUT_PROGRESS_H_
#define OPERATOR_YURTAPPDAEMON_REPORT_ROLLOUT_PROGRESS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "operator/api/conditions.h"
#include "operator/yurtappdaemon/plan/plan.h"

namespace yad {

// Reasons of condition Progressing.
inline constexpr char kRollingOut[] = "RollingOut";
inline constexpr char kRollingBack[] = "RollingBack";
inline constexpr char kRolledBack[] = "RolledBack";
inline constexpr char kWaitingForApproval[] = "WaitingForApproval";
inline constexpr char kBudgetExceeded[] = "FailureBudgetExceeded";
inline constexpr char kRolloutComplete[] = "RolloutComplete";
inline constexpr char kPartitionReached[] = "PartitionReached";
inline constexpr char kPoolsHeld[] = "PoolsHeld";
inline constexpr char kWaitingForWindow[] = "WaitingForWindow";
inline constexpr char kFrozen[] = "Frozen";
inline constexpr char kChecksUnavailable[] = "ChecksUnavailable";
inline constexpr char kDaemonSetsUnreadable[] = "DaemonSetsUnreadable";
inline constexpr char kWaitingForDeletion[] = "WaitingForDeletion";
inline constexpr char kPaused[] = "Paused";

// Returns a message such as "updates of all YurtAppDaemons are frozen until 2026-12-27T00:00:00Z: Christmas".
std::string DescribeFreeze(const Freeze& freeze);

// Returns the error because of which no update starts, although there is no freeze.
std::string DescribeBlockingError(const Snapshot& snapshot);

// Returns a message such as "pool a: Unschedulable: Insufficient memory, and 1 more pool". `pool` is the first of the
// `failed` pools. The length of the message is bounded.
std::string DescribeFailure(std::string_view pool, const std::string& reason, const std::string& message,
                            std::size_t failed);

// The counts of pools in messages about a RollingUpdate. They count the pools of its current group, or in a rollback
// all pools. Each count has the same meaning as in status.
struct RolloutNumbers {
  std::int64_t pools = 0, updated = 0, failed = 0;
  std::int64_t held = 0;  // pools whose update a hold blocks
  std::string failure;    // the first pool that has failed on the target (DescribeFailure); "" if none has failed
};

// Returns the condition Progressing for RollingUpdate. Returns nullopt if the rollout neither runs nor is stopped. The
// caller then sets the same condition as for other strategies.
std::optional<Condition> ProgressOf(const Snapshot& snapshot, const Rollout& rollout, const RolloutNumbers& numbers);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_REPORT_ROLLOUT_PROGRESS_H_
