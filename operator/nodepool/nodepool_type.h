// The NodePool type as the cluster has it: which version to read (v1alpha1, v1beta1, v1beta2, and one day others), and
// whether its CRD is there to stay.
#ifndef OPERATOR_NODEPOOL_NODEPOOL_TYPE_H_
#define OPERATOR_NODEPOOL_NODEPOOL_TYPE_H_

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/api/nodepool.h"
#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/client.h"
#include "operator/runtime/event_recorder.h"
#include "operator/runtime/reflector.h"

namespace yad {

// The versions of the group that serve nodepools, the highest first (GA before beta before alpha, as Kubernetes orders
// versions). kNotFound: none does.
Result<std::vector<ResourceType>> DiscoverNodePoolTypes(Client& client, std::stop_token stop);

// The version to read now: the highest, and after each failed list the next lower one in turn, because objects that are
// stored in another version need a conversion webhook of OpenYurt that may be gone, while reading them as they are
// stored does not. That it is gone is told once, in an event about the CRD. Not thread-safe.
class NodePoolTypeChoice {
 public:
  NodePoolTypeChoice(Client& client, EventSink& events) : client_(client), events_(events) {}
  Result<ResourceType> Next(const FailedLists& failed, std::stop_token stop);

 private:
  Client& client_;
  EventSink& events_;
  bool told_ = false;
};

// With its CRD the apiserver deletes all NodePools, one DELETED event each.
struct NodePoolCrd {
  bool known = true;    // false: we may not look
  bool stays = true;    // it exists, and is not being deleted
  std::string created;  // RFC 3339, with stays

  // Whether a pool that had a workload made at that time, and does not exist now, went with the CRD: one that has come
  // back since knows nothing of the pools that it had.
  bool TookPoolsOf(const std::string& workload_created) const;
};
Result<NodePoolCrd> ReadNodePoolCrd(Client& client, std::stop_token stop);

// The server's pool; nullopt: there is none. Asked for as a list, so that an answer of "not found" is about the type,
// and a failure (kConflict); and nobody needs the right to `get`.
Result<std::optional<Json>> ReadPoolObject(Client& client, const ResourceType& type, const std::string& name,
                                           std::stop_token stop);
Result<std::optional<NodePool>> ReadPool(Client& client, const ResourceType& type, const std::string& name,
                                         std::stop_token stop);

// Those of the server's pools that are named, by name, from one list of all pools in pages of one resourceVersion. A
// list that ends early is an Error. With `metadata_only` the pools have neither type, taints nor `offline`.
using PoolsByName = std::map<std::string, NodePool, std::less<>>;
Result<PoolsByName> ReadPools(Client& client, const ResourceType& type, const std::set<std::string>& names,
                              bool metadata_only, std::stop_token stop);

// Kubernetes' version priority: "v2" > "v1" > "v1beta2" > "v1beta1" > "v1alpha1" > "other".
bool HigherVersion(const std::string& a, const std::string& b);

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_NODEPOOL_TYPE_H_
