#include "webhook/admission/defaulting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/unit/yurtappdaemon/builders.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Json::json_pointer kLimit("/spec/revisionHistoryLimit");
const Json::json_pointer kOwnSelector("/spec/workloadTemplate/deploymentTemplate/spec/selector");

Json Bare() {
  Json object = DaemonJson();
  TemplateOf(object)["spec"].erase("selector");
  return object;
}

TEST(DefaultingTest, SetsOnlyTheHistoryLimitAndTheTemplatesSelector) {
  Json object = Bare();
  const Defaulting result = DefaultYurtAppDaemon(object);
  EXPECT_EQ(result.patch, Json::parse(R"([
      {"op": "add", "path": "/spec/revisionHistoryLimit", "value": 10},
      {"op": "add", "path": "/spec/workloadTemplate/deploymentTemplate/spec/selector",
       "value": {"matchLabels": {"app": "web"}}}])"));
  EXPECT_THAT(result.warnings, IsEmpty());
  EXPECT_THAT(DefaultYurtAppDaemon(object.patch(result.patch)).patch, IsEmpty());
}

TEST(DefaultingTest, StatefulSetTemplateGetsTheSameDefaults) {
  Json object = DaemonJson("app:1", WorkloadKind::kStatefulSet);
  TemplateOf(object)["spec"].erase("selector");
  const Json defaulted = object.patch(DefaultYurtAppDaemon(object).patch);
  EXPECT_EQ(defaulted["spec"]["workloadTemplate"]["statefulSetTemplate"]["spec"]["selector"],
            object["spec"]["selector"]);
}

TEST(DefaultingTest, NullsCountAsMissingAndExistingValuesAreKept) {
  Json object = DaemonJson();
  object[kLimit] = nullptr;
  object[kOwnSelector] = nullptr;
  EXPECT_EQ(DefaultYurtAppDaemon(object).patch.size(), 2U);
  object[kLimit] = 0;
  object[kOwnSelector] = object["spec"]["selector"];
  EXPECT_THAT(DefaultYurtAppDaemon(object).patch, IsEmpty());
  // A selector with the same meaning in another notation is not changed.
  object[kOwnSelector] = R"({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]})"_json;
  object["spec"]["selector"] = R"({"matchLabels": null, "matchExpressions": [{"key": "app", "operator": "In",
                                   "values": ["web", "web"]}]})"_json;
  EXPECT_THAT(DefaultYurtAppDaemon(object).patch, IsEmpty());
}

TEST(DefaultingTest, DifferentSelectorInTheTemplateIsReplacedWithAWarning) {
  Json object = DaemonJson();
  object[kLimit] = 3;
  object[kOwnSelector] = R"({"matchLabels": {"app": "other"}})"_json;
  const Defaulting result = DefaultYurtAppDaemon(object);
  EXPECT_EQ(object.patch(result.patch)[kOwnSelector], object["spec"]["selector"]);
  EXPECT_THAT(result.warnings,
              ElementsAre(HasSubstr(
                  "spec.workloadTemplate.deploymentTemplate.spec.selector: the webhook replaces this selector")));
}

TEST(DefaultingTest, EarlierDefaultIsReplacedWithoutAWarning) {
  Json old = DaemonJson();
  old[kOwnSelector] = old["spec"]["selector"];
  Json object = old;
  object["spec"]["selector"]["matchLabels"]["tier"] = "x";
  const Defaulting result = DefaultYurtAppDaemon(object, old);
  EXPECT_EQ(object.patch(result.patch)[kOwnSelector], object["spec"]["selector"]);
  EXPECT_THAT(result.warnings, IsEmpty());
}

