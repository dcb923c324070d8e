#include "operator/cluster/nodepool_type.h"

#include "operator/api/well_known.h"
#include "operator/cluster/pool_projection.h"
#include "operator/runtime/paged_list.h"

namespace yad {
namespace {

// The maximum number of pools in a page of a list that reads only metadata. Other lists have smaller pages, because the
// status of a pool contains the names of its nodes.
constexpr int kMetadataPage = 500;
constexpr int kPoolPage = 100;
const JsonParts kPoolName = {{"metadata", {{"name"}}}};

// Returns whether a conversion webhook failed. The apiserver reports this only in the message, such as "conversion
// webhook for apps.openyurt.io/v1beta1, Kind=NodePool failed: Post ...".
bool IsConversionFailure(const Error& error) {
  return error.message.find("conversion webhook for") != std::string::npos;
}

}  // namespace

Result<std::vector<ResourceType>> DiscoverNodePoolTypes(Client& client, std::stop_token stop) {
  YAD_TRY(const auto versions, client.DiscoverVersions(kNodePoolType.group, stop));
  std::vector<ResourceType> types;
  for (const std::string& version : versions) {
    YAD_TRY(const auto resources, client.DiscoverResources(kNodePoolType.group, version, stop));
    for (const ResourceType& type : resources) {
      if (type.resource == kNodePoolType.resource) types.push_back(type);
    }
  }
  if (types.empty()) {
    return Fail({Reason::kNotFound,
                 "no version of " + kNodePoolType.group + " serves nodepools: install the NodePool CRD", 404});
  }
  return types;
}

bool NodePoolCrd::DeletedPoolsBefore(const std::string& workload_created) const {
  // The apiserver's timestamps are in UTC with whole seconds, so they can be compared as strings.
  return known && (!exists || workload_created < created);
}

ObjectReference NodePoolCrdReference() {
  return {kCrdType.ApiVersion(), kCrdType.kind, {"", kNodePoolType.resource + "." + kNodePoolType.group}, "", ""};
}

Result<NodePoolCrd> ReadNodePoolCrd(Client& client, std::stop_token stop) {
  const auto crd = client.Get(kCrdType, NodePoolCrdReference().key, stop);
  NodePoolCrd result;
  if (crd) {
    const ObjectMeta meta = ParseMeta(*crd);
    result.exists = !meta.deleting();
    result.created = meta.creation_timestamp;
  } else if (crd.error().reason == Reason::kNotFound) {
    result.exists = false;
  } else if (crd.error().reason == Reason::kForbidden) {
    result.known = false;
  } else {
    return Fail(crd.error());
  }
  return result;
}

Result<std::optional<Json>> ReadPoolObject(Client& client, const ResourceType& type, const std::string& name,
                                           std::stop_token stop, std::string* resource_version) {
  const ListOptions options{.field_selector = "metadata.name=" + name};
  const auto page = client.List(type, options, stop);
  if (!page && page.error().reason == Reason::kNotFound)
    return Fail(Reason::kConflict, "pool " + name + " can't be read: " + page.error().message);
  if (!page) return Fail(page.error());
  if (resource_version != nullptr) *resource_version = page->resource_version;
  for (const Json& item : page->items) {
    if (StringAt(item, {"metadata", "name"}) == name) return item;
  }
  return std::nullopt;
}

Result<std::optional<NodePool>> ReadPool(Client& client, const ResourceType& type, const std::string& name,
                                         std::stop_token stop) {
  YAD_TRY(const auto object, ReadPoolObject(client, type, name, stop));
  return object.has_value() ? std::optional(ParseNodePool(*object)) : std::nullopt;
}

Result<PoolsByName> ReadPools(Client& client, const ResourceType& type, const std::set<std::string>& names,
                              bool metadata_only, std::stop_token stop) {
  PoolsByName pools;
  const ListOptions options{.limit = metadata_only ? kMetadataPage : kPoolPage, .metadata_only = metadata_only};
  const auto read = ForEachListed(client, type, options, stop, [&](const JsonDocument& pool) {
    std::string name = StringAt(pool.TreeOfObject(kPoolName), {"metadata", "name"});
    if (names.contains(name)) {
      pools.insert_or_assign(std::move(name), ParseNodePool(pool.TreeOfObject(kProjectedOfPools)));
    }
    return true;
  });
  if (read) return pools;
  if (read.error().reason != Reason::kNotFound) return Fail(read.error());
  return Fail(Reason::kConflict, "pools can't be read: " + read.error().message);
}

Result<ResourceType> NodePoolTypeChoice::Next(const FailedLists& failed, std::stop_token stop) {
  const bool unavailable = failed.count > 0 && IsConversionFailure(failed.last);
  if (unavailable) ++lower_;
  if (failed.count == 0) lower_ = 0;
  YAD_TRY(auto types, DiscoverNodePoolTypes(client_, stop));
  if (unavailable && !reported_) {
    events_.Record(
        NodePoolCrdReference(), EventType::kWarning, "ConversionUnavailable", "List",
        "NodePools can't be read, because the webhook that converts them does not respond; the operator tries "
        "each version of this CRD. Restore that webhook, or store all NodePools in one version: " +
            failed.last.message);
  }
  reported_ = unavailable || (reported_ && failed.count > 0);
  return types[lower_ % types.size()];
}

}  // namespace yad
