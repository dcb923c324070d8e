// Reads from the server, before writes that an outdated cache must never cause.
//
// Caches are correct, but each one lags by a time of its own. Most writes are safe: a resourceVersion or a fixed name
// makes an outdated write fail. Others would stop pods without need: the removal of a workload, its update to an older
// revision, or its adoption by a daemon that is about to be deleted.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_LIVE_DAEMON_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_LIVE_DAEMON_H_

#include <stop_token>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/client.h"

namespace yad {

// Returns the metadata that the server has of the daemon. Fails with kConflict if the daemon was replaced, has another
// generation or is being deleted. After a deletion with --cascade=orphan, for example, the daemon would adopt the
// workloads that it left, and they would be deleted with it.
Result<ObjectMeta> ConfirmDaemon(Client& client, const ObjectMeta& daemon, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_LIVE_DAEMON_H_
