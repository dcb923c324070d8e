// The NodePool type in this cluster: its version to read (v1alpha1, v1beta1, v1beta2 and later ones), and the state of
// its CRD.
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
// version priority). Fails with kNotFound if no version serves them.
Result<std::vector<ResourceType>> DiscoverNodePoolTypes(Client& client, std::stop_token stop);

// Chooses the version of NodePool to read: the highest one that works. Not thread-safe.
// An object that is stored in another version needs OpenYurt's conversion webhook, which may be gone. After a list has
// failed for this reason, Next returns the next lower version, and after the lowest one the highest again. One Event
// about the CRD reports each outage of the webhook.
class NodePoolTypeChoice {
 public:
  NodePoolTypeChoice(Client& client, EventSink& events) : client_(client), events_(events) {}
  Result<ResourceType> Next(const FailedLists& failed, std::stop_token stop);

 private:
  Client& client_;
  EventSink& events_;
  std::size_t lower_ = 0;  // failed conversions since the last successful list
  bool reported_ = false;
};

// The state of the NodePool CRD. When a CRD is deleted, the apiserver deletes all NodePools, with a DELETED event for
// each.
struct NodePoolCrd {
  bool known = true;    // false: the operator may not read the CRD
  bool exists = true;   // the CRD exists and is not being deleted
  std::string created;  // RFC 3339; valid if `exists`

  // Returns whether a pool that does not exist now was deleted together with the CRD:
  // - the CRD is gone or being deleted, or
  // - the CRD was created after the pool's workload.
  //
  // Returns false if `known` is false.
  bool DeletedPoolsBefore(const std::string& workload_created) const;
};
Result<NodePoolCrd> ReadNodePoolCrd(Client& client, std::stop_token stop);

// Reads the pool from the server; nullopt if it does not exist. Fails with kConflict if the type is missing. Sends a
// LIST, because it needs no right to `get`. `resource_version` gets the version of the list.
Result<std::optional<Json>> ReadPoolObject(Client& client, const ResourceType& type, const std::string& name,
                                           std::stop_token stop, std::string* resource_version = nullptr);
Result<std::optional<NodePool>> ReadPool(Client& client, const ResourceType& type, const std::string& name,
                                         std::stop_token stop);

using PoolsByName = std::map<std::string, NodePool, std::less<>>;
// Reads the pools in `names` from the server, by a consistent list of all pools. Fails if the list ends early.
// With `metadata_only`, the pools have no type, no taints and no `offline`.
Result<PoolsByName> ReadPools(Client& client, const ResourceType& type, const std::set<std::string>& names,
                              bool metadata_only, std::stop_token stop);

// Returns whether `a` has a higher priority as a version in Kubernetes: "v2" > "v1" > "v1beta2" > "v1beta1" >
// "v1alpha1" > "other".
bool HigherVersion(const std::string& a, const std::string& b);

}  // namespace yad

#endif  // OPERATOR_CLUSTER_NODEPOOL_TYPE_H_
