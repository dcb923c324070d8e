#include "operator/base/error.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace yad {
namespace {

TEST(ErrorTest, EveryReasonHasItsOwnName) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Reason::kUnknown); ++i) names.insert(ToString(static_cast<Reason>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Reason::kUnknown) + 1);
  EXPECT_EQ(ToString(Reason::kNotFound), "NotFound");
  EXPECT_EQ(ToString(Reason::kUnknown), "Unknown");
}

TEST(ErrorTest, TextBeginsWithTheReason) {
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

}  // namespace
}  // namespace yad
