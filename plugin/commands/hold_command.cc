// kubectl yad hold, kubectl yad release
#include <nlohmann/json.hpp>

#include "operator/api/well_known.h"
#include "operator/cluster/nodepool_type.h"
#include "plugin/commands/commands.h"
#include "plugin/commands/daemon.h"
#include "plugin/commands/exit_code.h"

namespace yad {

Result<int> RunHold(Session& session) {
  const bool hold = session.options.command == Command::kHold;
  const ObjectKey pool{"", session.options.pools.front()};
  const std::string subject = "nodepool." + kNodePoolType.group + "/" + pool.name;
  YAD_TRY(const auto types, DiscoverNodePoolTypes(session.client, {}));
  const ResourceType& type = types.front();
  if (!hold) {
    YAD_TRY(const auto before, session.client.Get(type, pool));
    if (!ParseMeta(before).annotations.contains(kHoldAnnotation)) {
      return Fail(Reason::kBadRequest, subject + " is not held");
    }
  }
  const Json value = hold ? Json(session.options.reason) : Json();
  const Json patch = {{"metadata", {{"annotations", {{kHoldAnnotation, value}}}}}};
  YAD_TRY(const auto written, session.client.Patch(type, pool, PatchType::kMerge, patch));
  if (PrintObject(session.options, session.console, written)) return kDone;
  const bool only_name = session.options.output == OutputFormat::kName;
  session.console.out << subject << (only_name ? "" : hold ? " held" : " released") << "\n";
  return kDone;
}

}  // namespace yad
