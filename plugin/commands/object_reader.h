// Reads objects for commands that take them from a cluster or from a file. Sends requests about NodePools, which a
// server may serve in several API versions.
#ifndef PLUGIN_COMMANDS_OBJECT_READER_H_
#define PLUGIN_COMMANDS_OBJECT_READER_H_

#include <iterator>
#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/client.h"

namespace yad {

// Not thread-safe.
class ObjectReader {
 public:
  virtual ~ObjectReader() = default;

  // Returns the object. Fails with kNotFound if it does not exist.
  virtual Result<Json> Get(const ResourceType& type, const ObjectKey& key) = 0;
  // Returns all objects of a type in a namespace ("" for all namespaces). `label_selector` is "", KEY or KEY=VALUE. The
  // version of kNodePoolType is ignored: the NodePools may have another version, and all of them have the same version.
  virtual Result<std::vector<Json>> List(const ResourceType& type, const std::string& ns,
                                         const std::string& label_selector = "") = 0;
};

// Reads objects from the server.
class ClusterReader : public ObjectReader {
 public:
  explicit ClusterReader(Client& client) : client_(client) {}

  Result<Json> Get(const ResourceType& type, const ObjectKey& key) override;
  // Reads NodePools in the highest API version that the server can return.
  Result<std::vector<Json>> List(const ResourceType& type, const std::string& ns,
                                 const std::string& label_selector = "") override;

 private:
  Client& client_;
};

// Returns the message for a NodePool that does not exist.
inline std::string NodePoolNotFound(const std::string& pool) {
  return "nodepools.apps.openyurt.io \"" + pool + "\" not found (kubectl get nodepools lists all)";
}

// Calls `send` with each API version of NodePools until a call succeeds, or until the server responds that the pool
// does not exist or that the request is forbidden. Returns the last result. A request in one version may fail: if a
// pool is stored in another version, the server needs a conversion webhook, which may no longer exist. `types` must not
// be empty (see DiscoverNodePoolTypes).
template <typename Send>
auto InAnyVersion(const std::vector<ResourceType>& types, Send send) -> decltype(send(types.front())) {
  for (auto type = types.begin();; ++type) {
    auto result = send(*type);
    const bool answered =
        result || result.error().reason == Reason::kNotFound || result.error().reason == Reason::kForbidden;
    if (answered || std::next(type) == types.end()) return result;
  }
}

}  // namespace yad

#endif  // PLUGIN_COMMANDS_OBJECT_READER_H_
