// Finds the version of the NodePool API that the operator reads (v1alpha1, v1beta1, v1beta2 or later), and reads the
// state of the NodePool CRD.
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

// Returns the NodePool type in each version that the apiserver serves. The versions are in Kubernetes' priority order:
// GA before beta before alpha, and higher numbers first. Fails with kNotFound if the apiserver serves no version.
Result<std::vector<ResourceType>> DiscoverNodePoolTypes(Client& client, std::stop_token stop);

// Chooses the version in which NodePools are read: the highest version that works. Not thread-safe.
//
// The apiserver calls OpenYurt's conversion webhook for an object that is stored in another version. The webhook may no
// longer exist. If a list has failed for this reason, Next returns the next lower version. After the lowest version,
// Next starts again with the highest version. The operator emits one Event about the CRD for each outage of the
// webhook.
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

  // Returns whether a pool that does not exist now was deleted together with the CRD. This is the case if
  // - the CRD is gone or being deleted, or
  // - the CRD was created after the pool's workload.
  //
  // Returns false if the operator may not read the CRD.
  bool DeletedPoolsBefore(const std::string& workload_created) const;
};
Result<NodePoolCrd> ReadNodePoolCrd(Client& client, std::stop_token stop);

// Returns a reference to the NodePool CRD, for Events. It has no uid, because the CRD is not read.
ObjectReference NodePoolCrdReference();

// Reads the pool from the server. Returns nullopt if the pool does not exist. Fails with kConflict if the server does
// not serve the type. Sends a LIST and not a GET, so that the operator does not need the permission `get`. Sets
// `resource_version` to the version of the list.
Result<std::optional<Json>> ReadPoolObject(Client& client, const ResourceType& type, const std::string& name,
                                           std::stop_token stop, std::string* resource_version = nullptr);
Result<std::optional<NodePool>> ReadPool(Client& client, const ResourceType& type, const std::string& name,
                                         std::stop_token stop);

using PoolsByName = std::map<std::string, NodePool, std::less<>>;
// Reads the pools in `names` from the server with a list of all pools, which shows the newest state. Fails if a page of
// the list can't be read.
// If `metadata_only` is true, reads only the metadata. The fields `type`, `taints` and `offline` of the pools are then
// not set.
Result<PoolsByName> ReadPools(Client& client, const ResourceType& type, const std::set<std::string>& names,
                              bool metadata_only, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_CLUSTER_NODEPOOL_TYPE_H_
