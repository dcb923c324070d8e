// Measured figures, their bounds, and their targets.
#ifndef TESTS_BENCH_FIGURES_H_
#define TESTS_BENCH_FIGURES_H_

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/object.h"

namespace yad::bench {

// A value to which a figure is compared, usually the best possible value, from the same run and in the same unit.
struct Bound {
  std::string name;
  double value = 0;
};

enum class TargetKind {
  kNone,
  kAtMost,        // at most Figure::limit, in the unit of the figure
  kExactly,       // exactly `limit`
  kShareOfBound,  // at least `limit` times the first bound
  kTimesBound,    // at most `limit` times the first bound
};

struct Figure {
  std::string scenario;
  std::string what;
  double value = 0;
  std::string unit;
  std::vector<Bound> bounds = {};
  TargetKind target = TargetKind::kNone;
  double limit = 0;
  std::string note = {};  // how it was measured

  // Returns nullopt if the figure has no target.
  std::optional<bool> Reached() const;
  // Returns the used share of the target: at most 1 if the target is reached. nullopt: the target has no share, for
  // instance kExactly.
  std::optional<double> Used() const;
  std::string TargetText() const;
};

// Formats a number with a few significant digits: "1,234", "12.3", "0.045".
std::string Number(double value);

// Converts a figure to and from results.json.
Json ToJson(const Figure& figure);
Figure FigureFromJson(const Json& json);

}  // namespace yad::bench

#endif  // TESTS_BENCH_FIGURES_H_
