#include "operator/prometheus/sample_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace yad {
namespace {

using ::testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr auto kNone = std::nullopt;

Bounds Max(double max) { return {max, kNone, kNone}; }
Bounds Min(double min) { return {kNone, min, kNone}; }
Bounds Ratio(double ratio) { return {kNone, kNone, ratio}; }

void Expect(const SampleVerdict& verdict, SampleResult result, const std::string& message) {
  EXPECT_EQ(verdict.result, result) << verdict.message;
  EXPECT_EQ(verdict.message, message);
}

TEST(JudgeTest, AValueIsComparedWithMaxAndMinAndAnEqualValuePasses) {
  Expect(EvaluateSample(Max(0.05), 0.07, kNone), SampleResult::kBad, "0.07 is above max 0.05");
  Expect(EvaluateSample(Max(0.05), 0.05, kNone), SampleResult::kGood, "0.05");
  Expect(EvaluateSample(Max(0.05), -1, kNone), SampleResult::kGood, "-1");
  Expect(EvaluateSample(Min(0.99), 0.5, kNone), SampleResult::kBad, "0.5 is below min 0.99");
  Expect(EvaluateSample(Min(0.99), 0.99, kNone), SampleResult::kGood, "0.99");
  const Bounds both{10, 5, kNone};
  Expect(EvaluateSample(both, 11, kNone), SampleResult::kBad, "11 is above max 10");
  Expect(EvaluateSample(both, 4, kNone), SampleResult::kBad, "4 is below min 5");
  Expect(EvaluateSample(both, 7, kNone), SampleResult::kGood, "7");
  Expect(EvaluateSample({}, 7, kNone), SampleResult::kGood, "7");
}

TEST(JudgeTest, NoValueAndNaNAreNoData) {
  for (const auto& value : {std::optional<double>(), std::optional<double>(kNaN)}) {
    Expect(EvaluateSample(Max(1), value, kNone), SampleResult::kNoData, "the query returned no data");
    Expect(EvaluateSample(Ratio(2), value, 1), SampleResult::kNoData, "the query returned no data");
  }
}

TEST(JudgeTest, InfiniteValuesAreComparedWithMaxAndMin) {
  Expect(EvaluateSample(Max(1), kInfinity, kNone), SampleResult::kBad, "+Inf is above max 1");
  Expect(EvaluateSample(Min(1), -kInfinity, kNone), SampleResult::kBad, "-Inf is below min 1");
  Expect(EvaluateSample(Min(1), kInfinity, kNone), SampleResult::kGood, "+Inf");
}

TEST(JudgeTest, TheRatioToTheOtherPoolsIsCompared) {
  Expect(EvaluateSample(Ratio(2), 0.032, 0.01), SampleResult::kBad,
         "3.2 times the value of the pools that are not updated (0.01), above maxRatio 2");
  Expect(EvaluateSample(Ratio(2), 0.02, 0.01), SampleResult::kGood,
         "0.02, 2 times the value of the pools that are not updated (0.01)");
  Expect(EvaluateSample(Ratio(0), 0.02, 0.01), SampleResult::kBad,
         "2 times the value of the pools that are not updated (0.01), above maxRatio 0");
}

TEST(JudgeTest, ZeroPassesWithAnyValueOfTheOtherPools) {
  for (const auto& control : {std::optional<double>(0), std::optional<double>(), std::optional<double>(kNaN),
                              std::optional<double>(5), std::optional<double>(-5)}) {
    Expect(EvaluateSample(Ratio(2), 0, control), SampleResult::kGood, "0");
  }
}

TEST(JudgeTest, AValueAboveZeroFailsIfTheOtherPoolsHaveZero) {
  Expect(EvaluateSample(Ratio(2), 0.03, 0), SampleResult::kBad,
         "0.03 is above 0, and the value of the pools that are not updated is 0, so the ratio is above maxRatio 2");
  EXPECT_EQ(EvaluateSample(Ratio(2), kInfinity, 0).result, SampleResult::kBad);
}

TEST(JudgeTest, NoRatioIsComputedWithoutAValueOfTheOtherPools) {
  for (const auto& control : {std::optional<double>(), std::optional<double>(kNaN)}) {
    Expect(EvaluateSample(Ratio(2), 0.03, control), SampleResult::kNoData,
           "the query returned no data about the pools that are not updated");
  }
}

TEST(JudgeTest, InfiniteAndNegativeValuesHaveARatioOnlyIfItIsDefined) {
  EXPECT_EQ(EvaluateSample(Ratio(2), kInfinity, 5).result, SampleResult::kBad);
  EXPECT_EQ(EvaluateSample(Ratio(2), 5, kInfinity).result, SampleResult::kGood);
  EXPECT_EQ(EvaluateSample(Ratio(2), 1e300, 1e-300).result, SampleResult::kBad) << "the ratio overflows";
  const SampleVerdict infinite = EvaluateSample(Ratio(2), kInfinity, kInfinity);
  EXPECT_EQ(infinite.result, SampleResult::kNoData);
  EXPECT_THAT(infinite.message, HasSubstr("both are infinite"));
  for (const auto& [value, control] : {std::pair{-1.0, 5.0}, {1.0, -5.0}, {-1.0, -5.0}}) {
    const SampleVerdict negative = EvaluateSample(Ratio(2), value, control);
    EXPECT_EQ(negative.result, SampleResult::kNoData);
    EXPECT_THAT(negative.message, HasSubstr("one is negative"));
  }
}

TEST(JudgeTest, MaxAndMinAreCheckedBeforeTheRatio) {
  const Bounds bounds{0.05, kNone, 2};
  Expect(EvaluateSample(bounds, 0.07, kNone), SampleResult::kBad, "0.07 is above max 0.05");
  EXPECT_EQ(EvaluateSample(bounds, 0.04, kNone).result, SampleResult::kNoData);
  EXPECT_EQ(EvaluateSample(bounds, 0.04, 0.01).result, SampleResult::kBad);
  EXPECT_EQ(EvaluateSample(bounds, 0.04, 0.03).result, SampleResult::kGood);
}

TEST(JudgeTest, NumbersAreShortUnlessTheyWouldLookEqual) {
  Expect(EvaluateSample(Max(0.1), 0.1 + 0.2, kNone), SampleResult::kBad, "0.3 is above max 0.1");
  Expect(EvaluateSample(Max(1), 123456789, kNone), SampleResult::kBad, "1.23457e+08 is above max 1");
  Expect(EvaluateSample(Max(0.05), 0.05000000001, kNone), SampleResult::kBad, "0.05000000001 is above max 0.05");
  Expect(EvaluateSample(Max(0.3), 0.1 + 0.2, kNone), SampleResult::kBad, "0.30000000000000004 is above max 0.3");
}

}  // namespace
}  // namespace yad
