#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/api/well_known.h"
#include "tests/unit/webhook/admission.h"
#include "webhook/admission/warnings.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Json WithGroups(Json groups) {
  Json object = DaemonJson();
  object["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}, {"rollingUpdate", {{"groups", std::move(groups)}}}};
  return object;
}

std::vector<std::string> Groups(const Json& groups) {
  std::vector<ObjectPtr> pools;
  for (const char* name : {"a", "b"}) pools.push_back(MakePool(PoolJson(name)).object);
  std::vector<std::string> warnings;
  WarnOfGroups(*ParseYurtAppDaemon(WithGroups(groups)), pools, warnings);
  return warnings;
}

TEST(RolloutWarningsTest, OverlappingOrEmptyGroupsAreWarnings) {
  const std::string path = "spec.updateStrategy.rollingUpdate.groups";
  EXPECT_THAT(Groups(Json::array()), IsEmpty());
  EXPECT_THAT(Groups({{{"name", "one"}, {"pools", {"a"}}}}), IsEmpty());
  EXPECT_THAT(Groups({{{"name", "one"}, {"percent", 10}}, {{"name", "two"}, {"pools", {"a"}}}}), IsEmpty());
  EXPECT_THAT(Groups({{{"name", "one"}, {"pools", {"a"}}}, {{"name", "two"}, {"pools", {"b", "a"}}}}),
              ElementsAre(path + "[1].pools: \"a\" belongs to group \"one\" already: a pool belongs to the first "
                                 "group that selects it"));
  EXPECT_THAT(Groups({{{"name", "one"}, {"pools", {"x"}}}}),
              ElementsAre(path + "[0].pools: no NodePool is named \"x\"; the group does not wait for missing pools"));
  EXPECT_THAT(Groups({{{"name", "one"}, {"nodepoolSelector", {{"matchLabels", {{"no", "where"}}}}}}}),
              ElementsAre(path + "[0]: group \"one\" has no NodePool now that the YurtAppDaemon selects"));
  EXPECT_THAT(Groups({{{"name", "all"}, {"nodepoolSelector", Json::object()}}, {{"name", "rest"}, {"percent", 10}}}),
              ElementsAre(path + "[1]: group \"rest\" has no NodePool now: earlier groups have all pools"));
}

TEST(RolloutWarningsTest, PrefetchWithoutGroupsIsAWarning) {
  const auto with = [](Json groups) {
    Json object = WithGroups(std::move(groups));
    object["spec"]["updateStrategy"]["rollingUpdate"]["prefetch"] = Json::object();
    std::vector<std::string> warnings;
    WarnOfGroups(*ParseYurtAppDaemon(object), {MakePool(PoolJson("a")).object}, warnings);
    return warnings;
  };
  EXPECT_THAT(with(Json::array()),
              ElementsAre("spec.updateStrategy.rollingUpdate.prefetch: has no effect without groups, because the pools "
                          "of the first group do not wait for their images"));
  EXPECT_THAT(with({{{"name", "one"}, {"pools", {"a"}}}}), IsEmpty());
}

