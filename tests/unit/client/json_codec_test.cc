#include "operator/client/json_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace yad {
namespace {

std::string Nested(int levels) {
  return std::string(static_cast<std::size_t>(levels), '[') + std::string(static_cast<std::size_t>(levels), ']');
}

TEST(JsonCodecTest, ValidTextIsParsed) {
  const Result<Json> value = ParseJson("{\"a\":[1,\"\xc3\xa9\"]}");
  ASSERT_TRUE(value);
  EXPECT_EQ((*value)["a"][1], "\xc3\xa9");
}

TEST(JsonCodecTest, GarbageIsADecodeErrorWithAnExcerpt) {
  for (const std::string text :
       {"", " ", "{", "{\"a\":}", "nul", "{} {}", "\"\xff\"", "1e999", "{\"a\":1,}", "\"\\ud800\"", "<html>"}) {
    const Result<Json> value = ParseJson(text);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().reason, Reason::kDecode) << text;
  }
  EXPECT_THAT(ParseJson("<html>").error().message, ::testing::HasSubstr("<html>"));
}

TEST(JsonCodecTest, NestingUpToTheLimitIsParsedAndPrinted) {
  const Result<Json> value = ParseJson(Nested(kMaxParseDepth));
  ASSERT_TRUE(value);
  EXPECT_EQ(DumpJson(*value), Nested(kMaxParseDepth));
}

TEST(JsonCodecTest, WhatNestsBeyondTheLimitIsLeftOutAndTheRestIsRead) {
  for (const int levels : {kMaxParseDepth + 1, 100'000}) {
    const Result<Json> value = ParseJson(Nested(levels));
    ASSERT_TRUE(value);
    EXPECT_EQ(DumpJson(*value), Nested(kMaxParseDepth));
  }
  const Result<Json> object = ParseJson("{\"a\":" + Nested(100'000) + ",\"b\":1}");
  ASSERT_TRUE(object);
  EXPECT_EQ((*object)["b"], 1);
  EXPECT_TRUE(IsDeeperThan((*object)["a"], kMaxJsonDepth)) << "validation could not tell that something was left out";
}

TEST(JsonCodecTest, NestingThatIsNeverClosedIsRefused) {
  EXPECT_EQ(ParseJson(std::string(100'000, '[')).error().reason, Reason::kDecode);
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_EQ(ParseJson(objects).error().reason, Reason::kDecode);
}

TEST(JsonCodecTest, BracketsInStringsDoNotNest) {
  const std::string text = "\"" + std::string(100'000, '[') + "\\\"" + std::string(100'000, '{') + "\"";
  EXPECT_TRUE(ParseJson(text));
}

TEST(JsonCodecTest, InvalidUtf8OfOurOwnIsReplacedInsteadOfThrowing) {
  EXPECT_EQ(DumpJson(Json("a\xff")), "\"a\xef\xbf\xbd\"");
}

TEST(JsonCodecTest, ExcerptIsOnePrintableLineThatIsCut) {
  EXPECT_EQ(Excerpt("a\n\n b\x01\xff\n"), "a  b??");
  EXPECT_EQ(Excerpt(std::string(500, 'x'), 10), "xxxxxxxxxx...");
}

}  // namespace
}  // namespace yad
