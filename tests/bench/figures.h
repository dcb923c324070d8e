// Measured figures, their bounds, and their targets.
#ifndef TESTS_BENCH_FIGURES_H_
#define TESTS_BENCH_FIGURES_H_

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/object.h"

namespace yad::bench {

// The bound has the run and the unit of its figure.
struct Bound {
  std::string name;
  double value = 0;
};

enum class TargetKind {
  kNone,
  kAtMost,        // at most the value, in its own unit
  kExactly,       // exactly the value
  kShareOfBound,  // at least this share of the first bound
  kTimesBound,    // at most so many times the first bound
};

struct Figure {
  std::string scenario;
  std::string what;
  double value = 0;
  std::string unit;
  std::vector<Bound> bounds = {};
  TargetKind target = TargetKind::kNone;
  double limit = 0;
  std::string note = {};  // how it was measured, unless that is obvious

  // Returns nullopt if there is no target.
  std::optional<bool> Reached() const;
  // Returns the used share of the target: 1 is just at the target, less is better. nullopt if a share has no meaning.
  std::optional<double> Used() const;
  std::string TargetText() const;
};

// Returns "1,234", "12.3", "0.045": only significant digits.
std::string Number(double value);

// Converts a figure to and from results.json.
Json ToJson(const Figure& figure);
Figure FigureFromJson(const Json& json);

}  // namespace yad::bench

#endif  // TESTS_BENCH_FIGURES_H_
