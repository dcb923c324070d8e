// Reads the objects that the operator needs for a plan, and makes a Snapshot of them.
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

// The objects in a Snapshot, except for the daemon itself. The objects must have projections, which hold the parsed
// data. The comments of the members list the functions that make the projections.
struct SnapshotParts {
  std::vector<ObjectPtr> pools;      // all NodePools (ProjectPool)
  std::vector<ObjectPtr> workloads;  // of the daemon's namespace and kind (ProjectDeployment or ProjectStatefulSet)
  std::vector<RevisionEntry> revisions;
};
// Makes a snapshot of the daemon, the pools that it selects, its workloads and its revisions. Does not set the freeze
// and the Services. Fails if the spec of `daemon` is invalid. Pure.
Result<Snapshot> ComposeSnapshot(const Json& daemon, const SnapshotParts& parts, WallTime now);

// Makes a snapshot of `daemon` from the objects that `objects` reads. The spec of `daemon` may differ from the spec on
// the server. Does not set the freeze.
Result<Snapshot> ReadRolloutSnapshot(ObjectReader& objects, const Json& daemon, WallTime now);

// Completes a snapshot for MakePlan. Restores from status the state that the operator keeps between two reconciles.
// Writes the health of the pools to `health`, to which the snapshot then points. Removes the checks and the prefetch
// from the strategy, because the snapshot has no Jobs and DaemonSets. Pure.
void RestoreRollout(Snapshot& snapshot, HealthRecord& health);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_CLUSTER_SNAPSHOT_H_
