#include "plugin/dashboard/fleet_model.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "operator/yurtappdaemon/observe/status_view.h"
#include "plugin/view/progress.h"

namespace yad {
namespace {

// The reasons of condition Progressing that the page shows as state Waiting. The rollout then waits for an approval, an
// update window, the end of a freeze or of a hold, an offline pool, or a deletion.
constexpr std::array<std::string_view, 6> kWaits{"WaitingForApproval", "WaitingForWindow", "Frozen",
                                                 "PoolsHeld",          "SitesOffline",     "WaitingForDeletion"};

std::string_view StateOf(const Progress& progress, bool paused) {
  if (!progress.observed) return "Unknown";
  if (progress.state == RolloutOutcome::kStopped) return "Stopped";
  if (progress.state == RolloutOutcome::kComplete) return "Complete";
  if (paused) return "Paused";
  return std::find(kWaits.begin(), kWaits.end(), progress.reason) != kWaits.end() ? "Waiting" : "Progressing";
}

}  // namespace

Json TimeOrNull(const std::optional<WallTime>& time) {
  return time && *time != WallTime() ? Json(FormatTime(*time)) : Json();
}

Json TimeOrNull(const std::string& time) { return ParseTime(time) != WallTime() ? Json(time) : Json(); }

Json FleetEntry(const Json& daemon) {
  const Progress progress = ReadProgress(daemon);
  const Json* found = Find(daemon, {"status"});
  const Json status = found == nullptr ? Json() : *found;
  const bool paused = BoolAt(daemon, {"spec", "paused"});
  return {{"namespace", StringAt(daemon, {"metadata", "namespace"})},
          {"name", StringAt(daemon, {"metadata", "name"})},
          {"kind", TypeOf(KindOf(daemon)).kind},
          {"created", TimeOrNull(StringAt(daemon, {"metadata", "creationTimestamp"}))},
          {"revision", StringAt(status, {"updateRevision"})},
          {"from", StringAt(status, {"currentRevision"})},
          {"pools", progress.desired},
          {"updated", progress.updated},
          {"ready", progress.ready},
          {"unavailable", std::max<std::int64_t>(progress.desired - progress.ready, 0)},
          {"failed", progress.failed},
          {"offline", progress.offline},
          {"paused", paused},
          {"state", StateOf(progress, paused)},
          {"reason", progress.reason},
          {"message", progress.observed ? progress.message : progress.line},
          {"removalsBlocked", WhyRemovalsAreBlocked(daemon)}};
}

Json MakeFleet(const std::string& context, const std::string& ns, const KnownFreeze& freeze,
               const std::vector<Json>& daemons) {
  Json fleet = {
      {"context", context}, {"namespace", ns}, {"freeze", nullptr}, {"warnings", Json::array()}, {"daemons", daemons}};
  if (!freeze && !freeze.error().message.empty()) fleet["warnings"].push_back(freeze.error().message);
  if (freeze && *freeze) fleet["freeze"] = {{"until", TimeOrNull((*freeze)->until)}, {"reason", (*freeze)->reason}};
  return fleet;
}

}  // namespace yad
