#include "plugin/commands/object_reader.h"

#include "operator/cluster/nodepool_type.h"
#include "plugin/commands/daemon.h"

namespace yad {

Result<Json> ClusterReader::Get(const ResourceType& type, const ObjectKey& key) { return client_.Get(type, key); }

Result<std::vector<Json>> ClusterReader::List(const ResourceType& type, const std::string& ns,
                                              const std::string& label_selector) {
  return ListAll(client_, type, ns, label_selector);
}

// Lists the pools in each API version until one succeeds. A version may fail: if pools are stored in another version,
// the server needs a conversion webhook, which may no longer exist.
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
