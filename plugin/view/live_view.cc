#include "plugin/view/live_view.h"

#include <algorithm>

#include "plugin/view/table.h"
#include "plugin/view/text.h"

namespace yad {

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

std::string ProgressBar(std::int64_t done, std::int64_t all, int width, bool bad, const Screen& screen) {
  const std::int64_t full = all <= 0 ? 0 : std::clamp<std::int64_t>(done * width / all, 0, width);
  std::string bar;
  if (screen.colour) bar += bad ? "\x1b[31m" : done >= all ? "\x1b[32m" : "\x1b[36m";
  for (std::int64_t i = 0; i < full; ++i) bar += screen.unicode ? "█" : "#";
  for (std::int64_t i = full; i < width; ++i) bar += screen.unicode ? "░" : ".";
  return bar + (screen.colour ? kNoColour : "");
}

}  // namespace yad
