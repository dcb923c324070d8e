// Finds the daemons that select a pool. The cache stores the parsed selection of each daemon.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_DAEMON_PROJECTION_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_DAEMON_PROJECTION_H_

#include <vector>

#include "operator/api/yurtappdaemon.h"
#include "operator/runtime/controller.h"

namespace yad {

// The parsed data that the cache stores for a YurtAppDaemon, in addition to its JSON.
struct DaemonProjection : Projection {
  PoolSelection pools;
  LabelSelector selector;
  StringMap pod_labels;  // the labels of the pod template
  bool rolling = false;  // the strategy is RollingUpdate
  // False if the spec is invalid. The fields above are then empty, and the daemon selects no pool.
  bool readable = false;
  std::uint64_t annotations_of_ours = 0;  // a digest of the annotations with the prefix apps.openyurt.io/
};
std::unique_ptr<const Projection> ProjectDaemon(const Json& object);
// The parts of a YurtAppDaemon that ProjectDaemon reads.
inline const JsonParts kProjectedOfDaemons = {{"apiVersion"}, {"kind"}, {"metadata"}, {"spec"}};

// Returns the daemons in `daemons` that select the pool as it is now, or as it was before this event.
std::vector<Request> DaemonsSelecting(const Store& daemons, const Event& pool_event);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_DAEMON_PROJECTION_H_
