// The values of `status.pools[].phase` and `.reason`.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_POOL_PHASE_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_POOL_PHASE_H_

#include <string_view>

namespace yad {

enum class PoolPhase {
  kUnknown,  // no phase, or a phase of a later version of the operator
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
// Returns the phase's name, such as "Pending"; "" for kUnknown.
std::string_view ToString(PoolPhase phase);
PoolPhase ParsePoolPhase(std::string_view text);

// Reasons of failures that are not caused by the revision.
inline constexpr char kInvalidPoolName[] = "InvalidPoolName";
inline constexpr char kWorkloadConflict[] = "WorkloadConflict";
inline constexpr char kServiceConflict[] = "ServiceConflict";
inline constexpr char kServiceQuotaExceeded[] = "ServiceQuotaExceeded";
inline constexpr char kQuotaExceeded[] = "QuotaExceeded";
// Reasons of other failures.
inline constexpr char kInvalidOverride[] = "InvalidOverride";
inline constexpr char kWebhookFailed[] = "WebhookFailed";
inline constexpr char kDeadlineExceeded[] = "ProgressDeadlineExceeded";
inline constexpr char kCheckFailed[] = "CheckFailed";
// Reasons of Offline pools.
inline constexpr char kNoReadyNode[] = "NoReadyNode";
inline constexpr char kWentDarkAfterUpdate[] = "WentDarkAfterUpdate";
inline constexpr char kSitesOffline[] = "SitesOffline";  // pools that were not updated also went offline

// The reason of a waiting pool. The annotations of its NodePool about update windows are invalid.
inline constexpr char kInvalidWindow[] = "InvalidWindow";
// The reason of a waiting pool. One of its Nodes is in maintenance.
inline constexpr char kNodeMaintenance[] = "NodeMaintenance";

// The reason of a pool whose Deployment a user has paused (`kubectl rollout pause`). Kubernetes uses the same reason.
inline constexpr char kDeploymentPaused[] = "DeploymentPaused";

// The reason of an Unhealthy pool whose workload only scales. The pool continues to soak.
inline constexpr char kScaling[] = "Scaling";

// Returns whether an Offline pool with this reason may be offline because of its update. With SitesOffline, the update
// is not the suspected cause, because pools that were not updated also went offline.
inline bool IsOfflineAfterUpdate(std::string_view reason) { return reason == kWentDarkAfterUpdate; }

// Returns whether the revision may be the cause of a failure with this reason.
inline bool IsCausedByRevision(std::string_view reason) {
  return !reason.empty() && reason != kInvalidPoolName && reason != kWorkloadConflict && reason != kServiceConflict &&
         reason != kServiceQuotaExceeded && reason != kQuotaExceeded;
}
// Returns whether a rejected write counts for maxFailures. It does not count if the revision is not the cause of the
// rejection. Examples: a webhook is unreachable, or the operator lacks a permission.
bool CountsAsFailure(std::string_view reason, std::string_view message);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_POOL_PHASE_H_
