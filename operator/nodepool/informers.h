// What the caches hold of NodePools, Nodes, Pods and CSINodes. Several controllers share one informer for each, so each
// has one set of options here.
#ifndef OPERATOR_NODEPOOL_INFORMERS_H_
#define OPERATOR_NODEPOOL_INFORMERS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "operator/api/label_selector.h"
#include "operator/api/node.h"
#include "operator/api/nodepool.h"
#include "operator/api/pod.h"
#include "operator/client/client.h"
#include "operator/nodepool/attributes.h"
#include "operator/runtime/event_recorder.h"
#include "operator/runtime/reflector.h"

namespace yad {

// A NodePool, parsed once when it arrives.
struct PoolProjection : Projection {
  NodePool pool;
  std::uint64_t fingerprint = 0;  // of what a rendering depends on: labels, type, taints
  PoolAttributes attributes;      // what its Nodes get
  std::int64_t ready_nodes = -1;  // as its status counts them; -1: it does not
  std::int64_t unready_nodes = -1;
  std::vector<std::uint32_t> nodes;  // hashes of the names in its status, sorted
};
std::unique_ptr<const Projection> ProjectPool(const Json& object);
// What ProjectPool reads.
inline const JsonParts kProjectedOfPools = {{"metadata", {{"name"}, {"labels"}, {"deletionTimestamp"}}},
                                            {"spec"},
                                            {"status", {{"readyNodeNum"}, {"unreadyNodeNum"}, {"nodes"}}}};
const PoolProjection& PoolProjectionOf(const ObjectPtr& object);

struct NodeProjection : Projection {
  Node node;
};
std::unique_ptr<const Projection> ProjectNode(const Json& object);
const Node& NodeOf(const ObjectPtr& object);

struct PodProjection : Projection {
  Pod pod;
  bool agent = false;  // a node agent: the Node is not well while this pod is not ready
};
const PodProjection& PodProjectionOf(const ObjectPtr& object);

struct CsiNodeProjection : Projection {
  std::vector<std::string> drivers;  // sorted
};
const CsiNodeProjection& CsiNodeOf(const ObjectPtr& object);

// The version is what the cluster serves (NodePoolTypeChoice); `client` and `events` must outlive the informer.
ReflectorOptions WatchNodePools(Client& client, EventSink& events);
ReflectorOptions WatchNodes();
// Of all namespaces, but for those that have ended. `agents` select the node agents.
ReflectorOptions WatchPods(std::vector<LabelSelector> agents = {});
ReflectorOptions WatchCsiNodes();

// The indexes below are added by those who use them.
inline constexpr char kNodesByPool[] = "pool";  // the value of kNodePoolLabel
inline constexpr char kPodsByNode[] = "node";   // spec.nodeName
void AddNodesByPool(Store& nodes);
void AddPodsByNode(Store& pods);

// The server's answer to a write, as the caches keep Nodes: for Store::Observe.
ObjectPtr KeptNode(Json object);

// What WatchNodes and WatchPods leave of an object: what is projected, and who it is.
void StripNode(Json& node);
void StripPod(Json& pod, const std::vector<LabelSelector>& agents);

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_INFORMERS_H_
