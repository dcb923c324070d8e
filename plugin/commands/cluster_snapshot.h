// The operator's inputs, read live from the server.
#ifndef PLUGIN_COMMANDS_CLUSTER_SNAPSHOT_H_
#define PLUGIN_COMMANDS_CLUSTER_SNAPSHOT_H_

#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/client.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// Returns all NodePools, in the highest version that can be read.
Result<std::vector<Json>> ListNodePools(Client& client);

// Reads the inputs for `daemon`, whose spec may differ from that on the server. The snapshot has no freeze.
Result<Snapshot> ReadRolloutSnapshot(Client& client, const Json& daemon, WallTime now);

// Reads the inputs for `daemon`, whose spec may differ from that on the server. The snapshot has neither spec.paused
// nor updateStrategy, so a plan for it leads to the final state that the spec requests.
Result<Snapshot> ReadClusterSnapshot(Client& client, const Json& daemon, WallTime now);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_CLUSTER_SNAPSHOT_H_
