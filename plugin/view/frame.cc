#include "plugin/view/frame.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "plugin/view/pool_table.h"
#include "plugin/view/progress.h"
#include "plugin/view/table.h"
#include "plugin/view/text.h"

namespace yad {
namespace {

constexpr int kLongestBar = 40;
// The number of lines besides the rows of the table: headline, bar, reason, table header, "and more", and the line of
// the cursor. An error of the watch, blocked removals, and the reason why a pool is not ready take one more line each.
constexpr int kOtherLines = 6;

// Returns a bar such as "████████░░░░░░░░" or "########........" that shows `done` of `all` in `width` columns. The bar
// is red if `bad`, green if all is done, and cyan otherwise.
std::string ProgressBar(std::int64_t done, std::int64_t all, int width, bool bad, const Screen& screen) {
  const std::int64_t full = all <= 0 ? 0 : std::clamp<std::int64_t>(done * width / all, 0, width);
  std::string bar;
  if (screen.colour) bar += bad ? "\x1b[31m" : done >= all ? "\x1b[32m" : "\x1b[36m";
  for (std::int64_t i = 0; i < full; ++i) bar += screen.unicode ? "█" : "#";
  for (std::int64_t i = full; i < width; ++i) bar += screen.unicode ? "░" : ".";
  return bar + (screen.colour ? kNoColour : "");
}

}  // namespace

void LiveView::Draw(const std::vector<std::string>& lines, const Screen& screen) {
  const auto width = static_cast<std::size_t>(std::max(screen.width, 1));
  std::size_t rows = 0;
  for (const std::string& line : lines_) rows += Rows(line, width);
  // The frame is written as a whole, because half a frame would flicker.
  std::string frame;
  if (rows > 0) frame += "\x1b[" + std::to_string(rows) + "A\r";
  for (const std::string& line : lines) frame += line + "\x1b[K\n";
  lines_ = lines;
  frame += "\x1b[J";
  out_ << frame << std::flush;
}

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

  if (const std::string blocked = WhyRemovalsAreBlocked(daemon); !blocked.empty()) {
    add("RemovalBlocked: " + blocked);
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
