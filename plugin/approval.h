// Letting groups of a rollout begin that wait for a person. Pure.
#ifndef PLUGIN_APPROVAL_H_
#define PLUGIN_APPROVAL_H_

#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"

namespace yad {

// Adds "<status.updateRevision>/<group>" to annotation apps.openyurt.io/approve, and takes entries of other revisions
// out. Groups that are listed already are appended to `approved_before`. False: nothing is to be written. An Error
// where a group is none that waits for approval (it names those that are), or status speaks of an older spec.
Result<bool> Approve(const std::vector<std::string>& groups, Json& daemon, std::vector<std::string>& approved_before);

// Names of the groups with approval Manual, as spec lists them.
std::vector<std::string> ManualGroups(const Json& daemon);

}  // namespace yad

#endif  // PLUGIN_APPROVAL_H_
