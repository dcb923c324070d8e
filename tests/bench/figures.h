// What was measured, what bounds it, and what is to be reached.
#ifndef TESTS_BENCH_FIGURES_H_
#define TESTS_BENCH_FIGURES_H_

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/object.h"

namespace yad::bench {

// Of the same run and in the same unit as the figure that it bounds.
struct Bound {
  std::string name;
  double value = 0;
};

enum class TargetKind {
  kNone,
  kAtMost,        // the value, in its own unit
  kExactly,       // likewise
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
  std::string note = {};  // how it was measured, where that is not plain

  // nullopt: there is no target.
  std::optional<bool> Reached() const;
  // How much of what is allowed was used: 1 is just at the target, less is better. nullopt where that says nothing.
  std::optional<double> Used() const;
  std::string TargetText() const;
};

// "1,234", "12.3", "0.045": as many digits as mean something.
std::string Number(double value);

// For results.json, and back.
Json ToJson(const Figure& figure);
Figure FigureFromJson(const Json& json);

}  // namespace yad::bench

#endif  // TESTS_BENCH_FIGURES_H_
