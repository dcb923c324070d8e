// kubectl yad hold, kubectl yad release
#include <nlohmann/json.hpp>

#include "operator/api/update_window.h"
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
    const ObjectMeta meta = ParseMeta(before);
    if (!meta.annotations.contains(kHoldAnnotation)) {
      // The operator holds a pool with invalid windows, too.
      const std::string fault = ParsePoolWindows(meta.annotations).fault;
      return Fail(Reason::kBadRequest,
                  subject + (fault.empty() ? " is not held" : " is held by its update windows: fix " + fault));
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
