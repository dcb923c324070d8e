// The values of `status.pools[].phase` and `.reason`.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_POOL_PHASE_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_POOL_PHASE_H_

#include <string_view>

namespace yad {

enum class PoolPhase {
  kUnknown,  // no phase, or a phase of a later version
  kPending,
  kUpdating,
  kSoaking,
  kVerifying,
  kReady,
  kUnhealthy,
  kFailed,
  kOffline,
  kRemoving,
};
// Returns "Pending" and so on; "" for kUnknown.
std::string_view ToString(PoolPhase phase);
PoolPhase ParsePoolPhase(std::string_view text);

// Failures that the revision does not cause: an invalid pool name, a name that another owner has, and a creation that a
// quota rejects.
inline constexpr char kInvalidPoolName[] = "InvalidPoolName";
inline constexpr char kWorkloadConflict[] = "WorkloadConflict";
inline constexpr char kServiceConflict[] = "ServiceConflict";
inline constexpr char kServiceQuotaExceeded[] = "ServiceQuotaExceeded";
inline constexpr char kQuotaExceeded[] = "QuotaExceeded";
// Other failures.
inline constexpr char kInvalidOverride[] = "InvalidOverride";
inline constexpr char kWebhookFailed[] = "WebhookFailed";
inline constexpr char kDeadlineExceeded[] = "ProgressDeadlineExceeded";
inline constexpr char kCheckFailed[] = "CheckFailed";
// Reasons of Offline pools.
inline constexpr char kNoReadyNode[] = "NoReadyNode";
inline constexpr char kWentDark[] = "WentDarkAfterUpdate";
inline constexpr char kSitesOffline[] = "SitesOffline";  // offline since the update, as are pools that were not updated

// The reason of a waiting pool. The annotations of its NodePool about update windows are invalid.
inline constexpr char kInvalidWindow[] = "InvalidWindow";
// The reason of a waiting pool. One of its Nodes is in maintenance.
inline constexpr char kNodeMaintenance[] = "NodeMaintenance";

// The reason of an Unhealthy pool that only scales. The replicas that it keeps are as healthy as before, so its soak
// continues.
inline constexpr char kScaling[] = "Scaling";

// Returns whether an Offline pool with this reason counts against its update.
inline bool IsDark(std::string_view reason) { return reason == kWentDark; }

inline bool IsRevisionsFault(std::string_view reason) {
  return !reason.empty() && reason != kInvalidPoolName && reason != kWorkloadConflict && reason != kServiceConflict &&
         reason != kServiceQuotaExceeded && reason != kQuotaExceeded;
}
// Returns whether a rejected write counts for maxFailures. An unreachable webhook or a missing right of the operator is
// not a fault of the revision.
bool CountsAsFailure(std::string_view reason, std::string_view message);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_POOL_PHASE_H_
