// The operator's inputs.
#ifndef PLUGIN_COMMANDS_CLUSTER_SNAPSHOT_H_
#define PLUGIN_COMMANDS_CLUSTER_SNAPSHOT_H_

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/client.h"
#include "operator/yurtappdaemon/observe/snapshot.h"
#include "plugin/commands/object_reader.h"

namespace yad {

// Reads the inputs for `daemon`, whose spec may differ from that on the server. The snapshot has no freeze.
Result<Snapshot> ReadRolloutSnapshot(ObjectReader& objects, const Json& daemon, WallTime now);

// Reads the inputs for `daemon` live from the server, whose spec may differ. The snapshot has neither spec.paused
// nor updateStrategy, so a plan for it leads to the final state that the spec requests.
Result<Snapshot> ReadClusterSnapshot(Client& client, const Json& daemon, WallTime now);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_CLUSTER_SNAPSHOT_H_
