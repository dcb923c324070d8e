// Builds the status of a daemon. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_REPORT_STATUS_H_
#define OPERATOR_YURTAPPDAEMON_REPORT_STATUS_H_

#include <string>

#include "operator/base/clock.h"
#include "operator/yurtappdaemon/report/pool_view.h"

namespace yad {

// Returns the status. A condition or a phase that has not changed keeps its time from the previous status, so the
// status of an unchanged cluster does not change.
Json BuildStatus(const StatusInput& input);

// Returns the merge patch that turns the status `before` into `after`, or null if they are equal. The patch applies
// only to the daemon with this uid.
Json DaemonStatusPatch(const Json& before, const Json& after, const std::string& uid);

// Returns the old status with conditions that report why the operator does not act on the spec.
Json BuildBlockedStatus(const ObjectMeta& meta, const Json& object, const std::string& reason, const Error& error,
                        WallTime now);
// Returns whether the status already reports this reason and this error.
bool ShowsBlocked(const Json& status, const std::string& reason, const Error& error);

// Returns whether status contains a blocked removal with this token.
bool ShowsRemovalBlocked(const Json& status, const std::string& token);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_REPORT_STATUS_H_
