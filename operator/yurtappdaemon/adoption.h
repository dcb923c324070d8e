// Before anything is adopted.
#ifndef OPERATOR_YURTAPPDAEMON_ADOPTION_H_
#define OPERATOR_YURTAPPDAEMON_ADOPTION_H_

#include <stop_token>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/client.h"

namespace yad {

// Asks the server whether the daemon is still there and not being deleted. A cache may not have heard yet of a deletion
// with --cascade=orphan: what it leaves behind would be adopted, and then deleted with the daemon.
Status ConfirmAdopter(Client& client, const ObjectMeta& daemon, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_ADOPTION_H_
