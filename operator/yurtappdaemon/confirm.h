// Reads past the caches, before writes that an old cache must never cause.
//
// Caches are right, but may be late, each by a time of its own. Most writes don't mind: a resourceVersion or a stable
// name stops them. A workload that was removed, moved back to an older revision, or adopted by a daemon that is about
// to go is another matter: pods would have been stopped for nothing.
#ifndef OPERATOR_YURTAPPDAEMON_CONFIRM_H_
#define OPERATOR_YURTAPPDAEMON_CONFIRM_H_

#include <stop_token>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/client.h"

namespace yad {

// What the server's daemon is now; kConflict unless it is the same object, has the same spec and is not being deleted.
// A deletion with --cascade=orphan, for one: what it leaves behind would be adopted, and then deleted with the daemon.
Result<ObjectMeta> ConfirmDaemon(Client& client, const ObjectMeta& daemon, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_CONFIRM_H_
