// kubectl yad capacity plan, which does not contact a cluster.
#include <nlohmann/json.hpp>

#include "plugin/commands/capacity_snapshot.h"
#include "plugin/commands/commands.h"
#include "plugin/commands/daemon.h"
#include "plugin/manifest/manifest.h"
#include "plugin/view/capacity_table.h"

namespace yad {

Result<int> RunCapacityPlan(const PluginOptions& options, Console& console) {
  YAD_TRY(auto objects, ReadManifests(options.file, console));
  const std::string source = options.file == "-" ? "standard input" : options.file;
  YAD_TRY(const auto snapshot,
          MakeCapacitySnapshot(std::move(objects), source, options.ns.empty() ? "default" : options.ns));
  for (const std::string& note : snapshot.notes) console.err << "note: " << Printable(note) << "\n";
  const WallTime now = options.now.value_or(Clock::Real().WallNow());
  const CapacityPlan plan = snapshot.Plan(now);
  if (PrintObject(options, console, ToJson(plan))) return kDone;
  for (const std::string& line : DescribePlan(plan, snapshot.autoscaler, now)) console.out << line << "\n";
  return kDone;
}

}  // namespace yad
