
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/json/json_document.h"

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

TEST(JsonCodecTest, EscapesTheSameCharactersAsGo) {
  const Json value = {{"a<b", "x && y > z"}, {"c", "\u2028 \u2029 \u2030 \xe2\x82\xac \xc3\xa9"}};
  const std::string text = DumpJsonAsGo(value);
  EXPECT_EQ(text,
            "{\"a\\u003cb\":\"x \\u0026\\u0026 y \\u003e z\",\"c\":\"\\u2028 \\u2029 \u2030 \xe2\x82\xac \xc3\xa9\"}");
  EXPECT_EQ(*ParseJson(text), value);
  EXPECT_EQ(DumpJsonAsGo({{"a", "\xe2\x82"}}), DumpJson({{"a", "\xe2\x82"}}));
  EXPECT_EQ(DumpJsonAsGo(Json::object()), "{}");
}

TEST(JsonCodecTest, MalformedTextIsADecodeErrorWithAnExcerpt) {
  for (const std::string text :
       {"", " ", "{", "{\"a\":}", "nul", "{} {}", "\"\xff\"", "1e999", "{\"a\":1,}", "\"\\ud800\"", "<html>"}) {
    const Result<Json> value = ParseJson(text);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().reason, Reason::kDecode) << text;
  }
  EXPECT_THAT(ParseJson("<html>").error().message, ::testing::HasSubstr("<html>"));
}

// The result must equal the result of nlohmann_json's parser.
TEST(JsonCodecTest, EveryValueIsParsedUnchanged) {
  for (const std::string text : {"0",
                                 "-1",
                                 "1",
                                 "9223372036854775807",
                                 "-9223372036854775808",
                                 "18446744073709551615",
                                 "18446744073709551616",
                                 "123456789012345678901234567890",
                                 "1.0",
                                 "-1.5e-7",
                                 "1e308",
                                 "4.9e-324",
                                 "true",
                                 "false",
                                 "null",
                                 "\"\"",
                                 "\"\\u0000\\u00e9\\ud83d\\ude00\\n\\/\"",
                                 "[]",
                                 "{}",
                                 "[[],{},[1,{\"a\":null}]]",
                                 "{\"b\":1,\"a\":2,\"b\":3}",
                                 " {\t\"a\" :\r\n1 } ",
                                 "\xef\xbb\xbf{}",
                                 "{\"\":{\"\":[]}}"}) {
    const Json expected = Json::parse(text, nullptr, false);
    const Result<Json> value = ParseJson(text);
    ASSERT_TRUE(value) << text;
    EXPECT_EQ(*value, expected) << text;
    EXPECT_EQ(value->type(), expected.type()) << text;
    EXPECT_EQ(DumpJson(*value), DumpJson(expected)) << text;
  }
}

TEST(JsonCodecTest, OnlyManagedFieldsOfTheObjectsOwnMetadataAreOmitted) {
  const std::string object =
      R"({"metadata":{"managedFields":[{"a":1}],"name":"n"},"spec":{"metadata":{"managedFields":1}})";
  const std::string without = R"({"metadata":{"name":"n"},"spec":{"metadata":{"managedFields":1}})";
  const std::string other = R"(,"items":[)" + object + R"(}],"object":)" + object + "}}";
  // Only the slow parser can read the large number in the second document.
  for (const std::string& end : {other, std::string(R"(,"y":123456789012345678901234567890)") + other}) {
    EXPECT_EQ(DumpJson(JsonDocument::Parse(object + end).value().TreeOfObject()), DumpJson(Json::parse(without + end)));
    EXPECT_EQ(DumpJson(ParseJson(object + end).value()), DumpJson(Json::parse(object + end)));
  }
}

TEST(JsonCodecTest, NestingUpToTheLimitIsParsedAndPrinted) {
  const Result<Json> value = ParseJson(Nested(kMaxParseDepth));
  ASSERT_TRUE(value);
  EXPECT_EQ(DumpJson(*value), Nested(kMaxParseDepth));
}

TEST(JsonCodecTest, ValuesNestedBeyondTheLimitAreOmittedAndTheRestIsParsed) {
  for (const int levels : {kMaxParseDepth + 2, 100'000}) {
    const Result<Json> value = ParseJson(Nested(levels));
    ASSERT_TRUE(value);
    EXPECT_EQ(DumpJson(*value), Nested(kMaxParseDepth));
  }
  const Result<Json> object = ParseJson("{\"a\":" + Nested(100'000) + ",\"b\":1}");
  ASSERT_TRUE(object);
  EXPECT_EQ((*object)["b"], 1);
  EXPECT_TRUE(IsDeeperThan((*object)["a"], kMaxJsonDepth)) << "validation could not tell that something was left out";
}

TEST(JsonCodecTest, NestingThatIsNotClosedIsRejected) {
  EXPECT_EQ(ParseJson(std::string(100'000, '[')).error().reason, Reason::kDecode);
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_EQ(ParseJson(objects).error().reason, Reason::kDecode);
}

TEST(JsonCodecTest, BracketsInStringsDoNotCountAsNesting) {
  const std::string text = "\"" + std::string(100'000, '[') + "\\\"" + std::string(100'000, '{') + "\"";
  EXPECT_TRUE(ParseJson(text));
}

TEST(JsonCodecTest, InvalidUtf8IsReplacedInPrintedTextWithoutAnException) {
  EXPECT_EQ(DumpJson(Json("a\xff")), "\"a\xef\xbf\xbd\"");
}

TEST(JsonCodecTest, ExcerptIsOnePrintableTruncatedLine) {
  EXPECT_EQ(Excerpt("a\n\n b\x01\xff\n"), "a  b??");
  EXPECT_EQ(Excerpt(std::string(500, 'x'), 10), "xxxxxxxxxx...");
}

}  // namespace
}  // namespace yad
