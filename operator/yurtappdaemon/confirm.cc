#include "operator/yurtappdaemon/confirm.h"

#include "operator/api/well_known.h"

namespace yad {

Result<Json> ConfirmDaemon(Client& client, const ObjectMeta& daemon, std::stop_token stop) {
  auto now = client.Get(kYurtAppDaemonType, daemon.key, stop);
  if (!now) return Fail(now.error());
  const ObjectMeta meta = ParseMeta(*now);
  if (meta.uid != daemon.uid || meta.deleting()) {
    return Fail(Reason::kConflict, "YurtAppDaemon " + daemon.key.ToString() + " is being deleted, or was replaced");
  }
  if (meta.generation != daemon.generation) {
    return Fail(Reason::kConflict,
                "YurtAppDaemon " + daemon.key.ToString() + " has a newer spec than the one that was read");
  }
  return now;
}

Result<std::optional<NodePool>> ReadPool(Client& client, const ResourceType& type, const std::string& name,
                                         std::stop_token stop) {
  ListOptions options;
  options.field_selector = "metadata.name=" + name;
  const auto page = client.List(type, options, stop);
  if (!page && page.error().reason == Reason::kNotFound)
    return Fail(Reason::kConflict, "pool " + name + " can't be read: " + page.error().message);
  if (!page) return Fail(page.error());
  for (const Json& item : page->items) {
    if (NodePool pool = ParseNodePool(item); pool.name == name) return pool;
  }
  return std::nullopt;
}

}  // namespace yad
