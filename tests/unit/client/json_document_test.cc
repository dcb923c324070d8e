#include "operator/client/json_document.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <nlohmann/json.hpp>

namespace yad {
namespace {

JsonDocument Document(const std::string& text) { return *JsonDocument::Parse(text); }

TEST(JsonDocumentTest, ATreeMayLackWhatStandsAtAPath) {
  const JsonDocument document = Document(R"({"spec":{"template":{"a":1},"replicas":2},"template":3})");
  EXPECT_EQ(document.TreeOfObject({"spec", "template"}).dump(), R"({"spec":{"replicas":2},"template":3})");
  EXPECT_EQ(document.TreeOfObject({"spec"}).dump(), R"({"template":3})");
  EXPECT_EQ(document.TreeOfObject({"spec", "replicas", "x"}), document.Tree());
  EXPECT_EQ(document.TreeOfObject({"absent", "template"}), document.Tree());
}

TEST(JsonDocumentTest, MembersAreEnteredAndOfTwoWithOneKeyTheLast) {
  JsonDocument document = Document(R"({"a":{"b":1},"a":{"b":2}})");
  EXPECT_FALSE(document.Enter("b"));
  EXPECT_TRUE(document.is_object());
  EXPECT_TRUE(document.Enter("a"));
  EXPECT_EQ(document.Tree().dump(), R"({"b":2})");
  EXPECT_TRUE(document.Enter("b"));
  EXPECT_FALSE(document.is_object());
  EXPECT_FALSE(document.Enter("c"));
}

TEST(JsonDocumentTest, OutlivesItsTextAndOthers) {
  std::vector<JsonDocument> documents;
  for (int i = 0; i < 5; ++i) documents.push_back(Document("[\"" + std::to_string(i) + "\"]"));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(documents[static_cast<std::size_t>(i)].Tree()[0], std::to_string(i));
}

// Whatever stands in what, to one level: a cluster's one deep object must not end the reading of the others.
TEST(JsonDocumentTest, AroundTheLimitOfLevelsEverythingIsRead) {
  for (int levels = kMaxParseDepth - 3; levels < kMaxParseDepth + 5; ++levels) {
    for (const int objects : {1, 2, 3, 5, 1 << 20}) {  // every so many-th is one, the others are arrays
      for (const int first : {0, 1}) {
        for (const char* leaf : {"1", "{}", "[]", R"({"b":[1,{}],"c":2})"}) {
          std::string text = leaf;
          for (int level = levels; level > 0; --level) {
            const bool object = (level + first) % objects == 0;
            text.insert(0, object ? R"({"a":)" : "[").append(object ? ",\"z\":0}" : "]");
          }
          const auto document = JsonDocument::Parse(text);
          ASSERT_TRUE(document) << levels << " " << objects << " " << first << " " << leaf;
          const Json tree = document->Tree();
          EXPECT_FALSE(IsDeeperThan(tree, kMaxParseDepth + 1)) << levels << " " << objects << " " << leaf;
          EXPECT_TRUE(IsDeeperThan(tree, kMaxParseDepth - 10)) << levels << " " << objects << " " << leaf;
          if (levels < kMaxParseDepth - 2) {
            EXPECT_EQ(tree, Json::parse(text));
          }
        }
      }
    }
  }
}

// The cost of what is left out follows the length of the text: it may come from anybody who reaches the webhook.
TEST(JsonDocumentTest, OfADeepTextManyElementsAreLeftOutAtOnce) {
  const std::string open(kMaxParseDepth - 1, '['), close(kMaxParseDepth - 1, ']');
  std::string many;
  for (int i = 0; i < 500'000; ++i) many += ",[]";
  const Json tree = Document(R"({"a":"[{\"]}","deep":)" + open + "[[1]]" + many + close + R"(,"z":[1]})").Tree();
  EXPECT_EQ(tree["a"], "[{\"]}");
  EXPECT_EQ(tree["z"], Json({1}));
  EXPECT_TRUE(IsDeeperThan(tree, kMaxParseDepth - 1));
  EXPECT_FALSE(IsDeeperThan(tree, kMaxParseDepth));
}

TEST(JsonDocumentTest, OfATextOfBracketsNoTreeIsMade) {
  const auto peak_kb = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const std::string text(8 << 20, '[');
  const long before = peak_kb();
  const auto document = JsonDocument::Parse(text);
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().reason, Reason::kDecode);
  EXPECT_LT(peak_kb() - before, 256 * 1024);
}

TEST(JsonDocumentTest, WhatIsCutOffInTheMiddleIsRefused) {
  const std::string deep(2 * kMaxParseDepth, '[');
  for (const char* end : {"\"", "\"\\", "\"a", "{\"", "]", "1"}) EXPECT_FALSE(JsonDocument::Parse(deep + end)) << end;
  for (const char* text : {"\"\\", "[\"\\", "]", "}}", "[]]", "[1e400", "[}"})
    EXPECT_FALSE(JsonDocument::Parse(text)) << text;
}

// Such numbers are no reason to stop reading a watch.
TEST(JsonDocumentTest, NumbersBeyondSixtyFourBitsAreReadAsDoubles) {
  EXPECT_EQ(Document(R"({"n":123456789012345678901234567890})").Tree()["n"], 123456789012345678901234567890.0);
}

}  // namespace
}  // namespace yad
