#include "plugin/view/status_frame.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "plugin/view/live_view.h"
#include "plugin/view/pool_table.h"
#include "plugin/view/progress.h"
#include "plugin/view/text.h"

namespace yad {
namespace {

constexpr int kLongestBar = 40;
// The number of lines besides the rows of the table: headline, bar, reason, table header, "and more", and the line of
// the cursor. The reason why a pool is not ready takes one additional line.
constexpr int kOtherLines = 6;

}  // namespace

std::vector<std::string> StatusFrame(const Json& daemon, const Screen& screen, Duration waited, WallTime now,
                                     const std::string& not_live) {
  const auto width = static_cast<std::size_t>(std::max(screen.width, 1));
  const Progress progress = ReadProgress(daemon);
  std::vector<std::string> lines;
  const auto add = [&](const std::string& text) { lines.push_back(Fit(Printable(text), width, screen.unicode)); };

  const std::string current = StringAt(daemon, {"status", "currentRevision"});
  const std::string update = StringAt(daemon, {"status", "updateRevision"});
  std::string headline = StringAt(daemon, {"metadata", "namespace"}) + "/" + StringAt(daemon, {"metadata", "name"});
  if (!update.empty()) headline += "  ";
  if (!current.empty() && current != update) headline += current + (screen.unicode ? " → " : " -> ");
  add(headline + update);

  std::string counts = " " + std::to_string(progress.updated) + "/" + std::to_string(progress.desired) + " updated, " +
                       std::to_string(progress.ready) + " ready";
  if (progress.failed > 0) counts += ", " + std::to_string(progress.failed) + " failed";
  if (progress.offline > 0) counts += ", " + std::to_string(progress.offline) + " offline";
  counts += "  " + HumanDuration(waited);
  const int room = screen.width - static_cast<int>(Width(counts));
  if (room >= 5) {
    const bool bad = progress.state == RolloutOutcome::kStopped || progress.failed > 0;
    lines.push_back(ProgressBar(progress.updated, progress.desired, std::min(room, kLongestBar), bad, screen) + counts);
  } else {
    add(counts.substr(1));
  }
  add(progress.observed ? progress.reason + ": " + progress.message : progress.line);
  int others = kOtherLines;
  if (!not_live.empty()) {
    add("not live: " + not_live);
    ++others;
  }

  const std::vector<PoolStatusView> pools = PoolsOf(daemon);
  const std::size_t all = pools.size();
  if (all == 0) return lines;
  const auto explained =
      std::find_if(pools.begin(), pools.end(), [](const PoolStatusView& pool) { return !WhyNotReady(pool).empty(); });
  if (explained != pools.end()) {
    add("pool " + std::string(explained->name()) + ": " + WhyNotReady(*explained));
    ++others;
  }
  const auto rows = static_cast<std::size_t>(std::max(screen.height - others, 1));
  for (std::string& line : PoolTable(daemon, false, now, rows).LinesFor(screen, kPhaseColumn)) {
    lines.push_back(std::move(line));
  }
  if (all > rows) add("and " + std::to_string(all - rows) + " more: " + CountPhases(daemon, rows));
  return lines;
}

}  // namespace yad
