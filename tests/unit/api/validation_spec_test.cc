// The validation of nodePools, updateStrategy, overrides and serviceTemplate of a YurtAppDaemon.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/yurtappdaemon.h"
#include "tests/unit/api/validation_cases.h"

namespace yad::testing {
namespace {

TEST(ValidationTest, PoolsAreSelectedByLabelsOrNames) {
  ExpectErrors({
      {{{"/nodepoolSelector", nullptr}},
       {"spec.nodepoolSelector: Required value: must be specified unless `nodePools.names` lists pools; an empty "
        "selector `{}` "
        "selects all pools"}},
      {{{"/nodepoolSelector", nullptr}, {"/nodePools", {{"names", Json::array()}}}},
       {"spec.nodepoolSelector: Required value: must be specified unless `nodePools.names` lists pools; an empty "
        "selector `{}` "
        "selects all pools"}},
      {{{"/nodepoolSelector", nullptr}, {"/nodePools", {{"names", {"a"}}}}}, {}},
      {{{"/nodepoolSelector", Json::object()}}, {}},
      {{{"/nodepoolSelector", Json::parse(R"({"matchExpressions": [{"key": "a", "operator": "In"}]})")}},
       {"spec.nodepoolSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' "
        "or "
        "'NotIn'"}},
      {{{"/nodePools", {{"names", {"a", ""}}, {"exclude", {1}}, {"type", "Fog"}}}},
       {"spec.nodePools.names[1]: Required value: must not be empty",
        "spec.nodePools.exclude[0]: Invalid value: 1: must be a string",
        "spec.nodePools.type: Unsupported value: \"Fog\": supported values: \"Cloud\", \"Edge\""}},
      {{{"/nodePools", {{"type", "Edge"}, {"exclude", {"a"}}}}}, {}},
      {{{"/nodePools", "a"}}, {"spec.nodePools: Invalid value: \"a\": must be an object"}},
  });
}

TEST(ValidationTest, InvalidUpdateStrategiesAreErrors) {
  const std::string rolling = "spec.updateStrategy.rollingUpdate.";
  const std::string percent_fault =
      ": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used "
      "for validation is '[0-9]+%')";
  const auto strategy = [](const char* rolling_update) {
    return SpecEdit{"/updateStrategy", {{"type", "RollingUpdate"}, {"rollingUpdate", Json::parse(rolling_update)}}};
  };
  ExpectErrors({
      {{{"/updateStrategy", "All"}}, {"spec.updateStrategy: Invalid value: \"All\": must be an object"}},
      {{{"/updateStrategy", Json::object()}}, {}},
      {{{"/updateStrategy", {{"type", "OnDelete"}}}}, {}},
      {{{"/updateStrategy", {{"type", "Recreate"}}}},
       {"spec.updateStrategy.type: Unsupported value: \"Recreate\": supported values: \"All\", \"RollingUpdate\", "
        "\"OnDelete\""}},
      {{{"/updateStrategy", {{"rollingUpdate", Json::object()}}}},
       {"spec.updateStrategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'All': set type to "
        "RollingUpdate, or remove rollingUpdate"}},
      {{{"/updateStrategy", {{"type", "OnDelete"}, {"rollingUpdate", {{"maxUnavailable", 1}}}}}},
       {"spec.updateStrategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'OnDelete': set "
        "type to RollingUpdate, or remove rollingUpdate"}},
      {{strategy(R"({"maxUnavailable": "25%", "partition": 0, "minReadySeconds": 5, "progressDeadlineSeconds": 6,
                     "maxFailures": "0%", "onFailure": "Rollback"})")},
       {}},
      {{strategy(R"({"maxUnavailable": "100%", "partition": "100%", "maxFailures": 3, "onFailure": "Pause"})")}, {}},
      {{strategy(R"({"maxUnavailable": 0})")}, {rolling + "maxUnavailable: Invalid value: 0: cannot be 0"}},
      {{strategy(R"({"maxUnavailable": "0%"})")}, {rolling + "maxUnavailable: Invalid value: \"0%\": cannot be 0"}},
      {{strategy(R"({"maxUnavailable": -1})")},
       {rolling + "maxUnavailable: Invalid value: -1: must be greater than or equal to 0"}},
      {{strategy(R"({"maxUnavailable": "101%"})")},
       {rolling + "maxUnavailable: Invalid value: \"101%\": must not be greater than 100%"}},
      {{strategy(R"({"partition": "99999999999999999999%"})")},
       {rolling + "partition: Invalid value: \"99999999999999999999%\": must not be greater than 100%"}},
      {{strategy(R"({"partition": "5"})")}, {rolling + "partition: Invalid value: \"5\"" + percent_fault}},
      {{strategy(R"({"partition": "%"})")}, {rolling + "partition: Invalid value: \"%\"" + percent_fault}},
      {{strategy(R"({"partition": "-5%"})")}, {rolling + "partition: Invalid value: \"-5%\"" + percent_fault}},
      {{strategy(R"({"maxFailures": true})")},
       {rolling + "maxFailures: Invalid value: true: must be an integer or percentage (e.g '5%')"}},
      {{strategy(R"({"minReadySeconds": -1, "progressDeadlineSeconds": "x"})")},
       {rolling + "minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
        rolling + "progressDeadlineSeconds: Invalid value: \"x\": must be an integer"}},
      {{strategy(R"({"minReadySeconds": 10, "progressDeadlineSeconds": 10})")},
       {rolling + "progressDeadlineSeconds: Invalid value: 10: must be greater than minReadySeconds 10, and not 10"}},
      {{strategy(R"({"minReadySeconds": 600})")},
       {rolling + "progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds 600, and not 600 "
                  "(the default)"}},
      {{strategy(R"({"progressDeadlineSeconds": 0})")},
       {rolling + "progressDeadlineSeconds: Invalid value: 0: must be greater than minReadySeconds 0, and not 0"}},
      {{strategy(R"({"onFailure": "Retry"})")},
       {rolling + "onFailure: Unsupported value: \"Retry\": supported values: \"Pause\", \"Rollback\""}},
      {{strategy("[]")}, {"spec.updateStrategy.rollingUpdate: Invalid value: []: must be an object"}},
  });
}

TEST(ValidationTest, ValidPrefetchIsReadAndInvalidPrefetchIsAnError) {
  const std::string prefetch = "spec.updateStrategy.rollingUpdate.prefetch";
  const auto with = [](const char* value) {
    return SpecEdit{"/updateStrategy",
                    {{"type", "RollingUpdate"}, {"rollingUpdate", {{"prefetch", Json::parse(value)}}}}};
  };
  ExpectErrors({
      {{with("{}")}, {}},
      {{with(R"({"ahead": 1, "timeoutSeconds": 604800, "onTimeout": "Wait"})")}, {}},
      {{with(R"({"ahead": 100, "timeoutSeconds": 1, "onTimeout": "Update"})")}, {}},
      {{with("true")}, {prefetch + ": Invalid value: true: must be an object"}},
      {{with(R"({"ahead": 0, "timeoutSeconds": 0, "onTimeout": "Fail"})")},
       {prefetch + ".ahead: Invalid value: 0: must be greater than or equal to 1",
        prefetch + ".timeoutSeconds: Invalid value: 0: must be greater than or equal to 1",
        prefetch + ".onTimeout: Unsupported value: \"Fail\": supported values: \"Update\", \"Wait\""}},
      {{with(R"({"ahead": 101, "timeoutSeconds": "1h"})")},
       {prefetch + ".ahead: Invalid value: 101: must be less than or equal to 100",
        prefetch + ".timeoutSeconds: Invalid value: \"1h\": must be an integer"}},
  });
  const auto parsed = ParseYurtAppDaemon(With(GoodDeployment(), {with(R"({"ahead": 3, "onTimeout": "Wait"})")}));
  ASSERT_TRUE(parsed && parsed->strategy.rolling.prefetch);
  EXPECT_EQ(parsed->strategy.rolling.prefetch->ahead, 3U);
  EXPECT_EQ(parsed->strategy.rolling.prefetch->timeout, std::chrono::seconds(3600));
  EXPECT_TRUE(parsed->strategy.rolling.prefetch->waits);
}

TEST(ValidationTest, InvalidGroupsAreErrors) {
  const std::string groups = "spec.updateStrategy.rollingUpdate.groups";
  const auto with = [](const char* list) {
    return SpecEdit{"/updateStrategy", {{"type", "RollingUpdate"}, {"rollingUpdate", {{"groups", Json::parse(list)}}}}};
  };
  ExpectErrors({
      {{with(R"([{"name": "Canary", "pools": ["a"], "maxUnavailable": 1, "approval": "Manual"},
                 {"name": "east", "nodepoolSelector": {}, "maxUnavailable": "10%", "approval": "Automatic"}])")},
       {}},
      {{with("{}")}, {groups + ": Invalid value: {}: must be a list"}},
      {{with("[1]")}, {groups + "[0]: Invalid value: 1: must be an object"}},
      {{with(R"([{"pools": ["a"]}])")}, {groups + "[0].name: Required value"}},
      {{with(R"([{"name": "", "pools": ["a"]}])")}, {groups + "[0].name: Required value"}},
      {{with(R"([{"name": "default", "pools": ["a"]}])")},
       {groups + "[0].name: Invalid value: \"default\": is reserved for the pools that no group selects"}},
      {{with(R"([{"name": "a", "pools": ["a"]}, {"name": "a", "pools": ["b"]}])")},
       {groups + "[1].name: Duplicate value: \"a\""}},
      {{with(R"([{"name": "a"}])")},
       {groups + "[0]: Required value: must specify one of: `pools`, `nodepoolSelector`, `percent`"}},
      {{with(R"([{"name": "a", "percent": 1}, {"name": "b", "percent": 100}])")}, {}},
      {{with(R"([{"name": "a", "percent": 0}, {"name": "b", "percent": 101}, {"name": "c", "percent": "5%"}])")},
       {groups + "[0].percent: Invalid value: 0: must be greater than or equal to 1",
        groups + "[1].percent: Invalid value: 101: must be less than or equal to 100",
        groups + "[2].percent: Invalid value: \"5%\": must be an integer"}},
      {{with(R"([{"name": "a", "pools": ["a"], "nodepoolSelector": {}, "percent": 5}])")},
       {groups + "[0].percent: Forbidden: may not be specified when `pools` is given",
        groups + "[0].percent: Forbidden: may not be specified when `nodepoolSelector` is given"}},
      {{with(R"([{"name": "a", "pools": ["a"], "nodepoolSelector": {}}])")},
       {groups + "[0].nodepoolSelector: Forbidden: may not be specified when `pools` is given"}},
      {{with(R"([{"name": "a", "pools": []}])")}, {groups + "[0].pools: Required value: must name at least one pool"}},
      {{with(R"([{"name": "a", "pools": [""], "maxUnavailable": 0, "approval": "Never"}])")},
       {groups + "[0].pools[0]: Required value: must not be empty",
        groups + "[0].maxUnavailable: Invalid value: 0: cannot be 0",
        groups + "[0].approval: Unsupported value: \"Never\": supported values: \"Automatic\", \"Manual\""}},
  });
  // ',' and '/' separate the entries of the approve annotation, so the names of groups must not contain them.
  for (const char* name : {"a,b", "a/b", " "}) {
    const auto errors = Texts(ValidateYurtAppDaemon(
        With(GoodDeployment(), {with((R"([{"pools": ["a"], "name": ")" + std::string(name) + "\"}]").c_str())})));
    ASSERT_EQ(errors.size(), 1U) << name;
    EXPECT_THAT(errors[0], ::testing::HasSubstr(kLabelFault));
  }
}

TEST(ValidationTest, InvalidOverridesAreErrors) {
  const auto with = [](const char* list) { return SpecEdit{"/overrides", Json::parse(list)}; };
  const std::string pointer_fault =
      ": must be a JSON pointer (RFC 6901): begin with '/', and escape '~' as '~0', '/' as '~1'";
  const std::string patch = "spec.overrides[0].jsonPatches[0]";
  ExpectErrors({
      {{with(R"([{"pools": ["*", "-x"], "replicas": 3, "images": [{"name": "c", "image": "i:2"}],
                  "patch": {"spec": {"paused": true}},
                  "jsonPatches": [{"op": "add", "path": "/spec/a~1b~0c", "value": null}, {"op": "remove", "path": ""},
                                  {"op": "replace", "path": "/a", "value": {}},
                                  {"op": "test", "path": "/a", "value": 1},
                                  {"op": "move", "path": "/a", "from": "/b"},
                                  {"op": "copy", "path": "/a", "from": "/b"}]},
                 {"nodepoolSelector": {"matchLabels": {"a": "b"}}}])")},
       {}},
      {{with("{}")}, {"spec.overrides: Invalid value: {}: must be a list"}},
      {{with("[null]")}, {"spec.overrides[0]: Invalid value: null: must be an object"}},
      {{with("[{}]")}, {"spec.overrides[0]: Required value: must specify one of: `pools`, `nodepoolSelector`"}},
      {{with(R"([{"pools": ["a"], "nodepoolSelector": {}}])")},
       {"spec.overrides[0].nodepoolSelector: Forbidden: may not be specified when `pools` is given"}},
      {{with(R"([{"pools": "a", "replicas": -1, "images": {}, "patch": [], "jsonPatches": 1}])")},
       {"spec.overrides[0].pools: Invalid value: \"a\": must be a list",
        "spec.overrides[0].replicas: Invalid value: -1: must be greater than or equal to 0",
        "spec.overrides[0].images: Invalid value: {}: must be a list",
        "spec.overrides[0].patch: Invalid value: []: must be an object",
        "spec.overrides[0].jsonPatches: Invalid value: 1: must be a list"}},
      {{with(R"([{"pools": ["a"], "images": [{}, {"name": "c", "image": ""}, 1]}])")},
       {"spec.overrides[0].images[0].name: Required value", "spec.overrides[0].images[0].image: Required value",
        "spec.overrides[0].images[1].image: Required value",
        "spec.overrides[0].images[2]: Invalid value: 1: must be an object"}},
      {{with(R"([{"pools": ["a"], "jsonPatches": [{}]}])")},
       {patch + ".op: Required value", patch + ".path: Required value"}},
      {{with(R"([{"pools": ["a"], "jsonPatches": [{"op": "merge", "path": 1}]}])")},
       {patch + ".op: Unsupported value: \"merge\": supported values: \"add\", \"remove\", \"replace\", \"move\", "
                "\"copy\", \"test\"",
        patch + ".path: Invalid value: 1: must be a string"}},
      {{with(R"([{"pools": ["a"], "jsonPatches": [{"op": "add", "path": "/a"}]}])")},
       {patch + ".value: Required value: must be specified when `op` is 'add'"}},
      {{with(R"([{"pools": ["a"], "jsonPatches": [{"op": "remove", "path": "spec/a"}]}])")},
       {patch + ".path: Invalid value: \"spec/a\"" + pointer_fault}},
      {{with(R"([{"pools": ["a"], "jsonPatches": [{"op": "remove", "path": "/a~2"}]}])")},
       {patch + ".path: Invalid value: \"/a~2\"" + pointer_fault}},
      {{with(R"([{"pools": ["a"], "jsonPatches": [{"op": "remove", "path": "/a~"}]}])")},
       {patch + ".path: Invalid value: \"/a~\"" + pointer_fault}},
      {{with(R"([{"pools": ["a"], "jsonPatches": [{"op": "move", "path": "/a"}]}])")},
       {patch + ".from: Required value"}},
  });
}

