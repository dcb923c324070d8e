// kubectl yad hold, kubectl yad release
#include <nlohmann/json.hpp>
#include <vector>

#include "operator/api/node.h"
#include "operator/api/update_window.h"
#include "operator/api/well_known.h"
#include "operator/cluster/nodepool_type.h"
#include "plugin/commands/commands.h"
#include "plugin/commands/daemon.h"
#include "plugin/commands/object_reader.h"
#include "plugin/view/console.h"

namespace yad {
namespace {

// Finds a Node of the pool with a condition, such as DrainInProgress, that blocks updates of the pool. Returns a
// description such as "node n1: DrainInProgress" of the first such Node by name; "" if there is none.
Result<std::string> DescribeNodeMaintenance(Client& client, const std::string& pool) {
  YAD_TRY(const auto nodes, ListAll(client, kNodeType, "", std::string(kNodePoolLabel) + "=" + pool));
  std::string first, text;
  for (const Json& node : nodes) {
    const char* condition = MaintenanceConditionOf(node);
    const std::string name = StringAt(node, {"metadata", "name"});
    if (condition == nullptr || (!first.empty() && first < name)) continue;
    first = name;
    text = DescribeMaintenance(name, condition);
  }
  return text;
}

// Explains why the pool has no hold that a user can release.
std::string WhyNotReleased(Client& client, const ObjectMeta& pool) {
  // The pool has no hold annotation. But the operator also blocks updates if the pool's update windows are invalid, or
  // if one of its nodes is in maintenance.
  const std::string fault = ParsePoolWindows(pool.annotations).fault;
  if (!fault.empty()) return " is held until its update windows are valid: " + fault;
  const auto maintenance = DescribeNodeMaintenance(client, pool.key.name);
  if (!maintenance) {
    return " has no hold to release; the conditions of its nodes can't be read: " + maintenance.error().message;
  }
  if (maintenance->empty()) return " is not held";
  return " is held by a node condition (" + *maintenance + "): the hold ends when the condition ends";
}

// Prints a warning if a Node's condition also blocks updates of the pool. `kubectl yad release` does not end that hold.
// Prints nothing if the Nodes can't be listed, for instance because the user may not list them.
void WarnOfMaintenance(Session& session, const std::string& subject, const std::string& pool) {
  const auto maintenance = DescribeNodeMaintenance(session.client, pool);
  if (!maintenance || maintenance->empty()) return;
  session.console.Warn("a node condition also holds " + subject + " (" + *maintenance +
                       "): that hold ends when the condition ends");
}

tl::unexpected<Error> FailForPool(const Error& error, const std::string& pool) {
  return error.reason == Reason::kNotFound ? Fail(Reason::kNotFound, NodePoolNotFound(pool)) : Fail(error);
}

}  // namespace

Result<int> RunHold(Session& session) {
  const bool hold = session.options.command == "hold";
  const ObjectKey pool{"", session.options.pools.front()};
  const std::string subject = "nodepool." + kNodePoolType.group + "/" + pool.name;
  YAD_TRY(const auto types, DiscoverNodePoolTypes(session.client, {}));
  const auto before = InAnyVersion(types, [&](const ResourceType& type) { return session.client.Get(type, pool); });
  // A user may have the permission to patch pools without the permission to read them, so a hold does not need the
  // pool.
  if (!hold && !before) return FailForPool(before.error(), pool.name);
  const ObjectMeta meta = before ? ParseMeta(*before) : ObjectMeta();
  const auto earlier = meta.annotations.find(kHoldAnnotation);
  const bool was_held = earlier != meta.annotations.end();
  if (!hold && !was_held) return Fail(Reason::kBadRequest, subject + WhyNotReleased(session.client, meta));
  const Json value = hold ? Json(session.options.reason) : Json();
  const Json patch = {{"metadata", {{"annotations", {{kHoldAnnotation, value}}}}}};
  const auto written = InAnyVersion(
      types, [&](const ResourceType& type) { return session.client.Patch(type, pool, PatchType::kMerge, patch); });
  if (!written) return FailForPool(written.error(), pool.name);
  if (hold && was_held && earlier->second != session.options.reason) {
    session.console.Warn(subject + " was held already, and its earlier reason is replaced: " + earlier->second);
  }
  WarnOfMaintenance(session, subject, pool.name);
  PrintWritten(session, subject, *written, hold ? "held" : "released");
  return kDone;
}

}  // namespace yad
