// Which events lead to which pool and which Node: the informers, predicates and handlers of the nodepool controller.
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
  std::vector<std::string> csi_drivers;  // that each node must have; none: CSINodes are not read
  int workers = 4;                       // pools reconciled side by side; and Nodes written
};

// Adds informers and two controllers to the manager: `nodepool`, whose keys are NodePools, and `nodepool-nodes`, whose
// keys are Nodes. `client` reads; `writer` writes, as long as it may. Both, and `events`, must outlive its Run.
void AddNodePoolController(Manager& manager, Client& client, Client& writer, EventSink& events,
                           const NodePoolOptions& options);

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_WIRING_H_
