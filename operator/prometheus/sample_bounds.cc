#include "operator/prometheus/sample_bounds.h"

#include <charconv>
#include <cmath>
#include <system_error>

namespace yad {
namespace {

// Formats the number with six significant digits. If `exact` is true, uses as many digits as are needed to distinguish
// it from every other number.
std::string Format(double number, bool exact) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "+Inf" : "-Inf";
  char text[64];
  const auto [end, fault] = exact ? std::to_chars(text, text + sizeof text, number)
                                  : std::to_chars(text, text + sizeof text, number, std::chars_format::general, 6);
  return fault == std::errc() ? std::string(text, end) : "?";
}

// Returns a message that compares two different numbers, such as "0.07 is above max 0.05". If the numbers look equal
// with six digits, the message has all their digits.
std::string Relation(double number, const std::string& words, double bound) {
  const bool exact = Format(number, false) == Format(bound, false);
  return Format(number, exact) + words + Format(bound, exact);
}

std::optional<double> Known(std::optional<double> number) {
  return number && std::isnan(*number) ? std::nullopt : number;
}

SampleVerdict JudgeRatio(double max_ratio, double value, std::optional<double> control) {
  const std::string others = "the value of the pools that are not updated";
  const std::string text = Format(value, false);
  if (value == 0) return {SampleResult::kGood, text};
  if (!control) return {SampleResult::kNoData, "the query returned no data about the pools that are not updated"};
  const std::string no_ratio = text + " has no ratio to " + others + " (" + Format(*control, false) + "), because ";
  if (value < 0 || *control < 0) return {SampleResult::kNoData, no_ratio + "at least one is negative"};
  if (std::isinf(value) && std::isinf(*control)) return {SampleResult::kNoData, no_ratio + "both are infinite"};
  if (*control == 0) {
    return {SampleResult::kBad,
            text + " is above 0, and " + others + " is 0, so the ratio is above maxRatio " + Format(max_ratio, false)};
  }
  const double ratio = value / *control;
  const std::string times = " times " + others + " (" + Format(*control, false) + ")";
  if (ratio > max_ratio) return {SampleResult::kBad, Relation(ratio, times + ", above maxRatio ", max_ratio)};
  return {SampleResult::kGood, text + ", " + Format(ratio, false) + times};
}

}  // namespace

SampleVerdict EvaluateSample(const Bounds& bounds, std::optional<double> value, std::optional<double> control) {
  value = Known(value);
  if (!value) return {SampleResult::kNoData, "the query returned no data"};
  if (bounds.max && *value > *bounds.max) return {SampleResult::kBad, Relation(*value, " is above max ", *bounds.max)};
  if (bounds.min && *value < *bounds.min) return {SampleResult::kBad, Relation(*value, " is below min ", *bounds.min)};
  if (bounds.max_ratio) return JudgeRatio(*bounds.max_ratio, *value, Known(control));
  return {SampleResult::kGood, Format(*value, false)};
}

}  // namespace yad
