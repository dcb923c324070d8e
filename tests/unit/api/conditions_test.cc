#include "operator/api/conditions.h"

#include <gtest/gtest.h>

namespace yad {
namespace {

TEST(ConditionsTest, NamesBeyondTheLimitAreCounted) {
  EXPECT_EQ(NameSome({}), "");
  EXPECT_EQ(NameSome({"a", "b"}, 2), "a, b");
  EXPECT_EQ(NameSome({"a", "b", "c", "d"}, 2), "a, b and 2 more");
  EXPECT_EQ(NameSome({"a", "b", "c", "d", "e", "f"}), "a, b, c, d, e and 1 more");
}

}  // namespace
}  // namespace yad