TEST(RolloutWarningsTest, HoldAndWindowsOfNodePoolsAreWarningsIfTheStrategyIgnoresThem) {
  Json held = PoolJson("a"), with_windows = PoolJson("b"), always_open = PoolJson("c");
  held["metadata"]["annotations"][kHoldAnnotation] = "inventory";
  with_windows["metadata"]["annotations"][kUpdateWindowsAnnotation] = R"([{"start": "02:00", "duration": "2h"}])";
  always_open["metadata"]["annotations"][kUpdateWindowsAnnotation] = "[]";
  std::vector<ObjectPtr> pools;
  for (const Json& pool : {held, with_windows, always_open}) pools.push_back(MakePool(pool).object);
  Json object = DaemonJson();
  const auto warnings = [&](const Json& before = nullptr) {
    const auto old = ParseYurtAppDaemon(before);
    std::vector<std::string> out;
    WarnOfIgnoredGates(*ParseYurtAppDaemon(object), old ? &*old : nullptr, pools, out);
    return out;
  };
  const std::string hold = "spec.updateStrategy.type: All ignores the hold of NodePool \"a\"";
  EXPECT_THAT(warnings(),
              ElementsAre(hold, "spec.updateStrategy.type: All ignores the update windows of NodePool \"b\""));
  EXPECT_THAT(warnings(object), ElementsAre(hold)) << "each later apply would repeat the other warning";
  object["spec"]["nodePools"] = {{"exclude", {"a"}}};
  EXPECT_THAT(warnings(object), IsEmpty());
  const Json before = object;
  object["spec"]["updateStrategy"] = {{"type", "OnDelete"}};
  EXPECT_THAT(warnings(before),
              ElementsAre("spec.updateStrategy.type: OnDelete ignores the update windows of NodePool \"b\""));
  object["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}};
  EXPECT_THAT(warnings(before), IsEmpty());
}

// Returns the warnings of a change from `before` to `object`.
std::vector<std::string> WarningsOfFailedTemplate(const Json& object, const Json& before) {
  const auto old = ParseYurtAppDaemon(before);
  std::vector<std::string> warnings;
  WarnOfFailedTemplate(*ParseYurtAppDaemon(object), &*old, warnings);
  return warnings;
}

TEST(RolloutWarningsTest, NewReplicasOfATemplateThatWasRolledBackAreAWarning) {
  Json before = WithGroups(Json::array());
  const auto warnings = [&](const Json& object) { return WarningsOfFailedTemplate(object, before); };
  const auto scaled = [&] {
    Json object = before;
    object["spec"]["workloadTemplate"]["deploymentTemplate"]["spec"]["replicas"] = 7;
    return object;
  };
  EXPECT_THAT(warnings(scaled()), IsEmpty());
  before["status"]["conditions"] = {{{"type", "Progressing"}, {"status", "False"}, {"reason", "RolledBack"}}};
  EXPECT_THAT(warnings(before), IsEmpty());
  EXPECT_THAT(warnings(scaled()), ElementsAre(HasSubstr("rolls it out again: run `kubectl yad undo web` first")));
  Json object = before;
  object["spec"]["overrides"] = R"([{"pools": ["a"], "replicas": 3}])"_json;
  EXPECT_THAT(warnings(object), IsEmpty()) << "the entry of overrides is new";
  before = object;
  object["spec"]["overrides"][0]["replicas"] = 4;
  EXPECT_THAT(warnings(object), ElementsAre(HasSubstr("`kubectl yad undo web` first")));
  object = scaled();
  object["spec"]["workloadTemplate"]["deploymentTemplate"]["spec"]["template"]["spec"]["containers"][0]["image"] =
      "fix";
  EXPECT_THAT(warnings(object), IsEmpty());
}

TEST(RolloutWarningsTest, StrategyAllForATemplateThatWasRolledBackIsAWarning) {
  Json before = WithGroups(Json::array());
  const auto warnings = [&](const Json& object) { return WarningsOfFailedTemplate(object, before); };
  Json all = before;
  all["spec"].erase("updateStrategy");
  EXPECT_THAT(warnings(all), IsEmpty());
  const auto warned = ElementsAre(
      "spec.updateStrategy.type: All rolls out the template, which has failed and was rolled back, to all pools at "
      "once: run `kubectl yad undo web` first");
  for (const char* reason : {"RollingBack", "RolledBack"}) {
    before["status"]["conditions"] = {{{"type", "Progressing"}, {"status", "False"}, {"reason", reason}}};
    EXPECT_THAT(warnings(all), warned);
  }
  all["spec"]["updateStrategy"] = {{"type", "All"}};
  all["spec"]["workloadTemplate"]["deploymentTemplate"]["spec"]["replicas"] = 7;
  EXPECT_THAT(warnings(all), warned);
  Json fixed = all;
  fixed["spec"]["workloadTemplate"]["deploymentTemplate"]["spec"]["template"]["spec"]["containers"][0]["image"] = "fix";
  EXPECT_THAT(warnings(fixed), IsEmpty());
  Json on_delete = before;
  on_delete["spec"]["updateStrategy"] = {{"type", "OnDelete"}};
  EXPECT_THAT(warnings(on_delete), IsEmpty());
  before["spec"].erase("updateStrategy");
  EXPECT_THAT(warnings(all), IsEmpty()) << "the strategy was All before";
}

TEST(RolloutWarningsTest, ApprovalThatMatchesNoGroupIsAWarning) {
  Json old_object =
      WithGroups({{{"name", "one"}, {"pools", {"a"}}, {"approval", "Manual"}}, {{"name", "two"}, {"pools", {"b"}}}});
  old_object["status"]["updateRevision"] = "web-new";
  const auto approving = [&](const std::string& text) {
    Json object = old_object;
    object["metadata"]["annotations"][kApproveAnnotation] = text;
    return ApprovalWarning(object, old_object);
  };
  EXPECT_EQ(approving("web-new/one"), "");
  EXPECT_EQ(approving(""), "");
  EXPECT_EQ(approving("web-new/one\n"), "") << "a YAML block ends with a line break";
  EXPECT_THAT(approving("web-old/one"), HasSubstr("names another revision than status.updateRevision (\"web-new\")"));
  EXPECT_THAT(approving("web-new/one, web-new/two"), HasSubstr("\"web-new/two\" names no group with approval Manual"));
  EXPECT_THAT(approving("one"), HasSubstr("is not of the form \"<status.updateRevision>/<group>\""));
  Json object = old_object;
  object["metadata"]["annotations"][kApproveAnnotation] = "web-old/one";
  EXPECT_EQ(ApprovalWarning(object, object), "") << "the last update already had this warning";
  object["spec"].erase("updateStrategy");
  EXPECT_EQ(ApprovalWarning(object, old_object), "");
}

}  // namespace
}  // namespace yad::testing
