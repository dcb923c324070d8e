#include "operator/base/error.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace yad {
namespace {

Result<int> Half(int number) {
  if (number % 2 != 0) return Fail(Reason::kInvalid, std::to_string(number) + " is odd");
  return number / 2;
}

Result<int> Quarter(int number) {
  YAD_TRY(const int half, Half(number));
  YAD_TRY(const auto quarter, Half(half));
  return quarter;
}

Status CheckQuarter(int number, int& checked) {
  YAD_TRY_VOID(Quarter(number));
  if (number > 0)
    YAD_TRY_VOID(Status());
  else
    return Fail(Reason::kInvalid, "not positive");
  ++checked;
  return {};
}

TEST(ErrorTest, EveryReasonHasItsOwnName) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Reason::kUnknown); ++i) names.insert(ToString(static_cast<Reason>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Reason::kUnknown) + 1);
  EXPECT_EQ(ToString(Reason::kNotFound), "NotFound");
  EXPECT_EQ(ToString(Reason::kUnknown), "Unknown");
}

TEST(ErrorTest, TextStartsWithTheReason) {
  EXPECT_EQ(Fail(Reason::kNotFound, "pods \"x\" not found").value().ToString(), "NotFound: pods \"x\" not found");
  EXPECT_EQ(Fail(Reason::kCancelled, "").value().ToString(), "Cancelled");
}

TEST(ErrorTest, OnlyErrorsThatCanResolveThemselvesAreTransient) {
  const std::set<Reason> transient = {Reason::kTooManyRequests, Reason::kServerTimeout, Reason::kServiceUnavailable,
                                      Reason::kInternalError,   Reason::kTransport,     Reason::kNotSynced};
  for (int i = 0; i <= static_cast<int>(Reason::kUnknown); ++i) {
    const Reason reason = static_cast<Reason>(i);
    EXPECT_EQ(IsTransient(Error{reason, "", 0, std::nullopt, {}}), transient.contains(reason)) << ToString(reason);
  }
  EXPECT_TRUE(IsTransient(Error{Reason::kUnknown, "", 502, std::nullopt, {}}));
  EXPECT_FALSE(IsTransient(Error{Reason::kUnknown, "", 418, std::nullopt, {}}));
}

TEST(TryTest, ValueIsDeclaredOnSuccessAndTheErrorReturnedOnFailure) {
  EXPECT_EQ(Quarter(12).value(), 3);
  EXPECT_EQ(Quarter(3).error().ToString(), "Invalid: 3 is odd");
  EXPECT_EQ(Quarter(6).error().ToString(), "Invalid: 3 is odd");
}

TEST(TryTest, ErrorIsReturnedWithAllItsFields) {
  const Error error{Reason::kConflict, "changed", 409, std::chrono::milliseconds(5), {{"spec", "Invalid", "bad"}}};
  const auto forward = [&]() -> Result<std::string> {
    YAD_TRY(const int number, Result<int>(Fail(error)));
    return std::to_string(number);
  };
  const Error returned = forward().error();
  EXPECT_EQ(returned.reason, Reason::kConflict);
  EXPECT_EQ(returned.message, "changed");
  EXPECT_EQ(returned.http_status, 409);
  EXPECT_EQ(returned.retry_after, std::chrono::milliseconds(5));
  ASSERT_EQ(returned.causes.size(), 1u);
  EXPECT_EQ(returned.causes.front().field, "spec");
}

TEST(TryTest, VoidFormContinuesOnSuccessAndIsOneStatement) {
  int checked = 0;
  EXPECT_TRUE(CheckQuarter(4, checked));
  EXPECT_EQ(checked, 1);
  EXPECT_EQ(CheckQuarter(2, checked).error().message, "1 is odd");
  EXPECT_EQ(CheckQuarter(-4, checked).error().message, "not positive");
  EXPECT_EQ(checked, 1);
}

TEST(TryTest, MoveOnlyValueIsMovedOut) {
  const auto make = [](int number) -> Result<std::unique_ptr<int>> { return std::make_unique<int>(number); };
  const auto twice = [&](int number) -> Result<std::unique_ptr<int>> {
    YAD_TRY(auto pointer, make(number));
    *pointer *= 2;
    YAD_TRY(const auto& other, make(1));
    *pointer += *other;
    YAD_TRY_VOID(make(0));
    return pointer;
  };
  EXPECT_EQ(**twice(4), 9);
}

TEST(TryTest, ExistingVariableIsAssigned) {
  const auto halve_twice = [](int number) -> Result<int> {
    YAD_TRY(number, Half(number));
    YAD_TRY(number, Half(number));
    return number;
  };
  EXPECT_EQ(halve_twice(8).value(), 2);
  EXPECT_FALSE(halve_twice(2));
}

TEST(TryTest, NamedResultKeepsItsValue) {
  const Result<std::string> kept = std::string("value");
  const auto by_reference = [&]() -> const Result<std::string>& { return kept; };
  Result<std::string> variable = std::string("variable");
  const auto join = [&]() -> Result<std::string> {
    YAD_TRY(const std::string first, by_reference());
    YAD_TRY(const std::string second, variable);
    return first + " " + second;
  };
  EXPECT_EQ(join().value(), "value variable");
  EXPECT_EQ(*kept, "value");
  EXPECT_EQ(*variable, "variable");
}

TEST(TryTest, ExpressionIsEvaluatedOnceAndMayContainCommasAndAnotherTry) {
  int calls = 0;
  const auto run = [&](int number) -> Result<std::pair<int, int>> {
    YAD_TRY(const auto pair, [&]() -> Result<std::pair<int, int>> {
      YAD_TRY(const int half, Half(number));
      YAD_TRY_VOID(Half(half));
      ++calls;
      return std::pair<int, int>(half, number);
    }());
    return pair;
  };
  EXPECT_EQ(run(8).value(), (std::pair<int, int>(4, 8)));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(run(6).error().message, "3 is odd");
  EXPECT_EQ(calls, 1);
}

// This macro has several uses of YAD_TRY on one line.
#define YAD_TRY_QUARTER(half, quarter, number) \
  YAD_TRY(const int half, Half(number));       \
  YAD_TRY(const int quarter, Half(half));      \
  YAD_TRY_VOID(Half(quarter))

TEST(TryTest, TemporariesOnOneLineHaveDistinctNames) {
  const auto run = [](int number) -> Result<int> {
    YAD_TRY_QUARTER(half, quarter, number);
    return half + quarter;
  };
  EXPECT_EQ(run(8).value(), 6);
  EXPECT_EQ(run(4).error().message, "1 is odd");
}

TEST(IfFoundTest, OnlyNotFoundBecomesNullopt) {
  EXPECT_EQ(IfFound(Result<int>(1)).value(), std::optional(1));
  EXPECT_EQ(IfFound(Result<int>(Fail(Reason::kNotFound, "x"))).value(), std::nullopt);
  EXPECT_EQ(IfFound(Result<int>(Fail(Reason::kForbidden, "x"))).error().reason, Reason::kForbidden);
}

}  // namespace
}  // namespace yad
