#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/yurtappdaemon.h"

namespace yad {
namespace {

const std::string kTemplate = "spec.workloadTemplate.deploymentTemplate.";
constexpr char kLabelFault[] = "a valid label must be";

Json GoodDeployment() {
  return Json::parse(R"({
    "apiVersion": "apps.openyurt.io/v1alpha1", "kind": "YurtAppDaemon", "metadata": {"name": "n", "namespace": "ns"},
    "spec": {
      "selector": {"matchLabels": {"app": "x"}},
      "nodepoolSelector": {"matchLabels": {"type": "edge"}},
      "workloadTemplate": {"deploymentTemplate": {
        "metadata": {"labels": {"app": "x"}, "annotations": {"Example.com/A": "any text"}},
        "spec": {"template": {"metadata": {"labels": {"app": "x", "more": "y"}},
                              "spec": {"containers": [{"name": "c", "image": "i:1"}]}}}}}}})");
}

Json GoodStatefulSet() {
  Json object = GoodDeployment();
  Json& workload = object["spec"]["workloadTemplate"];
  workload["statefulSetTemplate"] = workload["deploymentTemplate"];
  workload.erase("deploymentTemplate");
  return object;
}

// A change: the JSON pointer below /spec, and the new value. A null counts as absent.
struct Edit {
  std::string pointer;
  Json value;
};

Json With(Json object, const std::vector<Edit>& edits) {
  for (const Edit& edit : edits) object[Json::json_pointer("/spec" + edit.pointer)] = edit.value;
  return object;
}

std::vector<std::string> Texts(const FieldErrors& errors) {
  std::vector<std::string> texts;
  for (const FieldError& error : errors) texts.push_back(error.ToString());
  return texts;
}

struct Case {
  std::vector<Edit> edits;
  std::vector<std::string> errors;
};

void ExpectErrors(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    const Json object = With(GoodDeployment(), one.edits);
    EXPECT_EQ(Texts(ValidateYurtAppDaemon(object)), one.errors) << object["spec"].dump(1);
  }
}

TEST(ValidationTest, GoodObjectsHaveNoFaults) {
  EXPECT_EQ(Texts(ValidateYurtAppDaemon(GoodDeployment())), std::vector<std::string>{});
  EXPECT_EQ(Texts(ValidateYurtAppDaemon(GoodStatefulSet())), std::vector<std::string>{});
}

TEST(ValidationTest, SelectorMustBeGivenAndMatchBothLabels) {
  const std::string mismatch = ": `selector` does not match template `labels`";
  ExpectErrors({
      {{{"/selector", nullptr}}, {"spec.selector: Required value"}},
      {{{"/selector", Json::object()}}, {"spec.selector: Invalid value: {}: empty selector is invalid for deployment"}},
      {{{"/selector", "x"}}, {"spec.selector: Invalid value: \"x\": must be an object"}},
      {{{"/selector", {{"matchLabels", {{"app", "y"}}}}}},
       {kTemplate + "metadata.labels: Invalid value: {\"app\":\"x\"}" + mismatch,
        kTemplate + "spec.template.metadata.labels: Invalid value: {\"app\":\"x\",\"more\":\"y\"}" + mismatch}},
      {{{"/selector", {{"matchLabels", {{"more", "y"}}}}}},
       {kTemplate + "metadata.labels: Invalid value: {\"app\":\"x\"}" + mismatch}},
      {{{"/workloadTemplate/deploymentTemplate/metadata", nullptr}},
       {kTemplate + "metadata.labels: Invalid value: {}" + mismatch}},
      {{{"/selector", Json::parse(R"({"matchExpressions": [{"key": "app", "operator": "Exists"}]})")}}, {}},
      {{{"/selector", Json::parse(R"({"matchExpressions": [{"key": "app", "operator": "In"}]})")}},
       {"spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or "
        "'NotIn'"}},
  });
}

TEST(ValidationTest, EmptySelectorOfAStatefulSetIsRefusedInItsWords) {
  EXPECT_EQ(Texts(ValidateYurtAppDaemon(With(GoodStatefulSet(), {{"/selector", Json::object()}}))),
            std::vector<std::string>{"spec.selector: Invalid value: {}: empty selector is invalid for statefulset"});
}

TEST(ValidationTest, TemplatesOwnSelectorIsReplacedAndSoNotJudged) {
  // OpenYurt's webhook overwrote the selector, so manifests with any selector were accepted.
  ExpectErrors({
      {{{"/workloadTemplate/deploymentTemplate/spec/selector", {{"matchLabels", {{"other", "z"}}}}}}, {}},
      {{{"/workloadTemplate/deploymentTemplate/spec/selector", 1}},
       {kTemplate + "spec.selector: Invalid value: 1: must be an object"}},
  });
}

