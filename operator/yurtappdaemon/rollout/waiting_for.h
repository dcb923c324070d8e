// The reasons why a pool that needs an update is not updated now: the values of `status.pools[].waitingFor`.
#ifndef OPERATOR_YURTAPPDAEMON_ROLLOUT_WAITING_FOR_H_
#define OPERATOR_YURTAPPDAEMON_ROLLOUT_WAITING_FOR_H_

#include <string_view>
#include <vector>

namespace yad {

enum class WaitingFor {
  kNone,
  kSlot,
  kGroup,
  kApproval,
  kPartition,
  kHold,
  kFreeze,
  kWindow,
  kPrefetch,
  kPause,
  kDeletion
};
// Returns the value of `waitingFor`, which is "" for kNone.
std::string_view ToString(WaitingFor reason);
// Returns all values of ToString(WaitingFor) except "".
const std::vector<std::string_view>& WaitingForValues();

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_ROLLOUT_WAITING_FOR_H_
