#include "plugin/commands/object_reader.h"

#include "operator/cluster/nodepool_type.h"
#include "plugin/commands/daemon.h"

namespace yad {

Result<Json> ClusterReader::Get(const ResourceType& type, const ObjectKey& key) { return client_.Get(type, key); }

Result<std::vector<Json>> ClusterReader::List(const ResourceType& type, const std::string& ns,
                                              const std::string& label_selector) {
  return ListAll(client_, type, ns, label_selector);
}

// Tries each API version. Objects that are stored in one version may need a conversion webhook for another, and the
// webhook may no longer exist.
Result<std::vector<Json>> ClusterReader::ListNodePools() {
  YAD_TRY(const auto types, DiscoverNodePoolTypes(client_, {}));
  Result<std::vector<Json>> pools;
  for (const ResourceType& type : types) {
    pools = List(type, "", "");
    if (pools) break;
  }
  return pools;
}

}  // namespace yad
