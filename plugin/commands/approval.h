// Approves groups of a rollout that wait for a user's approval. Pure.
#ifndef PLUGIN_COMMANDS_APPROVAL_H_
#define PLUGIN_COMMANDS_APPROVAL_H_

#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"

namespace yad {

// Adds "<status.updateRevision>/<group>" to annotation apps.openyurt.io/approve, and removes the entries of other
// revisions. `approved_before` gets the groups that were approved already. Returns false if the annotation does not
// change. Fails if a group does not wait for approval (the error names the groups that do), or if status is about an
// older spec.
Result<bool> Approve(const std::vector<std::string>& groups, Json& daemon, std::vector<std::string>& approved_before);

// Returns the names of the groups with approval Manual, in the order of the spec.
std::vector<std::string> ManualGroups(const Json& daemon);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_APPROVAL_H_
