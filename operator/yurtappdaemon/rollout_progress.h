// What condition Progressing says of a RollingUpdate. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_ROLLOUT_PROGRESS_H_
#define OPERATOR_YURTAPPDAEMON_ROLLOUT_PROGRESS_H_

#include <optional>

#include "operator/api/conditions.h"
#include "operator/yurtappdaemon/plan.h"

namespace yad {

// Its reasons beside those of the other strategies.
inline constexpr char kRollingOut[] = "RollingOut";
inline constexpr char kRollingBack[] = "RollingBack";
inline constexpr char kRolledBack[] = "RolledBack";
inline constexpr char kWaitingForApproval[] = "WaitingForApproval";
inline constexpr char kBudgetExceeded[] = "FailureBudgetExceeded";
inline constexpr char kRolloutComplete[] = "RolloutComplete";

// nullopt: nothing is on its way, and nothing holds it up; what is to be said is as with any strategy.
std::optional<Condition> ProgressOf(const Snapshot& snapshot, const Rollout& rollout);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_ROLLOUT_PROGRESS_H_