TEST(DefaultingTest, MalformedObjectsAndThoseBeingDeletedAreNotChanged) {
  Json deleting = Bare();
  deleting["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  Json faulty_selector = Bare();
  faulty_selector["spec"]["selector"] = R"({"matchExpressions": [{"key": "app", "operator": "In"}]})"_json;
  faulty_selector[kLimit] = 1;
  Json deep = Bare();
  Json* at = &deep["spec"]["x"];
  for (int i = 0; i < 2000; ++i) at = &(*at)["x"];
  for (const Json& object : {Json(), Json(1), Json::array(), Json::object(), R"({"spec": null})"_json,
                             R"({"spec": []})"_json, deleting, faulty_selector, deep}) {
    EXPECT_THAT(DefaultYurtAppDaemon(object).patch, IsEmpty());
  }
  for (const char* spec :
       {R"({"selector": {}, "workloadTemplate": 1, "revisionHistoryLimit": "x"})",
        R"({"selector": {}, "workloadTemplate": {"deploymentTemplate": []}, "revisionHistoryLimit": 1})",
        R"({"selector": {}, "workloadTemplate": {"deploymentTemplate": {"spec": 7}}, "revisionHistoryLimit": 1})",
        R"({"selector": [], "workloadTemplate": {"deploymentTemplate": {"spec": {}}}, "revisionHistoryLimit": 1})",
        R"({"workloadTemplate": {"deploymentTemplate": {"spec": {}}}, "revisionHistoryLimit": 1})"}) {
    EXPECT_THAT(DefaultYurtAppDaemon({{"spec", Json::parse(spec)}}).patch, IsEmpty()) << spec;
  }
}

// Creates random objects. Each part of the daemon is missing, has a wrong type or is valid. Unknown fields are added.
class RandomObject {
 public:
  explicit RandomObject(unsigned seed) : random_(seed) {}

  Json Make() {
    Json object = {{"metadata", {{"name", "n"}}}, {"unknown", Wrong()}};
    Maybe(object, "spec", [&] {
      Json spec = {{"future", Wrong()}};
      Maybe(spec, "revisionHistoryLimit", [&] { return Json(Below(20)); });
      Maybe(spec, "selector", [&] { return Selector(); });
      Maybe(spec, "nodepoolSelector", [&] { return Json::object(); });
      Maybe(spec, "workloadTemplate", [&] {
        Json choice = Json::object();
        for (const char* kind : {"deploymentTemplate", "statefulSetTemplate"}) {
          Maybe(choice, kind, [&] {
            Json workload = {{"metadata", Wrong()}};
            Maybe(workload, "spec", [&] {
              Json inner = {{"template", Wrong()}, {"a/b~c", 1}};
              Maybe(inner, "selector", [&] { return Selector(); });
              return inner;
            });
            return workload;
          });
        }
        return choice;
      });
      return spec;
    });
    return object;
  }

 private:
  unsigned Below(unsigned n) { return static_cast<unsigned>(random_()) % n; }
  Json Wrong() {
    const Json values[] = {nullptr, 1, -2.5, true, "text", Json::array({1, "x"}), {{"k", Json::object()}}};
    return values[Below(7)];
  }
  Json Selector() {
    const char* selectors[] = {R"({"matchLabels": {"app": "a"}})", R"({"matchLabels": {"app": "b"}})", "{}",
                               R"({"matchExpressions": [{"key": "k", "operator": "Exists"}]})",
                               R"({"matchExpressions": [{"key": "k", "operator": "In"}]})"};
    return Json::parse(selectors[Below(5)]);
  }
  template <typename Function>
  void Maybe(Json& parent, const char* key, Function make) {
    const unsigned dice = Below(8);
    if (dice == 0) return;
    parent[key] = dice == 1 ? Wrong() : make();
  }

  std::mt19937 random_;
};

TEST(DefaultingTest, PatchOfARandomObjectAppliesAndChangesOnlyTwoFields) {
  RandomObject random(20261121);
  int patched = 0;
  for (int i = 0; i < 2000; ++i) {
    const Json object = random.Make();
    const Defaulting result = DefaultYurtAppDaemon(object);
    Json defaulted;
    ASSERT_NO_THROW(defaulted = object.patch(result.patch)) << object << result.patch;
    ASSERT_THAT(DefaultYurtAppDaemon(defaulted).patch, IsEmpty()) << object;
    patched += !result.patch.empty();
    // Only the two defaulted fields may differ.
    Json before = object;
    for (Json* one : {&before, &defaulted}) {
      for (const Json& operation : result.patch) {
        const Json::json_pointer path(operation["path"].get<std::string>());
        ASSERT_THAT(path.to_string(), ::testing::MatchesRegex("/spec/(revisionHistoryLimit|workloadTemplate/"
                                                              "(deployment|statefulSet)Template/spec/selector)"));
        if (one->contains(path)) (*one)[path.parent_pointer()].erase(path.back());
      }
    }
    ASSERT_EQ(before, defaulted);
  }
  EXPECT_GT(patched, 400) << "too few of the random objects were patched";
}

}  // namespace
}  // namespace yad::testing