TEST(ValidationTest, ExactlyOneTemplateOfGoodShape) {
  const Json good = GoodDeployment()["spec"]["workloadTemplate"]["deploymentTemplate"];
  ExpectErrors({
      {{{"/workloadTemplate", nullptr}},
       {"spec.workloadTemplate: Required value: should provide one of (statefulSetTemplate/deploymentTemplate)"}},
      {{{"/workloadTemplate/deploymentTemplate", nullptr}},
       {"spec.workloadTemplate: Required value: should provide one of (statefulSetTemplate/deploymentTemplate)"}},
      {{{"/workloadTemplate/statefulSetTemplate", good}},
       {"spec.workloadTemplate: Forbidden: should provide only one of (statefulSetTemplate/deploymentTemplate)"}},
      {{{"/workloadTemplate/deploymentTemplate", 1}},
       {"spec.workloadTemplate.deploymentTemplate: Invalid value: 1: must be an object"}},
      {{{"/workloadTemplate/deploymentTemplate/spec", nullptr}}, {kTemplate + "spec: Required value"}},
      {{{"/workloadTemplate/deploymentTemplate/spec", Json::array()}},
       {kTemplate + "spec: Invalid value: []: must be an object"}},
      {{{"/workloadTemplate/deploymentTemplate/spec/template", nullptr}},
       {kTemplate + "spec.template: Required value"}},
      {{{"/workloadTemplate/deploymentTemplate/spec/template/spec", nullptr}},
       {kTemplate + "spec.template.spec: Required value"}},
      {{{"/workloadTemplate/deploymentTemplate/spec/replicas", -1}},
       {kTemplate + "spec.replicas: Invalid value: -1: must be greater than or equal to 0"}},
      {{{"/workloadTemplate/deploymentTemplate/spec/replicas", "2"}},
       {kTemplate + "spec.replicas: Invalid value: \"2\": must be an integer"}},
      {{{"/workloadTemplate/deploymentTemplate/spec/replicas", 1.5}},
       {kTemplate + "spec.replicas: Invalid value: 1.5: must be an integer"}},
      {{{"/workloadTemplate/deploymentTemplate/spec/replicas", 18446744073709551615ULL}},
       {kTemplate + "spec.replicas: Invalid value: 18446744073709551615: must be less than or equal to 2147483647"}},
      {{{"/workloadTemplate/deploymentTemplate/spec/replicas", 0}}, {}},
      {{{"/workloadTemplate/deploymentTemplate/metadata/labels/app", 1}},
       {kTemplate + "metadata.labels[app]: Invalid value: 1: must be a string"}},
      {{{"/workloadTemplate/deploymentTemplate/metadata/annotations", {{"a", true}, {"/", "x"}}}},
       {kTemplate + "metadata.annotations: Invalid value: \"/\": prefix part must be non-empty",
        kTemplate + "metadata.annotations[a]: Invalid value: true: must be a string"}},
  });
}

TEST(ValidationTest, CommonMistakesInPodsAreFound) {
  const std::string pod_pointer = "/workloadTemplate/deploymentTemplate/spec/template/spec";
  const std::string pod = kTemplate + "spec.template.spec.";
  ExpectErrors({
      {{{pod_pointer + "/containers", nullptr}}, {pod + "containers: Required value"}},
      {{{pod_pointer + "/containers", Json::array()}}, {pod + "containers: Required value"}},
      {{{pod_pointer + "/containers", "c"}}, {pod + "containers: Invalid value: \"c\": must be a list"}},
      {{{pod_pointer + "/containers", Json::array({1})}}, {pod + "containers[0]: Invalid value: 1: must be an object"}},
      {{{pod_pointer + "/containers", Json::array({Json::object()})}},
       {pod + "containers[0].name: Required value", pod + "containers[0].image: Required value"}},
      {{{pod_pointer + "/containers/0/image", ""}}, {pod + "containers[0].image: Required value"}},
      {{{pod_pointer + "/containers/0/image", 7}}, {pod + "containers[0].image: Invalid value: 7: must be a string"}},
      {{{pod_pointer + "/containers/0/name", std::string(64, 'c')}},
       {pod + "containers[0].name: Invalid value: \"" + std::string(64, 'c') +
        "\": must be no more than 63 characters"}},
      {{{pod_pointer + "/containers/0/name", "a.b"}},
       {pod + "containers[0].name: Invalid value: \"a.b\": must not contain dots"}},
      {{{pod_pointer + "/containers/1", {{"name", "c"}, {"image", "i"}}}},
       {pod + "containers[1].name: Duplicate value: \"c\""}},
      {{{pod_pointer + "/initContainers", {{{"name", "c"}, {"image", "i"}}}}},
       {pod + "initContainers[0].name: Duplicate value: \"c\""}},
      {{{pod_pointer + "/initContainers", {{{"name", "d"}, {"image", "i"}, {"restartPolicy", "Always"}}}}}, {}},
      {{{pod_pointer + "/restartPolicy", "Never"}},
       {pod + "restartPolicy: Unsupported value: \"Never\": supported values: \"Always\""}},
      {{{pod_pointer + "/restartPolicy", "Always"}}, {}},
      {{{pod_pointer + "/nodeSelector", "x"}}, {pod + "nodeSelector: Invalid value: \"x\": must be an object"}},
      {{{pod_pointer + "/tolerations", Json::object()}}, {pod + "tolerations: Invalid value: {}: must be a list"}},
      {{{pod_pointer + "/fieldOfTheFuture", {{"a", 1}}}}, {}},
  });
}

