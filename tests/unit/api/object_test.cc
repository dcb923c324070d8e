#include "operator/api/object.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/api/junk.h"

namespace yad {
namespace {

TEST(ObjectTest, MetadataIsRead) {
  const ObjectMeta meta = ParseMeta(Json::parse(R"({"metadata": {
      "name": "n", "namespace": "ns", "uid": "u", "resourceVersion": "12", "generation": 3,
      "creationTimestamp": "2026-11-20T10:30:43Z", "deletionTimestamp": "2026-11-20T10:30:44Z",
      "labels": {"a": "1", "bad": 2}, "annotations": {"b": "2"},
      "ownerReferences": [{"apiVersion": "v1", "kind": "K", "name": "o", "uid": "ou"}, 7,
                          {"apiVersion": "v2", "kind": "C", "name": "c", "uid": "cu", "controller": true}]}})"));
  EXPECT_EQ(meta.key, (ObjectKey{"ns", "n"}));
  EXPECT_EQ(meta.key.ToString(), "ns/n");
  EXPECT_EQ(meta.uid, "u");
  EXPECT_EQ(meta.resource_version, "12");
  EXPECT_EQ(meta.generation, 3);
  EXPECT_EQ(meta.creation_timestamp, "2026-11-20T10:30:43Z");
  EXPECT_TRUE(meta.deleting());
  EXPECT_EQ(meta.labels, (StringMap{{"a", "1"}}));
  EXPECT_EQ(meta.Label("a"), "1");
  EXPECT_EQ(meta.Label("none"), "");
  EXPECT_EQ(meta.Annotation("b"), "2");
  ASSERT_EQ(meta.owners->size(), 2U);
  ASSERT_NE(meta.controller(), nullptr);
  EXPECT_EQ(meta.controller()->uid, "cu");
  EXPECT_EQ(ParseMeta(Json{{"metadata", {{"name", "n"}}}}).controller(), nullptr);
}

TEST(ObjectTest, ValuesOfWrongTypesCountAsAbsent) {
  for (const Json& junk : testing::kJunk) {
    const ObjectMeta meta = ParseMeta(junk);
    EXPECT_EQ(meta.key, ObjectKey{});
    EXPECT_FALSE(meta.deleting());
    for (const char* field : {"name", "namespace", "uid", "generation", "labels", "annotations", "ownerReferences",
                              "deletionTimestamp", "creationTimestamp", "resourceVersion"}) {
      ParseMeta(Json{{"metadata", {{field, junk}}}});  // must not throw
    }
  }
  EXPECT_EQ(ParseMeta(Json{{"metadata", {{"generation", 18446744073709551615ULL}}}}).generation, 0);
}

TEST(ObjectTest, FindDescendsOnlyIntoObjects) {
  const Json object = Json::parse(R"({"a": {"b": {"c": "x", "n": -4, "t": true, "l": [1], "z": null}}, "s": "x"})");
  EXPECT_EQ(Find(object, {}), &object);
  ASSERT_NE(Find(object, {"a", "b", "c"}), nullptr);
  EXPECT_EQ(*Find(object, {"a", "b", "c"}), "x");
  EXPECT_TRUE(Find(object, {"a", "b", "z"})->is_null());
  EXPECT_EQ(Find(object, {"a", "x"}), nullptr);
  EXPECT_EQ(Find(object, {"s", "x"}), nullptr);
  EXPECT_EQ(Find(object, {"a", "b", "l", "0"}), nullptr);
  EXPECT_EQ(StringAt(object, {"a", "b", "c"}), "x");
  EXPECT_EQ(StringAt(object, {"a", "b", "n"}, "other"), "other");
  EXPECT_EQ(IntAt(object, {"a", "b", "n"}), -4);
  EXPECT_EQ(IntAt(object, {"a", "b", "c"}, 9), 9);
  EXPECT_EQ(IntAt(Json{{"x", 1.0}}, {"x"}, 9), 9);
  EXPECT_EQ(IntAt(Json{{"x", 18446744073709551615ULL}}, {"x"}, 9), 9);
  EXPECT_TRUE(BoolAt(object, {"a", "b", "t"}));
  EXPECT_TRUE(BoolAt(object, {"a", "b", "n"}, true));
  EXPECT_EQ(StringMapAt(object, {"a", "b"}), (StringMap{{"c", "x"}}));
  EXPECT_EQ(StringMapAt(object, {"s"}), StringMap{});
}

TEST(ObjectTest, DepthIsCountedInObjectsAndArrays) {
  EXPECT_FALSE(IsDeeperThan(1, 0));
  EXPECT_TRUE(IsDeeperThan(Json::array(), 0));
  EXPECT_FALSE(IsDeeperThan(Json::array(), 1));
  const Json three = Json::parse(R"({"a": 1, "b": [{"c": 2}]})");
  EXPECT_TRUE(IsDeeperThan(three, 2));
  EXPECT_FALSE(IsDeeperThan(three, 3));
  EXPECT_TRUE(IsDeeperThan(Json::parse(std::string(300000, '[') + std::string(300000, ']')), kMaxJsonDepth));
}

TEST(ObjectTest, MeasuredLengthEqualsTheLengthOfTheSentText) {
  std::string every_ascii;
  for (char c = 0; c < 127; ++c) every_ascii += c;
  const std::string controls(1000, '\x01');
  for (const Json& value :
       {Json(nullptr), Json(true), Json(-17), Json(18446744073709551615ULL), Json(1.5e300), Json(every_ascii),
        Json("\x7f\u00e4\u2028\U0001f600"), Json(Json::array()), Json(Json::object()), Json({1, "a", nullptr, {2}}),
        Json({{"a\n\x01\"", {{"b", {1, 2, 3}}}}, {"c", Json::object()}}), Json(controls)}) {
    EXPECT_EQ(MeasureJson(value).text, value.dump().size()) << value;
  }
  EXPECT_EQ(MeasureJson(controls).text, 6002U);
  EXPECT_EQ(MeasureJson(Json::parse(R"({"a": 1, "b": [{"c": 2}, 3]})")).values, 6U);
  EXPECT_EQ(MeasureJson(Json::parse(std::string(300000, '[') + std::string(300000, ']'))).text, 600000U);
}

TEST(ObjectTest, HashesMatchThePublishedValues) {
  // The authors of FNV have published these hashes.
  EXPECT_EQ(Fnv1a64(""), 0xcbf29ce484222325ULL);
  EXPECT_EQ(Fnv1a64("a"), 0xaf63dc4c8601ec8cULL);
  EXPECT_EQ(Fnv1a64("foobar"), 0x85944171f73967e8ULL);
  EXPECT_EQ(Fnv1a32(""), 0x811c9dc5U);
  EXPECT_EQ(Fnv1a32("a"), 0xe40c292cU);
  EXPECT_EQ(Fnv1a32("foobar"), 0xbf9cf968U);
  EXPECT_EQ(Fnv1a64("bar", Fnv1a64("foo")), Fnv1a64("foobar"));
}

}  // namespace
}  // namespace yad
