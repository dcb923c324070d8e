// The options of the informers for NodePools, Nodes, Pods and CSINodes. They are defined in one place, because all
// controllers share one informer for each type.
#ifndef OPERATOR_CLUSTER_INFORMERS_H_
#define OPERATOR_CLUSTER_INFORMERS_H_

#include <memory>
#include <string>
#include <vector>

#include "operator/api/label_selector.h"
#include "operator/api/node.h"
#include "operator/api/pod.h"
#include "operator/client/client.h"
#include "operator/cluster/pool_projection.h"
#include "operator/runtime/event_recorder.h"
#include "operator/runtime/reflector.h"

namespace yad {

struct NodeProjection : Projection {
  Node node;
};
std::unique_ptr<const Projection> ProjectNode(const Json& object);
inline const Node& NodeOf(const ObjectPtr& object) { return ProjectionOf<NodeProjection>(object).node; }

struct PodProjection : Projection {
  Pod pod;
  bool agent = false;  // the pod is a node agent: the Node is unhealthy while the pod is not ready
};
inline const PodProjection& PodProjectionOf(const ObjectPtr& object) { return ProjectionOf<PodProjection>(object); }

struct CsiNodeProjection : Projection {
  std::vector<std::string> drivers;  // sorted
};
inline const CsiNodeProjection& CsiNodeOf(const ObjectPtr& object) { return ProjectionOf<CsiNodeProjection>(object); }

// Watches NodePools, in the version that NodePoolTypeChoice selects. `client` and `events` must outlive the informer.
ReflectorOptions WatchNodePools(Client& client, EventSink& events);
ReflectorOptions WatchNodes();
// Watches the pods that have not terminated, in all namespaces. `agents` selects the node agents: pods whose Node
// counts as unhealthy while they are not ready.
ReflectorOptions WatchPods(std::vector<LabelSelector> agents = {});
ReflectorOptions WatchCsiNodes();

// The names of indexes. Code that looks up objects in an index must first add it with AddNodesByPool or AddPodsByNode.
inline constexpr char kNodesByPool[] = "pool";  // the value of kNodePoolLabel
inline constexpr char kPodsByNode[] = "node";   // spec.nodeName
void AddNodesByPool(Store& nodes);
void AddPodsByNode(Store& pods);

// Converts a Node to the form in which the cache keeps it. Used for the server's response to a write, before
// Store::Observe.
ObjectPtr KeptNode(Json object);

// Remove from an object all members that the operator does not use, to save memory in the caches. Keep the members that
// identify the object.
void StripNode(Json& node);
void StripPod(Json& pod, const std::vector<LabelSelector>& agents);

}  // namespace yad

#endif  // OPERATOR_CLUSTER_INFORMERS_H_
