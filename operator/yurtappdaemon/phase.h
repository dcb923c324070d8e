// The values of `status.pools[].phase` and `.reason`.
#ifndef OPERATOR_YURTAPPDAEMON_PHASE_H_
#define OPERATOR_YURTAPPDAEMON_PHASE_H_

#include <string>

namespace yad {

inline constexpr char kRemovingPhase[] = "Removing";
inline constexpr char kOfflinePhase[] = "Offline";
inline constexpr char kFailedPhase[] = "Failed";
inline constexpr char kPendingPhase[] = "Pending";
inline constexpr char kUpdatingPhase[] = "Updating";
inline constexpr char kUnhealthyPhase[] = "Unhealthy";
inline constexpr char kSoakingPhase[] = "Soaking";
inline constexpr char kReadyPhase[] = "Ready";

// Failures that the revision does not cause: an invalid pool name, a name that another owner has, and a create that a
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
// Reasons of Offline pools.
inline constexpr char kNoReadyNode[] = "NoReadyNode";
inline constexpr char kWentDark[] = "WentDarkAfterUpdate";
inline constexpr char kSitesOffline[] = "SitesOffline";  // dark, and pools that were not updated went offline too

// Reason of an Unhealthy pool whose other replicas are as healthy as before. Its soak goes on.
inline constexpr char kScaling[] = "Scaling";

// Returns whether an Offline pool with this reason counts against its update, at once or after an outage.
inline bool IsDark(const std::string& reason) { return reason == kWentDark; }

inline bool IsRevisionsFault(const std::string& reason) {
  return !reason.empty() && reason != kInvalidPoolName && reason != kWorkloadConflict && reason != kServiceConflict &&
         reason != kServiceQuotaExceeded && reason != kQuotaExceeded;
}
// Returns whether the reason counts for maxFailures. An unreachable webhook says nothing about the revision.
inline bool CountsAsFailure(const std::string& reason) { return IsRevisionsFault(reason) && reason != kWebhookFailed; }

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PHASE_H_
