// Live reads before writes that a stale cache could make harmful.
//
// Most outdated writes are safe, because a resourceVersion or a fixed name makes them fail. These would stop pods
// without need:
// - the removal of a workload
// - its update to an older revision
// - its adoption by a daemon that is about to be deleted
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_LIVE_DAEMON_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_LIVE_DAEMON_H_

#include <stop_token>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/client.h"

namespace yad {

// Returns the server's metadata of the daemon. Fails with kConflict if the daemon was replaced, has another generation
// or is being deleted.
//
// Example: a daemon that was deleted with --cascade=orphan must not adopt its workloads again. Kubernetes would delete
// them with the daemon.
Result<ObjectMeta> ConfirmDaemon(Client& client, const ObjectMeta& daemon, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_LIVE_DAEMON_H_
