// The operator's inputs, read live from the server.
#ifndef PLUGIN_COMMANDS_CLUSTER_SNAPSHOT_H_
#define PLUGIN_COMMANDS_CLUSTER_SNAPSHOT_H_

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/client.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// Reads the inputs for `daemon` as it is or might be: its spec need not be that on the server. The snapshot has no
// spec.paused and no updateStrategy, so that a plan of it leads to the final state that the spec requests.
Result<Snapshot> ReadClusterSnapshot(Client& client, const Json& daemon, WallTime now);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_CLUSTER_SNAPSHOT_H_