TEST(ValidationTest, PoolsAreSelectedByLabelsOrNames) {
  ExpectErrors({
      {{{"/nodepoolSelector", nullptr}},
       {"spec.nodepoolSelector: Required value: must be specified unless `nodePools.names` is; an empty selector `{}` "
        "selects all pools"}},
      {{{"/nodepoolSelector", nullptr}, {"/nodePools", {{"names", Json::array()}}}},
       {"spec.nodepoolSelector: Required value: must be specified unless `nodePools.names` is; an empty selector `{}` "
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

TEST(ValidationTest, SmallFieldsHaveTheirTypes) {
  ExpectErrors({
      {{{"/revisionHistoryLimit", -1}},
       {"spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0"}},
      {{{"/revisionHistoryLimit", 2147483648LL}},
       {"spec.revisionHistoryLimit: Invalid value: 2147483648: must be less than or equal to 2147483647"}},
      {{{"/revisionHistoryLimit", 0}, {"/paused", true}}, {}},
      {{{"/paused", "true"}}, {"spec.paused: Invalid value: \"true\": must be true or false"}},
  });
}

TEST(ValidationTest, UpdateStrategyIsChecked) {
  const std::string rolling = "spec.updateStrategy.rollingUpdate.";
  const std::string percent_fault =
      ": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used "
      "for validation is '[0-9]+%')";
  const auto strategy = [](const char* rolling_update) {
    return Edit{"/updateStrategy", {{"type", "RollingUpdate"}, {"rollingUpdate", Json::parse(rolling_update)}}};
  };
  ExpectErrors({
      {{{"/updateStrategy", "All"}}, {"spec.updateStrategy: Invalid value: \"All\": must be an object"}},
      {{{"/updateStrategy", Json::object()}}, {}},
      {{{"/updateStrategy", {{"type", "OnDelete"}}}}, {}},
      {{{"/updateStrategy", {{"type", "Recreate"}}}},
       {"spec.updateStrategy.type: Unsupported value: \"Recreate\": supported values: \"All\", \"RollingUpdate\", "
        "\"OnDelete\""}},
      {{{"/updateStrategy", {{"rollingUpdate", Json::object()}}}},
       {"spec.updateStrategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'All'"}},
      {{{"/updateStrategy", {{"type", "OnDelete"}, {"rollingUpdate", {{"maxUnavailable", 1}}}}}},
       {"spec.updateStrategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'OnDelete'"}},
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
       {rolling + "progressDeadlineSeconds: Invalid value: 10: must be greater than minReadySeconds"}},
      {{strategy(R"({"minReadySeconds": 600})")},
       {rolling + "progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds"}},
      {{strategy(R"({"progressDeadlineSeconds": 0})")},
       {rolling + "progressDeadlineSeconds: Invalid value: 0: must be greater than minReadySeconds"}},
      {{strategy(R"({"onFailure": "Retry"})")},
       {rolling + "onFailure: Unsupported value: \"Retry\": supported values: \"Pause\", \"Rollback\""}},
      {{strategy("[]")}, {"spec.updateStrategy.rollingUpdate: Invalid value: []: must be an object"}},
  });
}

TEST(ValidationTest, GroupsAreChecked) {
  const std::string groups = "spec.updateStrategy.rollingUpdate.groups";
  const auto with = [](const char* list) {
    return Edit{"/updateStrategy", {{"type", "RollingUpdate"}, {"rollingUpdate", {{"groups", Json::parse(list)}}}}};
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
       {groups + "[0]: Required value: must specify one of: `pools`, `nodepoolSelector`"}},
      {{with(R"([{"name": "a", "pools": ["a"], "nodepoolSelector": {}}])")},
       {groups + "[0].nodepoolSelector: Forbidden: may not be specified when `pools` is given"}},
      {{with(R"([{"name": "a", "pools": []}])")}, {groups + "[0].pools: Required value: must name at least one pool"}},
      {{with(R"([{"name": "a", "pools": [""], "maxUnavailable": 0, "approval": "Never"}])")},
       {groups + "[0].pools[0]: Required value: must not be empty",
        groups + "[0].maxUnavailable: Invalid value: 0: cannot be 0",
        groups + "[0].approval: Unsupported value: \"Never\": supported values: \"Automatic\", \"Manual\""}},
  });
  // A list of approvals consists of these characters.
  for (const char* name : {"a,b", "a/b", " "}) {
    const auto errors = Texts(ValidateYurtAppDaemon(
        With(GoodDeployment(), {with((R"([{"pools": ["a"], "name": ")" + std::string(name) + "\"}]").c_str())})));
    ASSERT_EQ(errors.size(), 1U) << name;
    EXPECT_THAT(errors[0], testing::HasSubstr(kLabelFault));
  }
}

TEST(ValidationTest, OverridesHaveTheirShape) {
  const auto with = [](const char* list) { return Edit{"/overrides", Json::parse(list)}; };
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

TEST(ValidationTest, AllFaultsAreReportedAtOnce) {
  EXPECT_EQ(Texts(ValidateYurtAppDaemon(Json::parse(R"({"spec": {"revisionHistoryLimit": "x"}})"))),
            (std::vector<std::string>{
                "spec.selector: Required value",
                "spec.workloadTemplate: Required value: should provide one of (statefulSetTemplate/deploymentTemplate)",
                "spec.nodepoolSelector: Required value: must be specified unless `nodePools.names` is; an empty "
                "selector `{}` selects all pools",
                "spec.revisionHistoryLimit: Invalid value: \"x\": must be an integer"}));
}

TEST(ValidationTest, FaultsInManyElementsAreReportedForSomeOfThem) {
  const Json many(5000, 1);
  const Json selector = {{"matchExpressions", {{{"key", "a"}, {"operator", "In"}, {"values", many}}}}};
  for (const Edit& edit : std::vector<Edit>{
           {"/nodePools", {{"names", many}}},
           {"/nodepoolSelector", selector},
           {"/nodepoolSelector", {{"matchExpressions", many}}},
           {"/overrides", many},
           {"/overrides", {{{"pools", many}}}},
           {"/overrides", {{{"pools", {"a"}}, {"images", many}}}},
           {"/overrides", {{{"pools", {"a"}}, {"jsonPatches", many}}}},
           {"/updateStrategy", {{"type", "RollingUpdate"}, {"rollingUpdate", {{"groups", many}}}}},
           {"/workloadTemplate/deploymentTemplate/spec/template/spec/containers", many},
           {"/serviceTemplate", {{"spec", {{"ports", many}}}}},
       }) {
    const FieldErrors errors = ValidateYurtAppDaemon(With(GoodDeployment(), {edit}));
    EXPECT_EQ(errors.size(), FieldErrors::kMost) << edit.pointer;
  }
}

TEST(ValidationTest, JunkAnywhereIsAFaultAndNeverACrash) {
  const Json junk[] = {nullptr,
                       true,
                       -7,
                       18446744073709551615ULL,
                       2.5,
                       "",
                       "\xFF",
                       Json::array(),
                       Json::array({nullptr, 1, "x", Json::object()}),
                       Json::object(),
                       Json{{"a", {{"b", 1}}}}};
  for (const Json& value : junk) {
    EXPECT_FALSE(ValidateYurtAppDaemon(value).empty());
    EXPECT_FALSE(ValidateYurtAppDaemon(Json{{"spec", value}}).empty());
    EXPECT_FALSE(ParseYurtAppDaemon(Json{{"spec", value}}).has_value());
    ValidateYurtAppDaemonUpdate(value, GoodDeployment());
    ValidateYurtAppDaemonUpdate(GoodStatefulSet(), value);
  }
  // Replaces every value of an object that uses every field by every kind of junk.
  Json full =
      With(GoodDeployment(),
           {{"/nodePools", Json::parse(R"({"names": ["a"], "exclude": ["b"], "type": "Edge"})")},
            {"/selector", Json::parse(R"({"matchExpressions": [{"key": "app", "operator": "In", "values": ["x"]}]})")},
            {"/updateStrategy", Json::parse(R"({"type": "RollingUpdate", "rollingUpdate": {
          "maxUnavailable": 1, "minReadySeconds": 1, "groups": [{"name": "g", "pools": ["a"]}]}})")},
            {"/overrides", Json::parse(R"([{"pools": ["a"], "images": [{"name": "c", "image": "i"}],
          "jsonPatches": [{"op": "add", "path": "/a", "value": 1}]}])")}});
  ASSERT_TRUE(ValidateYurtAppDaemon(full).empty());
  Json statefulset = full;
  statefulset["spec"]["workloadTemplate"] = Json::parse(R"({"statefulSetTemplate": {"spec": {
      "serviceName": "s", "podManagementPolicy": "OrderedReady",
      "volumeClaimTemplates": [{"spec": {"volumeMode": "x"}}]}}})");
  for (const Json& object : {full, statefulset}) {
    const Json places = object.flatten();
    for (const auto& [pointer, leaf] : places.items()) {
      for (Json::json_pointer at(pointer); !at.empty(); at = at.parent_pointer()) {
        for (const Json& value : junk) {
          Json broken = object;
          broken[at] = value;
          const bool good = ValidateYurtAppDaemon(broken).empty();
          EXPECT_EQ(ParseYurtAppDaemon(broken).has_value(), good) << at;
          ValidateYurtAppDaemonUpdate(broken, object);
          ValidateYurtAppDaemonUpdate(object, broken);
        }
      }
    }
  }
}

