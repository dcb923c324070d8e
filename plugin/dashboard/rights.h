// The actions that the user has the right to do.
#ifndef PLUGIN_DASHBOARD_RIGHTS_H_
#define PLUGIN_DASHBOARD_RIGHTS_H_

#include <string>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/client.h"

namespace yad {

// Asks the server, by SelfSubjectAccessReviews, and returns a bool for each action. `operator_ns` is "" if it is not
// known, and `freeze` is then false. `daemon` without a name stands for no daemon: the actions on daemons are then
// false.
Result<Json> ReadRights(Client& client, const ObjectKey& daemon, const std::string& operator_ns);

}  // namespace yad

#endif  // PLUGIN_DASHBOARD_RIGHTS_H_
