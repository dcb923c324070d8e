#include "plugin/commands/object_reader.h"

#include "operator/cluster/nodepool_type.h"
#include "plugin/commands/daemon.h"

namespace yad {

Result<Json> ClusterReader::Get(const ResourceType& type, const ObjectKey& key) { return client_.Get(type, key); }

Result<std::vector<Json>> ClusterReader::List(const ResourceType& type, const std::string& ns,
                                              const std::string& label_selector) {
  return ListAll(client_, type, ns, label_selector);
}

Result<std::vector<Json>> ClusterReader::ListNodePools() {
  YAD_TRY(const auto types, DiscoverNodePoolTypes(client_, {}));
  return InAnyVersion(types, [&](const ResourceType& type) { return List(type, "", ""); });
}

}  // namespace yad