TEST(ValidationTest, DeepNestingIsSurvived) {
  const auto nested = [](int levels) {
    std::string text;
    for (int i = 0; i < levels; ++i) text += "{\"a\":";
    return Json::parse(text + "1" + std::string(static_cast<std::size_t>(levels), '}'));
  };
  const std::string pointer = "/workloadTemplate/deploymentTemplate/spec/template/spec/unknown";
  for (int levels : {100, 490}) {
    const Json deep = With(GoodDeployment(), {{pointer, nested(levels)}});
    EXPECT_TRUE(ValidateYurtAppDaemon(deep).empty());
    EXPECT_TRUE(ParseYurtAppDaemon(deep).has_value());
    EXPECT_TRUE(ValidateYurtAppDaemonUpdate(deep, GoodDeployment()).empty());
  }

  // The value is built in place, because a copy of it overflows the stack.
  Json hostile = GoodDeployment();
  hostile[Json::json_pointer("/spec" + pointer)] = nested(100000);
  EXPECT_EQ(Texts(ValidateYurtAppDaemon(hostile)),
            std::vector<std::string>{"spec: Invalid value: \"...\": must not be nested more than 500 levels deep"});
  EXPECT_FALSE(ParseYurtAppDaemon(hostile).has_value());
  EXPECT_FALSE(ValidateYurtAppDaemonUpdate(hostile, GoodDeployment()).empty());
  EXPECT_TRUE(ValidateYurtAppDaemonUpdate(GoodDeployment(), hostile).empty());

  Json status = GoodDeployment();
  status["status"] = nested(100000);
  ASSERT_TRUE(ParseYurtAppDaemon(status).has_value());
  EXPECT_TRUE(ParseYurtAppDaemon(status)->status.is_null());
  EXPECT_TRUE(ParseYurtAppDaemon(std::move(status))->status.is_null());
}

