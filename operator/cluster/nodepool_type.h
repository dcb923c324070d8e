// The NodePool type in this cluster: the version to read (v1alpha1, v1beta1, v1beta2 and later ones), and whether its
// CRD exists and stays.
#ifndef OPERATOR_CLUSTER_NODEPOOL_TYPE_H_
#define OPERATOR_CLUSTER_NODEPOOL_TYPE_H_

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

// Returns the versions of the group that serve nodepools, the highest first (GA before beta before alpha, Kubernetes'
// version priority). kNotFound: no version serves them.
Result<std::vector<ResourceType>> DiscoverNodePoolTypes(Client& client, std::stop_token stop);

// Chooses the version to read: the highest, and after each failed list the next lower one in turn. Objects that are
// stored in another version need OpenYurt's conversion webhook, which may be gone. Objects that are read in their
// stored version do not need it. An unavailable webhook is reported once, in an event about the CRD. Not thread-safe.
class NodePoolTypeChoice {
 public:
  NodePoolTypeChoice(Client& client, EventSink& events) : client_(client), events_(events) {}
  Result<ResourceType> Next(const FailedLists& failed, std::stop_token stop);

 private:
  Client& client_;
  EventSink& events_;
  bool told_ = false;
};

// The state of the NodePool CRD. When a CRD is deleted, the apiserver deletes all NodePools, with one DELETED event for
// each.
struct NodePoolCrd {
  bool known = true;    // false: reading the CRD is forbidden
  bool stays = true;    // the CRD exists and is not being deleted
  std::string created;  // RFC 3339; valid if `stays`

  // Returns whether a pool that had a workload created at that time, and that does not exist now, was deleted with the
  // CRD. A CRD that was created later has no record of the pools of the earlier one.
  bool TookPoolsOf(const std::string& workload_created) const;
};
Result<NodePoolCrd> ReadNodePoolCrd(Client& client, std::stop_token stop);

// Reads the pool on the server; nullopt if it does not exist. The read is a LIST, so that "not found" is about the type
// and is a failure (kConflict). A LIST also does not need the right to `get`.
Result<std::optional<Json>> ReadPoolObject(Client& client, const ResourceType& type, const std::string& name,
                                           std::stop_token stop);
Result<std::optional<NodePool>> ReadPool(Client& client, const ResourceType& type, const std::string& name,
                                         std::stop_token stop);

using PoolsByName = std::map<std::string, NodePool, std::less<>>;
// Returns the server's pools that are in `names`, from one list of all pools in pages of one resourceVersion. A list
// that ends early is an error. With `metadata_only` the pools have neither type, taints nor `offline`.
Result<PoolsByName> ReadPools(Client& client, const ResourceType& type, const std::set<std::string>& names,
                              bool metadata_only, std::stop_token stop);

// Returns whether `a` is higher in Kubernetes' version priority: "v2" > "v1" > "v1beta2" > "v1beta1" > "v1alpha1" >
// "other".
bool HigherVersion(const std::string& a, const std::string& b);

}  // namespace yad

#endif  // OPERATOR_CLUSTER_NODEPOOL_TYPE_H_