TEST(ValidationTest, InvalidServiceTemplatesAreErrors) {
  const std::string at = "spec.serviceTemplate";
  const Json ports = Json::parse(R"([{"port": 80}])");
  ExpectErrors({
      {{{"/serviceTemplate", nullptr}}, {}},
      {{{"/serviceTemplate/spec/ports", ports}}, {}},
      {{{"/serviceTemplate/spec/clusterIP", "None"}}, {}},
      {{{"/serviceTemplate/spec", {{"type", "ExternalName"}, {"externalName", "x.example"}}}}, {}},
      {{{"/serviceTemplate/spec/ports", Json::parse(R"([{"port": 53}, {"port": 53, "protocol": "UDP"}])")}}, {}},
      {{{"/serviceTemplate/spec/ports", ports}, {"/serviceTemplate/spec/selector/role", "x"}}, {}},
      {{{"/serviceTemplate/spec/ports", ports}, {"/serviceTemplate/metadata/labels/pool", "of-{{nodepool}}"}}, {}},
      {{{"/serviceTemplate", 7}}, {at + ": Invalid value: 7: must be an object"}},
      {{{"/serviceTemplate", Json::object()}}, {at + ".spec: Required value"}},
      {{{"/serviceTemplate/spec", Json::object()}}, {at + ".spec.ports: Required value"}},
      {{{"/serviceTemplate/spec/ports", Json::parse(R"([{}, {"port": 80, "protocol": "TCP"}, {"port": 80}])")}},
       {at + ".spec.ports[0].port: Required value", at + ".spec.ports[2]: Duplicate value: 80"}},
      {{{"/serviceTemplate/spec/ports", ports}, {"/serviceTemplate/spec/selector/app", "y"}},
       {at + ".spec.selector[app]: Invalid value: \"y\": contradicts spec.selector"}},
      {{{"/serviceTemplate/spec/ports", ports}, {"/serviceTemplate/metadata/annotations/a", 1}},
       {at + ".metadata.annotations[a]: Invalid value: 1: must be a string"}},
  });
  const Json expression = Json::parse(R"([{"key": "app", "operator": "Exists"}])");
  const std::vector<SpecEdit> by_expression = {{"/selector", {{"matchExpressions", expression}}},
                                               {"/serviceTemplate/spec/ports", ports}};
  const auto faults = Texts(ValidateYurtAppDaemon(With(GoodDeployment(), by_expression)));
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].find(at + ".spec.selector: Required value: spec.selector has matchExpressions"), 0U) << faults[0];
  std::vector<SpecEdit> named = by_expression;
  named.push_back({"/serviceTemplate/spec/selector/app", "x"});
  EXPECT_TRUE(ValidateYurtAppDaemon(With(GoodDeployment(), named)).empty());
}

