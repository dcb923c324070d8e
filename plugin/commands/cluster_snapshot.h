// Reads the objects from which the operator plans, and makes a Snapshot of them.
#ifndef PLUGIN_COMMANDS_CLUSTER_SNAPSHOT_H_
#define PLUGIN_COMMANDS_CLUSTER_SNAPSHOT_H_

#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/client.h"
#include "operator/yurtappdaemon/observe/snapshot.h"
#include "plugin/commands/object_reader.h"
#include "plugin/commands/revisions.h"

namespace yad {

// The objects of which a Snapshot consists, besides the daemon.
struct SnapshotParts {
  std::vector<ObjectPtr> pools;      // all NodePools, with ProjectPool
  std::vector<ObjectPtr> workloads;  // of the daemon's namespace and kind, with ProjectDeployment or ProjectStatefulSet
  std::vector<RevisionEntry> revisions;
};
// Returns the snapshot of a valid daemon. The snapshot has no freeze and no Services. Pure.
Result<Snapshot> ComposeSnapshot(const Json& daemon, const SnapshotParts& parts, WallTime now);

// Reads the inputs for `daemon`, whose spec may differ from that on the server. The snapshot has no freeze.
Result<Snapshot> ReadRolloutSnapshot(ObjectReader& objects, const Json& daemon, WallTime now);

// Reads the inputs for `daemon` live from the server. The spec of `daemon` may differ from that on the server. The
// snapshot has neither spec.paused nor updateStrategy, so a plan for it leads to the final state that the spec
// requests.
Result<Snapshot> ReadClusterSnapshot(Client& client, const Json& daemon, WallTime now);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_CLUSTER_SNAPSHOT_H_
