// Validation of a YurtAppDaemon: the selector, the template, the pods, and values of wrong types in any field.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/yurtappdaemon.h"
#include "tests/unit/api/validation_cases.h"

namespace yad::testing {
namespace {

TEST(ValidationTest, ValidObjectsHaveNoErrors) {
  EXPECT_EQ(Texts(ValidateYurtAppDaemon(GoodDeployment())), std::vector<std::string>{});
  EXPECT_EQ(Texts(ValidateYurtAppDaemon(GoodStatefulSet())), std::vector<std::string>{});
}

TEST(ValidationTest, SelectorMustMatchTheLabelsOfTheWorkloadAndOfItsPods) {
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

// The apiserver and OpenYurt read a null in a map of strings as "".
TEST(ValidationTest, NullLabelOrAnnotationOfATemplateIsAnEmptyText) {
  const Json no_value = {{"app", nullptr}};
  Json labels = With(GoodDeployment(), {{"/selector/matchLabels/app", ""}});
  for (const char* owner : {"", "/spec/template"}) {
    const std::string metadata = std::string("/workloadTemplate/deploymentTemplate") + owner + "/metadata";
    labels = With(labels, {{metadata + "/labels", no_value}, {metadata + "/annotations", no_value}});
  }
  labels["spec"]["serviceTemplate"] = {{"metadata", {{"labels", no_value}, {"annotations", no_value}}},
                                       {"spec", {{"ports", {{{"port", 80}}}}}}};
  EXPECT_EQ(Texts(ValidateYurtAppDaemon(labels)), std::vector<std::string>{});
  const auto daemon = ParseYurtAppDaemon(labels);
  ASSERT_TRUE(daemon.has_value());
  const Json empty_text = {{"app", ""}};
  for (const Json& object :
       {daemon->workload_template, daemon->workload_template["spec"]["template"], daemon->service_template}) {
    EXPECT_EQ(object["metadata"]["labels"], empty_text);
    EXPECT_EQ(object["metadata"]["annotations"], empty_text);
  }
}

TEST(ValidationTest, EmptySelectorOfAStatefulSetIsRejectedWithKubernetesMessage) {
  EXPECT_EQ(Texts(ValidateYurtAppDaemon(With(GoodStatefulSet(), {{"/selector", Json::object()}}))),
            std::vector<std::string>{"spec.selector: Invalid value: {}: empty selector is invalid for statefulset"});
}

TEST(ValidationTest, SelectorInTheTemplateIsReplacedAndNotValidated) {
  // Manifests of OpenYurt's users may have any selector here, because OpenYurt's webhook replaced it.
  ExpectErrors({
      {{{"/workloadTemplate/deploymentTemplate/spec/selector", {{"matchLabels", {{"other", "z"}}}}}}, {}},
      {{{"/workloadTemplate/deploymentTemplate/spec/selector", 1}},
       {kTemplate + "spec.selector: Invalid value: 1: must be an object"}},
  });
}

TEST(ValidationTest, ExactlyOneValidTemplateIsRequired) {
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

TEST(ValidationTest, CommonMistakesInPodsAreReported) {
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

TEST(ValidationTest, ScalarFieldsMustHaveTheirTypes) {
  ExpectErrors({
      {{{"/revisionHistoryLimit", -1}},
       {"spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0"}},
      {{{"/revisionHistoryLimit", 2147483648LL}},
       {"spec.revisionHistoryLimit: Invalid value: 2147483648: must be less than or equal to 2147483647"}},
      {{{"/revisionHistoryLimit", 0}, {"/paused", true}}, {}},
      {{{"/paused", "true"}}, {"spec.paused: Invalid value: \"true\": must be true or false"}},
  });
}

TEST(ValidationTest, AllErrorsAreReportedTogether) {
  EXPECT_EQ(
      Texts(ValidateYurtAppDaemon(Json::parse(R"({"spec": {"revisionHistoryLimit": "x"}})"))),
      (std::vector<std::string>{
          "spec.selector: Required value",
          "spec.workloadTemplate: Required value: should provide one of (statefulSetTemplate/deploymentTemplate)",
          "spec.nodepoolSelector: Required value: must be specified unless `nodePools.names` lists pools; an empty "
          "selector `{}` selects all pools",
          "spec.revisionHistoryLimit: Invalid value: \"x\": must be an integer"}));
}

TEST(ValidationTest, AtMostAThousandErrorsOfManyElementsAreReported) {
  const Json many(5000, 1);
  const Json selector = {{"matchExpressions", {{{"key", "a"}, {"operator", "In"}, {"values", many}}}}};
  for (const SpecEdit& edit : std::vector<SpecEdit>{
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

TEST(ValidationTest, MalformedValuesAnywhereAreErrorsAndCauseNoCrash) {
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
  // The object has every field. The test replaces each value with each value of `junk`.
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

TEST(ValidationTest, DeepNestingCausesNoCrash) {
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

  // Assigns without a copy, because the copy constructor would overflow the stack.
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

}  // namespace
}  // namespace yad::testing
