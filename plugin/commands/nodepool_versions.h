// Requests about NodePools, which a server may serve in several API versions.
#ifndef PLUGIN_COMMANDS_NODEPOOL_VERSIONS_H_
#define PLUGIN_COMMANDS_NODEPOOL_VERSIONS_H_

#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"

namespace yad {

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

#endif  // PLUGIN_COMMANDS_NODEPOOL_VERSIONS_H_
