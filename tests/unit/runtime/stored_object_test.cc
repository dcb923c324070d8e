#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/runtime/store.h"
#include "tests/support/object_bytes.h"
#include "tests/unit/runtime/store_objects.h"

namespace yad::testing {
namespace {

TEST(StoredObjectTest, KeepsAllFieldsOfAnObject) {
  Json object = MakeJson("a", "1");
  object["spec"]["replicas"] = 3;
  object["spec"]["text"] = "quotes \" and \xC3\xA9";
  object["status"]["ready"] = true;
  EXPECT_EQ(StoredObject(object, nullptr).Parse(), object);
}

// The Store compares an object that was parsed from a watch event with an object from the tree of a response. Equal
// contents must be equal objects.
TEST(StoredObjectTest, ObjectOfATextEqualsThatOfItsTree) {
  const std::string text = R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"ns","uid":"u",)"
                           R"("resourceVersion":"5","labels":{"z":"1","b":"2"},"managedFields":[{"manager":"x"}]},)"
                           R"("spec":{"template":{"z":[1,-2,{"y":null,"x":0.5}],"a":"text"},"replicas":3},)"
                           R"("status":{"ready":true}})";
  const JsonDocument document = *JsonDocument::Parse(text);
  const Json tree = document.TreeOfObject();
  const Json part = document.TreeOfObject({{"spec", {{"replicas"}}}});
  Json seen;
  const StoredObject from_text(ParseMeta(document), part, document, [&](const Json& object) {
    seen = object;
    return nullptr;
  });
  const StoredObject from_tree(tree, nullptr);
  EXPECT_EQ(from_text.Parse(), tree);
  EXPECT_FALSE(from_text.Parse()["metadata"].contains("managedFields"));
  EXPECT_EQ(from_text.digest(), from_tree.digest());
  EXPECT_EQ(from_text.status_digest(), from_tree.status_digest());
  EXPECT_EQ(from_text.meta().Label("z"), "1");
  EXPECT_EQ(seen, part);
  EXPECT_FALSE(part["spec"].contains("template"));
}

TEST(StoredObjectTest, KeepsMalformedObjects) {
  for (const Json& object : {Json(nullptr), Json(3), Json::array({1}), Json::object(), Json{{"metadata", 3}},
                             Json{{"metadata", Json::object()}, {"x", Json::object()}}}) {
    EXPECT_EQ(StoredObject(object, nullptr).Parse(), object);
  }
}

TEST(StoredObjectTest, InvalidUtf8DoesNotThrow) {
  Json object = MakeJson("a", "1");
  object["data"]["bad"] = "\xff\xfe";
  EXPECT_TRUE(StoredObject(object, nullptr).Parse().is_object());
}

TEST(StoredObjectTest, LastAppliedAnnotationIsInTheTextButNotInTheMetadata) {
  Json object = MakeJson("a", "1");
  object["metadata"]["annotations"] = {{"kubectl.kubernetes.io/last-applied-configuration", "{}"}, {"mine", "x"}};
  StoredObject stored(object, nullptr);
  EXPECT_EQ(stored.meta().annotations, (StringMap{{"mine", "x"}}));
  EXPECT_EQ(stored.Parse(), object);
}

TEST(StoredObjectTest, DigestIgnoresStatusVersionAndGeneration) {
  Json object = MakeJson("a", "1");
  const std::uint64_t digest = StoredObject(object, nullptr).digest();
  object["metadata"]["resourceVersion"] = "2";
  object["metadata"]["generation"] = 7;
  object["status"]["replicas"] = 1;
  EXPECT_EQ(StoredObject(object, nullptr).digest(), digest);
}

TEST(StoredObjectTest, StatusDigestDependsOnlyOnTheStatus) {
  Json object = MakeJson("a", "1");
  const std::uint64_t none = StoredObject(object, nullptr).status_digest();
  object["status"]["replicas"] = 1;
  const std::uint64_t one = StoredObject(object, nullptr).status_digest();
  EXPECT_NE(one, none);
  object["data"]["value"] = "other";
  object["metadata"]["resourceVersion"] = "2";
  EXPECT_EQ(StoredObject(object, nullptr).status_digest(), one);
  object["status"]["replicas"] = 2;
  EXPECT_NE(StoredObject(object, nullptr).status_digest(), one);
}

TEST(StoredObjectTest, DigestDependsOnSpecLabelsAndDeletion) {
  const Json object = MakeJson("a", "1");
  const std::uint64_t digest = StoredObject(object, nullptr).digest();
  Json spec = object, label = object, deleting = object;
  spec["data"]["value"] = "other";
  label["metadata"]["labels"]["x"] = "y";
  deleting["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  for (const Json& changed : {spec, label, deleting}) EXPECT_NE(StoredObject(changed, nullptr).digest(), digest);
}

struct ValueProjection : Projection {
  explicit ValueProjection(std::string text) : value(std::move(text)) {}
  std::string value;
};

TEST(StoredObjectTest, ProjectionIsMadeOnceFromTheObject) {
  int calls = 0;
  StoredObject stored(MakeJson("a", "1", "u", "hello"), [&](const Json& object) {
    ++calls;
    return std::make_unique<ValueProjection>(StringAt(object, {"data", "value"}));
  });
  EXPECT_EQ(dynamic_cast<const ValueProjection&>(*stored.projection()).value, "hello");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(StoredObject(MakeJson("a", "1"), nullptr).projection(), nullptr);
}

StoredObject Stored(const Json& object, KeptParts keep) {
  const JsonDocument document = *JsonDocument::Parse(object.dump());
  return StoredObject(ParseMeta(document), Json(), document, nullptr, keep);
}

TEST(StoredObjectTest, OmittedStatusChangesNoOtherField) {
  Json object = MakeJson("a", "1");
  const std::uint64_t digest = StoredObject(object, nullptr).digest();
  Json with_status = object;
  with_status["status"]["replicas"] = 1;
  const StoredObject stored = Stored(with_status, {.status = false});
  EXPECT_EQ(stored.Parse(), object);
  EXPECT_EQ(stored.digest(), digest);
  EXPECT_EQ(stored.status_digest(), 0U);
}

// The new object shares the bytes of the old object, but has its own versions.
TEST(StoredObjectTest, AnObjectWithUnchangedContentHasItsOwnVersions) {
  Json object = MakeJson("a", "1");
  object["metadata"]["generation"] = 3;
  object["status"]["replicas"] = 1;
  for (const bool status : {false, true}) {
    const StoredObject before = Stored(object, {.status = status});
    Json after = object;
    after["metadata"]["resourceVersion"] = "2";
    after["metadata"]["generation"] = 4;
    if (!status) after.erase("status");
    EXPECT_EQ(Stored(after, {.status = status, .before = &before}).Parse(), after);
    after["data"]["value"] = "other";
    EXPECT_EQ(Stored(after, {.status = status, .before = &before}).Parse(), after);
  }
  const StoredObject before = Stored(object, {});
  Json other_status = object;
  other_status["status"]["replicas"] = 2;
  EXPECT_EQ(Stored(other_status, {.before = &before}).Parse(), other_status);
  EXPECT_EQ(Stored(object, {.status = false, .before = &before}).Parse().contains("status"), false);
  const auto empty = StoredObject::WithoutContent(StoredObject(object, nullptr));
  EXPECT_EQ(Stored(object, {.before = empty.get()}).Parse(), object);
}

TEST(StoredObjectTest, MalformedVersionsAreKept) {
  for (const Json& value : {Json(""), Json(0), Json(1.5), Json::object(), Json(nullptr)}) {
    Json object = MakeJson("a", "1");
    object["metadata"]["resourceVersion"] = object["metadata"]["generation"] = value;
    EXPECT_EQ(StoredObject(object, nullptr).Parse(), object);
    EXPECT_EQ(Stored(object, {}).Parse(), object);
  }
}

TEST(StoredObjectTest, WorkloadsOfOneOwnerUseLessMemoryThanTheirText) {
  Json object =
      MakeJson("a-workload-with-a-name-of-usual-length-x7k2p", "123456", "0b7c6a3e-7a5e-4f7e-9d9b-5a2f0e1c3d4b");
  for (const char* label : {"example.com/some-label-name", "example.com/hash", "app"}) {
    object["metadata"]["labels"][label] = "some-label-value-of-usual-length";
  }
  object["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", "example.com/v1alpha1"},
                                                        {"kind", "Something"},
                                                        {"name", "the-owner-of-it-all"},
                                                        {"uid", "0b7c6a3e-7a5e-4f7e-9d9b-5a2f0e1c3d4c"},
                                                        {"controller", true}}});
  for (int i = 0; i < 100; ++i) object["spec"]["field" + std::to_string(i)] = std::to_string(i * i * i);
  const StoredObject first(object, nullptr);
  EXPECT_GT(BytesOf(first), first.Parse().dump().size());
  object["metadata"]["name"] = "another-workload-with-a-name-of-usual-length-x7k2p";
  object["metadata"]["uid"] = "3c7f8d1e-7a5e-4f7e-9d9b-5a2f0e1c3d4e";
  const StoredObject second(object, nullptr);
  EXPECT_LT(BytesOf(second), second.Parse().dump().size());
}

TEST(CompareResourceVersionsTest, ComparesIntegersOfAnySize) {
  EXPECT_EQ(CompareResourceVersions("9", "10"), -1);
  EXPECT_EQ(CompareResourceVersions("10", "9"), 1);
  EXPECT_EQ(CompareResourceVersions("10", "10"), 0);
  EXPECT_EQ(CompareResourceVersions("010", "10"), 0);
  EXPECT_EQ(CompareResourceVersions("0", "1"), -1);
  EXPECT_EQ(CompareResourceVersions("99999999999999999999998", "99999999999999999999999"), -1);
}

TEST(CompareResourceVersionsTest, DifferentNonNumericVersionsHaveNoOrder) {
  EXPECT_EQ(CompareResourceVersions("a", "b"), std::nullopt);
  EXPECT_EQ(CompareResourceVersions("1", ""), std::nullopt);
  EXPECT_EQ(CompareResourceVersions("1", "-2"), std::nullopt);
  EXPECT_EQ(CompareResourceVersions("a", "a"), 0);
}

}  // namespace
}  // namespace yad::testing
