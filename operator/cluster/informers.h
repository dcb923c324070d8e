// Defines what the caches hold of NodePools, Nodes, Pods and CSINodes. Controllers share one informer for each of these
// types, so this file has one set of options for each.
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
const Node& NodeOf(const ObjectPtr& object);

struct PodProjection : Projection {
  Pod pod;
  bool agent = false;  // a node agent: the Node is unhealthy while this pod is not ready
};
const PodProjection& PodProjectionOf(const ObjectPtr& object);

struct CsiNodeProjection : Projection {
  std::vector<std::string> drivers;  // sorted
};
const CsiNodeProjection& CsiNodeOf(const ObjectPtr& object);

// Watches the version of NodePool that the cluster serves (NodePoolTypeChoice). `client` and `events` must outlive the
// informer.
ReflectorOptions WatchNodePools(Client& client, EventSink& events);
ReflectorOptions WatchNodes();
// Watches the pods of all namespaces, except those that have ended. `agents` select the node agents.
ReflectorOptions WatchPods(std::vector<LabelSelector> agents = {});
ReflectorOptions WatchCsiNodes();

// Indexes of the stores below. Each user of an index adds it.
inline constexpr char kNodesByPool[] = "pool";  // the value of kNodePoolLabel
inline constexpr char kPodsByNode[] = "node";   // spec.nodeName
void AddNodesByPool(Store& nodes);
void AddPodsByNode(Store& pods);

// Returns a Node as the cache holds it, made from the server's response to a write. The result is for Store::Observe.
ObjectPtr KeptNode(Json object);

// Remove the members of an object that are neither projected nor part of its identity. WatchNodes and WatchPods apply
// them.
void StripNode(Json& node);
void StripPod(Json& pod, const std::vector<LabelSelector>& agents);

}  // namespace yad

#endif  // OPERATOR_CLUSTER_INFORMERS_H_
