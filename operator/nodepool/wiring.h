// Connects the nodepool controller to the informers of the manager.
#ifndef OPERATOR_NODEPOOL_WIRING_H_
#define OPERATOR_NODEPOOL_WIRING_H_

#include <string>
#include <vector>

#include "operator/api/label_selector.h"
#include "operator/client/client.h"
#include "operator/runtime/event_recorder.h"
#include "operator/runtime/manager.h"

namespace yad {

struct NodePoolOptions {
  std::vector<LabelSelector> agents;     // select the pods that are node agents
  std::vector<std::string> csi_drivers;  // required on each node; if none, CSINodes are not read
};

// Adds two controllers and their informers to the manager: `nodepool` reconciles NodePools, and `nodepool-nodes`
// reconciles Nodes. `client`, `writer` and `events` must outlive the manager's Run.
// - `client` finds the API version of NodePool.
// - `writer` sends all other requests. It may reject writes if this process is not the leader.
void AddNodePoolController(Manager& manager, Client& client, Client& writer, EventSink& events,
                           const NodePoolOptions& options);

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_WIRING_H_
