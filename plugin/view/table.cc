#include "plugin/view/table.h"

#include <algorithm>

#include "plugin/view/text.h"

namespace yad {
namespace {

constexpr std::size_t kGap = 3;  // as in kubectl
constexpr std::size_t kNarrowGap = 1;

std::string Line(const std::vector<std::string>& row, const std::vector<std::size_t>& widths, std::size_t gap) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    line += row[i];
    if (i + 1 < row.size()) line.append(widths[i] - Width(row[i]) + gap, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

// Returns the escape sequence that starts the colour of a pool's phase; "" if the phase has no colour.
std::string ColourOf(const std::string& phase) {
  if (phase == "Ready") return "\x1b[32m";
  if (phase == "Failed") return "\x1b[31m";
  if (phase == "Offline" || phase == "Removing") return "\x1b[2m";
  if (phase == "Updating" || phase == "Unhealthy" || phase == "Soaking" || phase == "Verifying" || phase == "Pending")
    return "\x1b[33m";
  return "";
}

}  // namespace

void Table::Add(std::vector<std::string> row) {
  row.resize(header_.size());
  for (std::string& cell : row) cell = Printable(cell);
  rows_.push_back(std::move(row));
}

std::vector<std::size_t> Table::Widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < header_.size(); ++i) {
    std::size_t width = Width(header_[i]);
    for (const auto& row : rows_) width = std::max(width, Width(row[i]));
    widths.push_back(width);
  }
  return widths;
}

std::vector<std::string> Table::Lines() const {
  const std::vector<std::size_t> widths = Widths();
  std::vector<std::string> lines{Line(header_, widths, kGap)};
  for (const auto& row : rows_) lines.push_back(Line(row, widths, kGap));
  return lines;
}

void Table::PrintTo(std::ostream& out) const {
  for (const std::string& line : Lines()) out << line << "\n";
}

void Table::AppendTo(std::vector<std::string>& lines) const {
  if (empty()) return;
  lines.emplace_back();
  for (std::string& line : Lines()) lines.push_back(std::move(line));
}

std::vector<std::string> Table::LinesFor(const Screen& screen, std::size_t coloured) const {
  const std::vector<std::size_t> widths = Widths();
  const auto width = static_cast<std::size_t>(std::max(screen.width, 1));
  std::size_t all = (widths.size() - 1) * kGap;
  for (const std::size_t column : widths) all += column;
  const std::size_t gap = all <= width ? kGap : kNarrowGap;

  std::size_t begin = 0;  // start of the coloured column
  for (std::size_t i = 0; i < coloured && i < widths.size(); ++i) begin += widths[i] + gap;
  std::vector<std::string> lines{Fit(Line(header_, widths, gap), width, screen.unicode)};
  for (const auto& row : rows_) {
    std::string line = Fit(Line(row, widths, gap), width, screen.unicode);
    const std::string colour = screen.colour && coloured < row.size() ? ColourOf(row[coloured]) : "";
    if (!colour.empty()) {
      // Inserts the colour at byte `at` of the line. A cell to the left may have more bytes than columns, so `at` is
      // greater than `begin`, the column at which the text starts.
      std::size_t at = begin;
      for (std::size_t i = 0; i < coloured; ++i) at += row[i].size() - Width(row[i]);
      const std::size_t end = at + row[coloured].size();
      if (end <= line.size() && line.compare(at, row[coloured].size(), row[coloured]) == 0) {
        line.insert(end, kNoColour);
        line.insert(at, colour);
      }
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace yad
