#include "operator/json/json_document.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

namespace yad {
namespace {

JsonDocument Document(const std::string& text) { return *JsonDocument::Parse(text); }

TEST(JsonDocumentTest, ATreeMayContainOnlySelectedParts) {
  const JsonDocument document = Document(
      R"({"metadata":{"name":"a","managedFields":[]},"spec":{"x":{"a":1},"y":2},"list":[{"a":1,"b":2},3,{"b":4}],"z":5})");
  EXPECT_EQ(document.TreeOfObject({{"spec", {{"x"}}}, {"z"}}).dump(), R"({"spec":{"x":{"a":1}},"z":5})");
  EXPECT_EQ(document.TreeOfObject({{"spec"}}).dump(), R"({"spec":{"x":{"a":1},"y":2}})");
  EXPECT_EQ(document.TreeOfObject({{"list", {{"a"}}}}).dump(), R"({"list":[{"a":1},3,{}]})");
  EXPECT_EQ(document.TreeOfObject({{"z", {{"x"}}}, {"absent"}}).dump(), R"({"z":5})");
  EXPECT_EQ(document.TreeOfObject({{"metadata"}}).dump(), R"({"metadata":{"name":"a"}})");
}

// ParseMeta must return the same metadata for a document and for its tree, even for documents that no apiserver writes.
TEST(JsonDocumentTest, MetadataOfTheTextEqualsThatOfTheTree) {
  const std::vector<std::string> odd = {"null",  "5",  "-5", "18446744073709551615",       "1.5",          "true",
                                        "\"x\"", "[]", "{}", R"({"b":"1","a":"2","c":3})", R"([1,{},"x"])"};
  std::vector<std::string> texts = {
      "[]",
      "{}",
      R"({"metadata":[]})",
      R"({"metadata":{"name":"a","name":"b"}})",
      R"({"metadata":{"labels":{"a":"1","a":2,"b":"3","b":"4"},"labels":{"c":"5","a":"6","b":7,"b":"8"}}})",
      R"({"metadata":{"labels":{"z":"0","a":"1","a":2,"b":"3","b":"4"}}})",
      R"({"metadata":{"labels":{"a":"1","b":"3","b":"4"}}})",
      R"({"metadata":{"name":"a"},"metadata":{"uid":"u"}})",
      R"({"metadata":{"name":"n","namespace":"ns","uid":"u","resourceVersion":"7","generation":3,
          "creationTimestamp":"2026-01-01T00:00:00Z","deletionTimestamp":"2026-01-02T00:00:00Z",
          "labels":{"a":"1","b":""},"annotations":{"z":"1"},"managedFields":[{"manager":"m"}],
          "ownerReferences":[{"apiVersion":"v1","kind":"K","name":"o","uid":"p","controller":true,"x":1},
                             {"controller":"true","uid":5},7]}})"};
  for (const char* key : {"namespace", "name", "uid", "resourceVersion", "generation", "creationTimestamp",
                          "deletionTimestamp", "labels", "annotations", "ownerReferences"}) {
    for (const std::string& value : odd) texts.push_back(R"({"metadata":{")" + std::string(key) + "\":" + value + "}}");
  }
  for (const std::string& text : texts) {
    const ObjectMeta of_text = ParseMeta(Document(text));
    const ObjectMeta of_tree = ParseMeta(Json::parse(text));
    const auto members = [](const ObjectMeta& m) {
      return std::tie(m.key, m.uid, m.resource_version, m.generation, m.creation_timestamp, m.deletion_timestamp,
                      m.labels, m.annotations);
    };
    EXPECT_EQ(members(of_text), members(of_tree)) << text;
    const auto owners = [](const ObjectMeta& m) { return m.owners ? std::optional(*m.owners) : std::nullopt; };
    EXPECT_EQ(owners(of_text), owners(of_tree)) << text;
  }
}

TEST(JsonDocumentTest, EnterReturnsTheLastMemberOfADuplicateKey) {
  JsonDocument document = Document(R"({"a":{"b":1},"a":{"b":2}})");
  EXPECT_FALSE(document.Enter("b"));
  EXPECT_TRUE(document.is_object());
  EXPECT_TRUE(document.Enter("a"));
  EXPECT_EQ(document.Tree().dump(), R"({"b":2})");
  EXPECT_TRUE(document.Enter("b"));
  EXPECT_FALSE(document.is_object());
  EXPECT_FALSE(document.Enter("c"));
}

TEST(JsonDocumentTest, DocumentStaysValidAfterItsTextIsDestroyed) {
  std::vector<JsonDocument> documents;
  for (int i = 0; i < 5; ++i) documents.push_back(Document("[\"" + std::to_string(i) + "\"]"));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(documents[static_cast<std::size_t>(i)].Tree()[0], std::to_string(i));
}

// The limit is exact for each mix of objects and arrays, so that one deeply nested object does not prevent the reading
// of others.
TEST(JsonDocumentTest, TreeHasAllLevelsUpToTheLimitOfTheDepth) {
  for (int levels = kMaxParseDepth - 3; levels < kMaxParseDepth + 5; ++levels) {
    for (const int objects : {1, 2, 3, 5, 1 << 20}) {  // Every n-th level is an object; the others are arrays.
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

// A client of the webhook can send many values that nest too deeply. The time for them must be linear in their length.
TEST(JsonDocumentTest, ManyElementsThatNestTooDeeplyAreOmittedInLinearTime) {
  const std::string open(kMaxParseDepth - 1, '['), close(kMaxParseDepth - 1, ']');
  std::string many;
  for (int i = 0; i < 500'000; ++i) many += ",[]";
  const Json tree = Document(R"({"a":"[{\"]}","deep":)" + open + "[[1]]" + many + close + R"(,"z":[1]})").Tree();
  EXPECT_EQ(tree["a"], "[{\"]}");
  EXPECT_EQ(tree["z"], Json({1}));
  EXPECT_TRUE(IsDeeperThan(tree, kMaxParseDepth - 1));
  EXPECT_FALSE(IsDeeperThan(tree, kMaxParseDepth));
}

TEST(JsonDocumentTest, TextOfOnlyOpenBracketsIsRejectedWithoutATree) {
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

TEST(JsonDocumentTest, TruncatedTextIsRejected) {
  const std::string deep(2 * kMaxParseDepth, '[');
  for (const char* end : {"\"", "\"\\", "\"a", "{\"", "]", "1"}) EXPECT_FALSE(JsonDocument::Parse(deep + end)) << end;
  for (const char* text : {"\"\\", "[\"\\", "]", "}}", "[]]", "[1e400", "[}"})
    EXPECT_FALSE(JsonDocument::Parse(text)) << text;
}

// A watch must continue after a number that does not fit in 64 bits.
TEST(JsonDocumentTest, NumbersBeyondSixtyFourBitsAreReadAsDoubles) {
  EXPECT_EQ(Document(R"({"n":123456789012345678901234567890})").Tree()["n"], 123456789012345678901234567890.0);
}

}  // namespace
}  // namespace yad
