// Draws charts as SVG, for light and dark pages.
#ifndef TESTS_BENCH_CHART_H_
#define TESTS_BENCH_CHART_H_

#include <string>
#include <utility>
#include <vector>

namespace yad::bench {

struct Bar {
  std::string label;
  double value = 0;
  bool ours = false;  // highlighted
};
struct BarGroup {
  std::string title;
  std::vector<Bar> bars;
};
// Draws a horizontal bar with its number for each value. All groups have the same scale.
std::string BarChart(const std::string& title, const std::string& unit, const std::vector<BarGroup>& groups);

struct Point {
  double x = 0;
  double y = 0;
};
struct Line {
  std::string label;
  std::vector<Point> points;
  bool ours = false;
};
std::string LineChart(const std::string& title, const std::string& x_unit, const std::string& y_unit,
                      const std::vector<Line>& lines);

}  // namespace yad::bench

#endif  // TESTS_BENCH_CHART_H_
