#include "operator/api/quantity.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace yad {
namespace {

TEST(QuantityTest, DifferentNotationsOfOneValueAreEqual) {
  EXPECT_TRUE(QuantityEqual("1000m", "1"));
  EXPECT_TRUE(QuantityEqual("1Gi", "1024Mi"));
  EXPECT_TRUE(QuantityEqual("0.5", "500m"));
  EXPECT_TRUE(QuantityEqual("1.5Gi", "1536Mi"));
  EXPECT_TRUE(QuantityEqual("1e3", "1k"));
  EXPECT_TRUE(QuantityEqual("1E3", "1000"));
  EXPECT_TRUE(QuantityEqual("1E", "1000P"));
  EXPECT_TRUE(QuantityEqual("+2", "2.0"));
  EXPECT_TRUE(QuantityEqual("0", "-0Ki"));
  EXPECT_TRUE(QuantityEqual("100n", "0.1u"));
}

TEST(QuantityTest, DifferentValuesAreNotEqual) {
  EXPECT_FALSE(QuantityEqual("1Gi", "1G"));
  EXPECT_FALSE(QuantityEqual("1", "-1"));
  EXPECT_FALSE(QuantityEqual("1m", "1M"));
  EXPECT_FALSE(QuantityEqual("10", "1"));
}

TEST(QuantityTest, InvalidQuantityEqualsNoOtherQuantity) {
  for (const char* text : {"", "m", "1x", "1 ", "1.2.3", "--1", "1ei", "1e", "1e+", "1e1000000", "0x10", "1mi",
                           "99999999999999999999999999999999999999999"}) {
    EXPECT_FALSE(QuantityEqual(text, text)) << text;
  }
}

TEST(QuantityTest, CanonicalFormIsAValidQuantity) {
  for (const char* text :
       {"1.5Gi", "1e999", "1e-999", "350000002999993000E996", "350000002999993000E999", "0.01e-999"}) {
    const auto canonical = CanonicalQuantity(text);
    if (!canonical) continue;
    EXPECT_EQ(CanonicalQuantity(*canonical), canonical) << text;
  }
  EXPECT_TRUE(CanonicalQuantity("1e999"));
  EXPECT_FALSE(CanonicalQuantity("10e999"));
}

TEST(QuantityTest, QuantityInUnitsIsRoundedUpAsTheSchedulerDoes) {
  EXPECT_EQ(QuantityIn(Unit::kMilli, "250m"), 250);
  EXPECT_EQ(QuantityIn(Unit::kMilli, "1.5"), 1500);
  EXPECT_EQ(QuantityIn(Unit::kMilli, "100n"), 1);
  EXPECT_EQ(QuantityIn(Unit::kMilli, "0.0001u"), 1);
  EXPECT_EQ(QuantityIn(Unit::kOne, "1500m"), 2);
  EXPECT_EQ(QuantityIn(Unit::kOne, "1.5Gi"), 1610612736);
  EXPECT_EQ(QuantityIn(Unit::kOne, "1e3"), 1000);
  EXPECT_EQ(QuantityIn(Unit::kOne, "0"), 0);
  EXPECT_EQ(QuantityIn(Unit::kOne, "-1500m"), -1);
  EXPECT_EQ(QuantityIn(Unit::kOne, "1e-999"), 1);
  EXPECT_EQ(QuantityIn(Unit::kOne, "0.3333333333333333333333333333333333333333333Gi"), 357913942);
  EXPECT_EQ(QuantityIn(Unit::kOne, "1" + std::string(60, '0')), std::numeric_limits<std::int64_t>::max());
}

TEST(QuantityTest, QuantityBeyondTheRangeIsClamped) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  for (const char* text : {"9E", "16Ei", "1e30", "99999999999999999999999999999999999999"}) {
    EXPECT_EQ(QuantityIn(Unit::kMilli, text), kMax) << text;
    EXPECT_EQ(QuantityIn(Unit::kMilli, "-" + std::string(text)), -kMax) << text;
  }
  EXPECT_EQ(QuantityIn(Unit::kOne, "9E"), 9000000000000000000);
  EXPECT_FALSE(QuantityIn(Unit::kOne, "much"));
}

}  // namespace
}  // namespace yad
