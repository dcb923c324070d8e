// Maps events to pools and Nodes: the informers, predicates and handlers of the nodepool controller.
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
  std::vector<LabelSelector> agents;     // selectors of the pods that are node agents
  std::vector<std::string> csi_drivers;  // required on each node; if empty, CSINodes are not read
  int workers = 4;                       // workers of each of the two controllers
};

// Adds informers and two controllers to the manager: `nodepool`, whose keys are NodePools, and `nodepool-nodes`, whose
// keys are Nodes. `client` finds the version of NodePools to read. The controllers send their requests through
// `writer`, which may reject writes (Manager::leader_client). `client`, `writer` and `events` must outlive the
// manager's Run.
void AddNodePoolController(Manager& manager, Client& client, Client& writer, EventSink& events,
                           const NodePoolOptions& options);

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_WIRING_H_
