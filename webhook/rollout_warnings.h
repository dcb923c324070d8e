// What is legal and probably wrong in how a daemon is to be rolled out.
#ifndef WEBHOOK_ROLLOUT_WARNINGS_H_
#define WEBHOOK_ROLLOUT_WARNINGS_H_

#include <string>
#include <vector>

#include "operator/api/yurtappdaemon.h"
#include "operator/runtime/store.h"

namespace yad {

// Groups of updateStrategy.rollingUpdate that are empty now, or name pools that are not there or in an earlier group.
void WarnOfGroups(const YurtAppDaemon& daemon, const std::vector<ObjectPtr>& pools, std::vector<std::string>& out);

// About annotation approve, where a request sets it to something that approves nothing; "": nothing to warn of.
// `old_object` is null for a new one.
std::string ApprovalWarning(const Json& object, const Json& old_object);

}  // namespace yad

#endif  // WEBHOOK_ROLLOUT_WARNINGS_H_
