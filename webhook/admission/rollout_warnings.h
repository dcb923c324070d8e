// Warnings about valid rollout settings that are probably mistakes.
#ifndef WEBHOOK_ADMISSION_ROLLOUT_WARNINGS_H_
#define WEBHOOK_ADMISSION_ROLLOUT_WARNINGS_H_

#include <string>
#include <vector>

#include "operator/api/yurtappdaemon.h"
#include "operator/runtime/store.h"

namespace yad {

// Warns of groups in updateStrategy.rollingUpdate that are empty now, that name unknown pools, or that name pools of an
// earlier group.
void WarnOfGroups(const YurtAppDaemon& daemon, const std::vector<ObjectPtr>& pools, std::vector<std::string>& out);

// Warns of windows whose time zone the system can't read. Such a zone is not checked, and the window stays closed.
void WarnOfTimeZones(const YurtAppDaemon& daemon, std::vector<std::string>& out);

// Returns a warning if a request sets annotation approve to a value in which an entry approves no group; "" otherwise.
// `old_object` is null for a new object.
std::string ApprovalWarning(const Json& object, const Json& old_object);

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_ROLLOUT_WARNINGS_H_
