#include "plugin/commands/object_reader.h"

#include "operator/api/well_known.h"
#include "operator/cluster/nodepool_type.h"
#include "plugin/commands/daemon.h"

namespace yad {

Result<Json> ClusterReader::Get(const ResourceType& type, const ObjectKey& key) { return client_.Get(type, key); }

Result<std::vector<Json>> ClusterReader::List(const ResourceType& type, const std::string& ns,
                                              const std::string& label_selector) {
  const auto list = [&](const ResourceType& of) { return ListAll(client_, of, ns, label_selector); };
  if (type.kind != kNodePoolType.kind) return list(type);
  YAD_TRY(const auto types, DiscoverNodePoolTypes(client_, {}));
  return InAnyVersion(types, list);
}

}  // namespace yad
