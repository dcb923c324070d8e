#include "tests/bench/chart.h"

#include <algorithm>
#include <sstream>

#include "tests/bench/figures.h"

namespace yad::bench {
namespace {

constexpr int kWidth = 760;

std::string Escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string Text(double x, double y, const std::string& text, const std::string& more = "") {
  std::ostringstream out;
  out << "<text x=\"" << x << "\" y=\"" << y << "\"" << more << ">" << Escape(text) << "</text>\n";
  return out.str();
}

const char* Colour(bool ours) { return ours ? "#1f77b4" : "#b0b0b0"; }

std::string Frame(int height, const std::string& title, const std::string& content) {
  std::ostringstream out;
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << kWidth << " " << height << "\" width=\""
      << kWidth << "\" height=\"" << height << "\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n"
      << "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
      << Text(12, 22, title, " font-size=\"15\" font-weight=\"bold\"") << content << "</svg>\n";
  return out.str();
}

}  // namespace

std::string BarChart(const std::string& title, const std::string& unit, const std::vector<BarGroup>& groups) {
  constexpr int kBar = 16, kStep = 20, kCharacter = 7;  // in pixels; kCharacter is the width of a character
  double most = 0;
  std::size_t longest = 0;
  for (const BarGroup& group : groups) {
    for (const Bar& bar : group.bars) {
      most = std::max(most, bar.value);
      longest = std::max(longest, bar.label.size());
    }
  }
  const int left = kCharacter * static_cast<int>(longest) + 20;
  const double scale = most > 0 ? (kWidth - left - 110) / most : 0;
  std::ostringstream out;
  int y = 40;
  for (const BarGroup& group : groups) {
    if (!group.title.empty()) {
      out << Text(12, y + 12, group.title, " font-weight=\"bold\"");
      y += kStep;
    }
    for (const Bar& bar : group.bars) {
      const double width = std::max(1.0, bar.value * scale);
      out << Text(left - 8, y + 12, bar.label, " text-anchor=\"end\"") << "<rect x=\"" << left << "\" y=\"" << y
          << "\" width=\"" << width << "\" height=\"" << kBar << "\" fill=\"" << Colour(bar.ours) << "\"/>\n"
          << Text(left + width + 6, y + 12, Number(bar.value) + (unit.empty() ? "" : " " + unit));
      y += kStep;
    }
    y += 8;
  }
  return Frame(y + 8, title, out.str());
}

std::string LineChart(const std::string& title, const std::string& x_unit, const std::string& y_unit,
                      const std::vector<Line>& lines) {
  constexpr int kLeft = 60, kTop = 45, kHeight = 300, kRight = 150;
  double most_x = 0, most_y = 0;
  for (const Line& line : lines) {
    for (const Point& point : line.points) {
      most_x = std::max(most_x, point.x);
      most_y = std::max(most_y, point.y * 1.1);
    }
  }
  if (most_x <= 0 || most_y <= 0) return "";
  const auto x_of = [&](double x) { return kLeft + x / most_x * (kWidth - kLeft - kRight); };
  const auto y_of = [&](double y) { return kTop + (1 - y / most_y) * kHeight; };
  std::ostringstream out;
  for (int i = 0; i <= 4; ++i) {
    const double y = most_y * i / 4, x = most_x * i / 4;
    out << "<line x1=\"" << x_of(0) << "\" x2=\"" << x_of(most_x) << "\" y1=\"" << y_of(y) << "\" y2=\"" << y_of(y)
        << "\" stroke=\"#ddd\"/>\n"
        << Text(kLeft - 6, y_of(y) + 4, Number(y), " text-anchor=\"end\"")
        << Text(x_of(x), kTop + kHeight + 18, Number(x), " text-anchor=\"middle\"");
  }
  out << Text(12, kTop - 8, y_unit) << Text(x_of(most_x / 2), kTop + kHeight + 36, x_unit, " text-anchor=\"middle\"");
  for (const Line& line : lines) {
    out << "<polyline fill=\"none\" stroke=\"" << Colour(line.ours) << "\" stroke-width=\"2\""
        << (line.ours ? "" : " stroke-dasharray=\"6 4\"") << " points=\"";
    for (const Point& point : line.points) out << x_of(point.x) << "," << y_of(point.y) << " ";
    out << "\"/>\n";
    if (line.points.empty()) continue;
    for (const Point& point : line.points) {
      if (!line.ours) break;
      out << "<circle cx=\"" << x_of(point.x) << "\" cy=\"" << y_of(point.y) << "\" r=\"3\" fill=\"" << Colour(true)
          << "\"/>\n";
    }
    out << Text(x_of(line.points.back().x) + 8, y_of(line.points.back().y) + 4, line.label);
  }
  return Frame(kTop + kHeight + 50, title, out.str());
}

}  // namespace yad::bench
