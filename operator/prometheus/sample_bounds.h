// Decides whether a sample of a check is within the check's limits.
#ifndef OPERATOR_PROMETHEUS_SAMPLE_BOUNDS_H_
#define OPERATOR_PROMETHEUS_SAMPLE_BOUNDS_H_

#include <optional>
#include <string>

namespace yad {

// The bounds of a check. A bound that is not set allows every value.
struct Bounds {
  std::optional<double> max;
  std::optional<double> min;
  std::optional<double> max_ratio;  // maximum of value / control value; not set if there are no pools to compare with
};

enum class SampleResult { kGood, kBad, kNoData };

struct SampleVerdict {
  SampleResult result = SampleResult::kNoData;
  std::string message;  // "0.07 is above max 0.05"
};

// Compares a pool's value with `bounds`, and with `control`, the value of the pools that are not updated yet. Pure.
// - nullopt and NaN mean that there is no data.
// - A value above `max` or below `min` is bad.
//
// If max_ratio is set, it applies to values that `max` and `min` allow:
// - A value of 0 is good.
// - Without a control value, the result is kNoData.
// - If either value is negative, or both are infinite, there is no ratio, and the result is kNoData.
// - If the control value is 0, the ratio is infinite, so the value is bad.
SampleVerdict EvaluateSample(const Bounds& bounds, std::optional<double> value, std::optional<double> control);

}  // namespace yad

#endif  // OPERATOR_PROMETHEUS_SAMPLE_BOUNDS_H_
