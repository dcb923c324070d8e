// Finds out which actions the user has the permission to perform.
#ifndef PLUGIN_DASHBOARD_RIGHTS_H_
#define PLUGIN_DASHBOARD_RIGHTS_H_

#include <string>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/client.h"

namespace yad {

// Returns a JSON object with one boolean for each action of the page: true if the user may perform the action,
// according to SelfSubjectAccessReviews.
// - Member `freeze` is false if `operator_ns` is "", because the namespace is then unknown.
// - The members for actions on a daemon are false if `daemon` has no name.
Result<Json> ReadRights(Client& client, const ObjectKey& daemon, const std::string& operator_ns);

}  // namespace yad

#endif  // PLUGIN_DASHBOARD_RIGHTS_H_