TEST(ValidationTest, ServiceCannotBecomeHeadlessOrStopBeingHeadless) {
  const Json before = With(GoodDeployment(), {{"/serviceTemplate/spec/ports", Json::parse(R"([{"port": 80}])")}});
  const Json headless = With(before, {{"/serviceTemplate/spec/clusterIP", "None"}});
  for (const auto& [now, then] : {std::pair{headless, before}, std::pair{before, headless}}) {
    const auto faults = Texts(ValidateYurtAppDaemonUpdate(now, then));
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].find("spec.serviceTemplate.spec.clusterIP: Invalid value: "), 0U) << faults[0];
  }
  EXPECT_TRUE(ValidateYurtAppDaemonUpdate(headless, GoodDeployment()).empty());
  EXPECT_TRUE(ValidateYurtAppDaemonUpdate(GoodDeployment(), headless).empty());
}

TEST(ValidationTest, AnOmittedServiceNameCannotBeSetLater) {
  const Json before = With(GoodStatefulSet(), {{"/serviceTemplate/spec", Json::parse(R"({"clusterIP": "None"})")}});
  const auto faults = Texts(ValidateYurtAppDaemonUpdate(
      With(before, {{"/workloadTemplate/statefulSetTemplate/spec/serviceName", "x"}}), before));
  ASSERT_EQ(faults.size(), 2U);
  EXPECT_NE(faults[1].find("spec.serviceName: Forbidden: can't be changed"), std::string::npos) << faults[1];
}

}  // namespace
}  // namespace yad::testing
