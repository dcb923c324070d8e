// Reads from the server before writes that would do harm if the cache is stale.
//
// Most writes do not need such a read, because a resourceVersion or a fixed name makes them fail if the cache is stale.
// The following writes would succeed, and would stop pods unnecessarily:
// - the removal of a workload
// - the update of a workload to an older revision
// - the adoption of a workload by a daemon that is about to be deleted
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_LIVE_DAEMON_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_LIVE_DAEMON_H_

#include <stop_token>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/client.h"

namespace yad {

// Returns the metadata of the daemon on the server. Fails with kConflict if the daemon was replaced, is being deleted,
// or has another generation than `daemon`.
//
// Example: a user deletes a daemon with --cascade=orphan. The daemon must not adopt its workloads again, because
// Kubernetes would then delete them together with the daemon.
Result<ObjectMeta> ConfirmDaemon(Client& client, const ObjectMeta& daemon, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_LIVE_DAEMON_H_
