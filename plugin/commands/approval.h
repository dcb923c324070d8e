// Approves groups of a rollout that wait for a user's approval. Pure.
#ifndef PLUGIN_COMMANDS_APPROVAL_H_
#define PLUGIN_COMMANDS_APPROVAL_H_

#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"

namespace yad {

// Adds an entry "<status.updateRevision>/<group>" for each group to annotation apps.openyurt.io/approve, and removes
// the entries of other revisions.
// - `approved_before` is set to the groups that already had an entry. If all groups had an entry, returns false and
//   changes nothing.
// - Fails if a group does not have approval Manual, or if the operator has not observed the newest spec yet.
// - Fails if `wanted` is not "" and not status.updateRevision, because the user has seen another revision.
Result<bool> Approve(const std::vector<std::string>& groups, const std::string& wanted, Json& daemon,
                     std::vector<std::string>& approved_before);

// Returns the names of the groups with approval Manual, in the order of the spec.
std::vector<std::string> ManualGroups(const Json& daemon);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_APPROVAL_H_
