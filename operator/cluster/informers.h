// The contents of the caches of NodePools, Nodes, Pods and CSINodes. Controllers share one informer for each of these
// types, so all of them use the options in this file.
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
  bool agent = false;  // a node agent: while this pod is not ready, the Node is unhealthy
};
const PodProjection& PodProjectionOf(const ObjectPtr& object);

struct CsiNodeProjection : Projection {
  std::vector<std::string> drivers;  // sorted
};
const CsiNodeProjection& CsiNodeOf(const ObjectPtr& object);

// Watches NodePools in the version that the cluster serves (NodePoolTypeChoice). `client` and `events` must outlive the
// informer.
ReflectorOptions WatchNodePools(Client& client, EventSink& events);
ReflectorOptions WatchNodes();
// Watches the pods of all namespaces, except pods that have ended. `agents` selects the node agents.
ReflectorOptions WatchPods(std::vector<LabelSelector> agents = {});
ReflectorOptions WatchCsiNodes();

// Indexes of the stores. Each user of an index adds it.
inline constexpr char kNodesByPool[] = "pool";  // the value of kNodePoolLabel
inline constexpr char kPodsByNode[] = "node";   // spec.nodeName
void AddNodesByPool(Store& nodes);
void AddPodsByNode(Store& pods);

// Returns a Node in the form that the cache stores, for Store::Observe. `object` is the server's response to a write.
ObjectPtr KeptNode(Json object);

// Remove all members of an object that are neither projected nor part of its identity. WatchNodes and WatchPods use
// these functions.
void StripNode(Json& node);
void StripPod(Json& pod, const std::vector<LabelSelector>& agents);

}  // namespace yad

#endif  // OPERATOR_CLUSTER_INFORMERS_H_
