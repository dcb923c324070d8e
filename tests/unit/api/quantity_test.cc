#include "operator/api/quantity.h"

#include <gtest/gtest.h>

namespace yad {
namespace {

TEST(QuantityTest, SpellingsOfOneValueAreEqual) {
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

TEST(QuantityTest, WhatIsNoQuantityEqualsNothing) {
  for (const char* text : {"", "m", "1x", "1 ", "1.2.3", "--1", "1ei", "1e", "1e+", "1e1000000", "0x10", "1mi",
                           "99999999999999999999999999999999999999999"}) {
    EXPECT_FALSE(QuantityEqual(text, text)) << text;
  }
}

TEST(QuantityTest, TheCanonicalFormIsAQuantityItself) {
  for (const char* text :
       {"1.5Gi", "1e999", "1e-999", "350000002999993000E996", "350000002999993000E999", "0.01e-999"}) {
    const auto canonical = CanonicalQuantity(text);
    if (!canonical) continue;
    EXPECT_EQ(CanonicalQuantity(*canonical), canonical) << text;
  }
  EXPECT_TRUE(CanonicalQuantity("1e999"));
  EXPECT_FALSE(CanonicalQuantity("10e999"));
}

}  // namespace
}  // namespace yad