TEST(ValidationTest, ServiceTemplate) {
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
  const std::vector<Edit> by_expression = {{"/selector", {{"matchExpressions", expression}}},
                                           {"/serviceTemplate/spec/ports", ports}};
  const auto faults = Texts(ValidateYurtAppDaemon(With(GoodDeployment(), by_expression)));
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].find(at + ".spec.selector: Required value: spec.selector has matchExpressions"), 0U) << faults[0];
  std::vector<Edit> named = by_expression;
  named.push_back({"/serviceTemplate/spec/selector/app", "x"});
  EXPECT_TRUE(ValidateYurtAppDaemon(With(GoodDeployment(), named)).empty());
}

TEST(ValidationTest, AServiceCannotBecomeHeadless) {
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

TEST(ValidationTest, AServiceNameThatWasLeftOutCannotBeGivenLater) {
  const Json before = With(GoodStatefulSet(), {{"/serviceTemplate/spec", Json::parse(R"({"clusterIP": "None"})")}});
  const auto faults = Texts(ValidateYurtAppDaemonUpdate(
      With(before, {{"/workloadTemplate/statefulSetTemplate/spec/serviceName", "x"}}), before));
  ASSERT_EQ(faults.size(), 2U);
  EXPECT_NE(faults[1].find("spec.serviceName: Forbidden: can't be changed"), std::string::npos) << faults[1];
}

}  // namespace
}  // namespace yad
