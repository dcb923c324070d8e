#include "operator/workload/render.h"

#include <gtest/gtest.h>

#include "operator/api/well_known.h"
#include "operator/workload/merge.h"
#include "tests/unit/workload/json.h"

namespace yad {
namespace {

RevisionContent Content(const std::string& workload_template, const std::string& overrides = "[]") {
  RevisionContent content;
  content.workload_template = J(workload_template);
  content.overrides = J(overrides);
  content.override_index = OverrideIndex(content.overrides);
  return content;
}

RevisionContent Sample(const std::string& overrides = "[]") {
  return Content(R"({"metadata":{"labels":{"app":"web"},"annotations":{"team":"a"},"name":"ignored"},"spec":{
      "selector":{"matchLabels":{"app":"web"},"matchExpressions":[{"key":"x","operator":"DoesNotExist"}]},
      "template":{"metadata":{"labels":{"app":"web"}},"spec":{"nodeSelector":{"disk":"ssd"},
        "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{}]},
                                    "preferredDuringSchedulingIgnoredDuringExecution":[]}},
        "tolerations":[{"key":"own","operator":"Exists","effect":"NoSchedule"}],
        "containers":[{"name":"c","image":"i:1"}]}}}})",
                 overrides);
}

RenderInputs Inputs(std::vector<Taint> taints, int rules = 1) {
  RenderInputs inputs;
  inputs.rules = rules;
  inputs.tolerations = std::move(taints);
  return inputs;
}

Json Rendered(const RevisionContent& content, const RenderInputs& inputs) {
  const auto rendered = Render(content, inputs, "beijing", "web-abc");
  EXPECT_TRUE(rendered.has_value()) << (rendered ? "" : rendered.error().message);
  return rendered.value_or(Json());
}

TEST(RenderTest, RenderingAddsThePoolToTheTemplate) {
  EXPECT_EQ(Rendered(Sample(), Inputs({{"region", "NoSchedule"}})), J(R"({
      "metadata":{"labels":{"app":"web","apps.openyurt.io/pool-name":"beijing"},
                  "annotations":{"team":"a","apps.openyurt.io/ref-nodepool":"beijing"}},
      "spec":{"selector":{"matchLabels":{"app":"web","apps.openyurt.io/pool-name":"beijing"},
                          "matchExpressions":[{"key":"x","operator":"DoesNotExist"}]},
      "template":{"metadata":{"labels":{"app":"web","apps.openyurt.io/pool-name":"beijing"}},
        "spec":{"nodeSelector":{"disk":"ssd","apps.openyurt.io/nodepool":"beijing"},
        "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{}]},
                                    "preferredDuringSchedulingIgnoredDuringExecution":[]}},
        "tolerations":[{"key":"own","operator":"Exists","effect":"NoSchedule"},{"key":"region","operator":"Exists","effect":"NoSchedule"}],
        "containers":[{"name":"c","image":"i:1"}]}}}})"));
}

TEST(RenderTest, NullLabelOrAnnotationOfTheTemplateIsRenderedAsAnEmptyText) {
  const auto daemon = ParseYurtAppDaemon(J(R"({"metadata":{"name":"web","namespace":"ns","uid":"u"},"spec":{
      "selector":{"matchLabels":{"app":"web"}},"nodepoolSelector":{},"workloadTemplate":{"deploymentTemplate":{
        "metadata":{"labels":{"app":"web","x":null},"annotations":{"y":null}},
        "spec":{"template":{"metadata":{"labels":{"app":"web","x":null},"annotations":{"y":null}},
          "spec":{"containers":[{"name":"c","image":"i:1"}]}}}}}}})"));
  ASSERT_TRUE(daemon.has_value()) << daemon.error().message;
  const Json rendered = Rendered(ContentOf(*daemon), Inputs({}));
  const Json merged = ThreeWayMerge(rendered, rendered, Json::object());
  for (const Json& object : {merged, merged["spec"]["template"]}) {
    EXPECT_EQ(object["metadata"]["labels"]["x"], "");
    EXPECT_EQ(object["metadata"]["annotations"]["y"], "");
  }
}

TEST(RenderTest, ExistingTolerationIsNotAddedAgain) {
  const RevisionContent content = Content(R"({"spec":{"selector":{},"template":{"spec":{"tolerations":[
      {"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":9},{"key":"b","operator":"Equal","value":"","effect":"NoSchedule"},
      {"operator":"Exists"}]}}}})");
  const Json rendered = Rendered(
      content, Inputs({{"a", "NoExecute"}, {"b", "NoSchedule"}, {"b", "NoSchedule"}, {"a", "NoSchedule"}, {"", ""}}));
  EXPECT_EQ(rendered["spec"]["template"]["spec"]["tolerations"],
            J(R"([{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":9},
                  {"key":"b","operator":"Equal","value":"","effect":"NoSchedule"},{"operator":"Exists"},
                  {"key":"b","operator":"Exists","effect":"NoSchedule"},{"key":"a","operator":"Exists","effect":"NoSchedule"}])"));
}

// Users create templates from the output of `kubectl get -o yaml` for a workload of the operator.
TEST(RenderTest, RecordsOfControllersInTheTemplateAreNotRendered) {
  const std::string records = R"({
      "annotations":{"apps.openyurt.io/update-record":"{}","apps.openyurt.io/rendered-from":"{}",
                     "apps.openyurt.io/removal-allowed":"1","deployment.kubernetes.io/revision":"3","team":"a"},
      "labels":{"apps.openyurt.io/controller-revision-hash":"old","app":"web"}})";
  const Json expected = J(R"({
      "annotations":{"apps.openyurt.io/ref-nodepool":"beijing","team":"a"},
      "labels":{"apps.openyurt.io/pool-name":"beijing","app":"web"}})");
  const RevisionContent of_template = Content(R"({"metadata":)" + records + R"(,"spec":{}})");
  for (const int rules : {0, 1}) EXPECT_EQ(Rendered(of_template, Inputs({}, rules))["metadata"], expected);
  const RevisionContent of_override = Content(R"({"spec":{}})", R"([{"patch":{"metadata":)" + records + "}}]");
  RenderInputs inputs = Inputs({});
  inputs.overrides = {0};
  EXPECT_EQ(Rendered(of_override, inputs)["metadata"], expected);
}

TEST(RenderTest, AbsentReplicasAreNotRendered) {
  EXPECT_FALSE(Rendered(Sample(), Inputs({}))["spec"].contains("replicas"));
}

TEST(RenderTest, AMinimalTemplateIsRendered) {
  const Json rendered = Rendered(Content(R"({"spec":{}})"), Inputs({}));
  EXPECT_EQ(
      rendered,
      J(R"({"metadata":{"labels":{"apps.openyurt.io/pool-name":"beijing"},"annotations":{"apps.openyurt.io/ref-nodepool":"beijing"}},
      "spec":{"selector":{"matchLabels":{"apps.openyurt.io/pool-name":"beijing"}},
              "template":{"metadata":{"labels":{"apps.openyurt.io/pool-name":"beijing"}},
                          "spec":{"nodeSelector":{"apps.openyurt.io/nodepool":"beijing"}}}}})"));
}

TEST(RenderTest, RenderingWithRulesOfOpenYurtEqualsTheWorkloadOfOpenYurt) {
  // A Deployment that OpenYurt 1.6.1 created, and its revision.
  const RevisionContent content = Content(R"({"metadata":{"labels":{"app":"daemon-1"}},"spec":{"replicas":1,
      "selector":{"matchLabels":{"app":"daemon-1"}},"strategy":{},"template":{"metadata":{"labels":{"app":"daemon-1"}},
      "spec":{"nodeSelector":{"disk":"ssd"},"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{}]}}},
      "containers":[{"image":"nginx:1.20.0","imagePullPolicy":"Always","name":"nginx","ports":[{"containerPort":80,"protocol":"TCP"}],
        "resources":{"requests":{"cpu":"10m"}},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],
        "dnsPolicy":"ClusterFirst","restartPolicy":"Always","terminationGracePeriodSeconds":30}}}})");
  const Json live = J(
      R"({"metadata":{"annotations":{"apps.openyurt.io/ref-nodepool":"beijing","deployment.kubernetes.io/revision":"3"},
      "labels":{"app":"daemon-1","apps.openyurt.io/controller-revision-hash":"daemon-1-5c69b69bd4","apps.openyurt.io/pool-name":"beijing"},
      "name":"daemon-1-beijing-bht2n","namespace":"default"},
    "spec":{"progressDeadlineSeconds":600,"replicas":1,"revisionHistoryLimit":10,
      "selector":{"matchLabels":{"app":"daemon-1","apps.openyurt.io/pool-name":"beijing"}},
      "strategy":{"rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"},"type":"RollingUpdate"},
      "template":{"metadata":{"labels":{"app":"daemon-1","apps.openyurt.io/controller-revision-hash":"daemon-1-5c69b69bd4",
                                        "apps.openyurt.io/pool-name":"beijing"}},
        "spec":{"affinity":{"nodeAffinity":{}},
          "containers":[{"image":"nginx:1.20.0","imagePullPolicy":"Always","name":"nginx","ports":[{"containerPort":80,"protocol":"TCP"}],
          "resources":{"requests":{"cpu":"10m"}},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],
          "dnsPolicy":"ClusterFirst","nodeSelector":{"apps.openyurt.io/nodepool":"beijing"},"restartPolicy":"Always",
          "schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30,
          "tolerations":[{"effect":"NoSchedule","key":"region","operator":"Exists"}]}}},"status":{"replicas":1}})");
  const auto rendered = Render(content, Inputs({{"region", "NoSchedule"}}, 0), "beijing", "daemon-1-5c69b69bd4");
  ASSERT_TRUE(rendered.has_value());
  EXPECT_EQ((*rendered)["spec"]["template"]["spec"]["nodeSelector"], J(R"({"apps.openyurt.io/nodepool":"beijing"})"));
  EXPECT_EQ(ThreeWayMerge(*rendered, *rendered, live), live);

  // The next revision removes the label and the fields of OpenYurt's rules, and keeps the fields of other clients.
  const auto ours = Render(content, Inputs({{"region", "NoSchedule"}}), "beijing", "daemon-1-5c69b69bd4");
  ASSERT_TRUE(ours.has_value());
  const Json merged = ThreeWayMerge(*rendered, *ours, live);
  EXPECT_FALSE(merged["spec"]["template"]["metadata"]["labels"].contains(kRevisionLabel));
  EXPECT_EQ(merged["spec"]["template"]["spec"]["nodeSelector"],
            J(R"({"apps.openyurt.io/nodepool":"beijing","disk":"ssd"})"));
  EXPECT_EQ(merged["metadata"]["annotations"], live["metadata"]["annotations"]);
}

TEST(RenderTest, OverridesAreAppliedInTheirOrderBeforeThePoolIsBound) {
  RenderInputs inputs;
  inputs.overrides = {0, 2};
  const Json rendered = Rendered(
      Sample(
          R"([{"replicas":1,"patch":{"spec":{"template":{"spec":{"nodeSelector":{"apps.openyurt.io/nodepool":"other"}}}}}},
      {"replicas":7},{"replicas":2,"jsonPatches":[{"op":"remove","path":"/spec/template/spec/tolerations"}]}])"),
      inputs);
  EXPECT_EQ(rendered["spec"]["replicas"], 2);
  EXPECT_EQ(rendered["spec"]["template"]["spec"]["nodeSelector"][kNodePoolLabel], "beijing");
  EXPECT_FALSE(rendered["spec"]["template"]["spec"].contains("tolerations"));
}

// Otherwise, one YurtAppDaemon could block the reconciles of all others.
TEST(RenderTest, OverridesOfOnePoolAreLimited) {
  const Json image = {{"name", "c"}, {"image", "i:2"}};
  const Json operation = {{"op", "add"}, {"path", "/metadata/labels/x"}, {"value", "y"}};
  const auto fault = [](const Json& overrides) {
    RenderInputs inputs;
    for (std::size_t i = 0; i < overrides.size(); ++i) inputs.overrides.push_back(static_cast<int>(i));
    const auto rendered = Render(Sample(overrides.dump()), inputs, "p", "r");
    return rendered ? "" : rendered.error().causes.at(0).field;
  };
  const auto with = [](const char* key, const Json& value, std::size_t count) {
    return Json{{key, Json(count, value)}};
  };
  EXPECT_EQ(fault(Json(1000, {{"replicas", 1}})), "");
  EXPECT_EQ(fault(Json(1001, {{"replicas", 1}})), "spec.overrides[1000]");
  EXPECT_EQ(fault(Json::array({with("images", image, 999)})), "");
  EXPECT_EQ(fault(Json::array({with("images", image, 1000)})), "spec.overrides[0].images[999]");
  EXPECT_EQ(fault(Json::array({with("jsonPatches", operation, 999)})), "");
  EXPECT_EQ(fault(Json::array({with("images", image, 500), with("jsonPatches", operation, 499)})),
            "spec.overrides[1].jsonPatches[498]");
}

TEST(RenderTest, DuplicateTaintIsToleratedOnce) {
  EXPECT_EQ(Rendered(Sample(), Inputs({{"a", "NoSchedule"},
                                       {"a", "NoSchedule"},
                                       {"own", "NoSchedule"}}))["spec"]["template"]["spec"]["tolerations"]
                .size(),
            2U);
}

TEST(RenderTest, AnOverrideThatDoesNotApplyIsInvalid) {
  RenderInputs inputs;
  inputs.overrides = {0};
  for (const char* overrides :
       {R"([{"images":[{"name":"x","image":"y"}]}])", "[]",
        R"([{"jsonPatches":[{"op":"replace","path":"","value":7}]}])",
        R"([{"jsonPatches":[{"op":"add","path":"/spec/template/spec/tolerations","value":{"a":1}}]}])",
        R"([{"jsonPatches":[{"op":"add","path":"/spec/selector","value":1}]}])"}) {
    inputs.tolerations = {{"a", "NoSchedule"}};
    const auto rendered = Render(Sample(overrides), inputs, "p", "r");
    ASSERT_FALSE(rendered.has_value()) << overrides;
    EXPECT_EQ(rendered.error().reason, Reason::kInvalid);
  }
  inputs.overrides = {-1};
  EXPECT_FALSE(Render(Sample(), inputs, "p", "r").has_value());
}

TEST(RenderTest, ATemplateWithValuesOfWrongTypesIsInvalid) {
  for (const char* bad :
       {"null", "{}", R"({"spec":[]})", R"({"spec":{"template":"x"}})",
        R"({"spec":{"template":{"spec":{"nodeSelector":[]}}}})", R"({"spec":{"selector":{"matchLabels":1}}})"}) {
    const auto rendered = Render(Content(bad), Inputs({{"a", "NoSchedule"}}), "p", "r");
    ASSERT_FALSE(rendered.has_value()) << bad;
    EXPECT_EQ(rendered.error().reason, Reason::kInvalid);
  }
}

TEST(RenderInputsTest, InputsAreReadBackFromTheAnnotation) {
  RenderInputs inputs = Inputs({{"b", "NoExecute"}, {"a", ""}});
  inputs.overrides = {0, 2};
  EXPECT_EQ(
      inputs.ToAnnotation(),
      R"({"overrides":[0,2],"rules":1,"tolerations":[{"effect":"NoExecute","key":"b"},{"effect":"","key":"a"}]})");
  const auto read = ParseRenderInputs(inputs.ToAnnotation());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, inputs);
}

TEST(RenderInputsTest, ReplicasAreWrittenToTheAnnotationReadBackAndRendered) {
  RenderInputs inputs = Inputs({});
  inputs.replicas = 5;
  EXPECT_EQ(inputs.ToAnnotation(), R"({"overrides":[],"replicas":5,"rules":1,"tolerations":[]})");
  EXPECT_EQ(ParseRenderInputs(inputs.ToAnnotation())->replicas, 5);
  EXPECT_EQ(Rendered(Sample(), inputs)["spec"]["replicas"], 5);
}

TEST(RenderInputsTest, AbsenceOfReplicasIsWrittenToTheAnnotationReadBackAndRendered) {
  const RevisionContent content = Content(R"({"spec":{"replicas":3}})");
  RenderInputs inputs = Inputs({});
  inputs.without_replicas = true;
  EXPECT_EQ(inputs.ToAnnotation(), R"({"overrides":[],"replicas":null,"rules":1,"tolerations":[]})");
  EXPECT_EQ(*ParseRenderInputs(inputs.ToAnnotation()), inputs);
  EXPECT_FALSE(Rendered(content, inputs)["spec"].contains("replicas"));
}

TEST(RenderInputsTest, InputsOfAWorkloadWithoutTheAnnotationAreThoseOfOpenYurt) {
  const auto inputs = ParseRenderInputs("");
  ASSERT_TRUE(inputs.has_value());
  EXPECT_EQ(inputs->rules, 0);
}

TEST(RenderInputsTest, MalformedAnnotationsAreRejected) {
  for (const char* text :
       {"{", "[]", "{}", R"({"rules":-1})", R"({"rules":"1"})", R"({"rules":1,"overrides":[-1]})",
        R"({"rules":1,"overrides":[99999999999]})", R"({"rules":1,"overrides":{}})", R"({"rules":1,"tolerations":[1]})",
        R"({"rules":1,"tolerations":"x"})", R"({"rules":99999999999})", R"({"rules":1,"overrides":[0,0]})",
        R"({"rules":1,"overrides":[1,0]})", R"({"rules":1,"replicas":"5"})", R"({"rules":1,"replicas":-1})",
        R"({"rules":1,"replicas":99999999999})"}) {
    const auto inputs = ParseRenderInputs(text);
    ASSERT_FALSE(inputs.has_value()) << text;
    EXPECT_EQ(inputs.error().reason, Reason::kDecode);
  }
}

TEST(RenderInputsTest, InputsAreThePoolsTaintsAndTheOverridesThatSelectIt) {
  NodePool pool;
  pool.name = "beijing";
  pool.taints = {{"region", "NoSchedule"}};
  const RenderInputs inputs =
      InputsFor(Sample(R"([{"pools":["beijing"]},{"pools":["-beijing"]},{"nodepoolSelector":{}}])"), pool);
  EXPECT_EQ(inputs.rules, 2);
  EXPECT_EQ(inputs.tolerations, pool.taints);
  EXPECT_EQ(inputs.overrides, (std::vector<int>{0, 2}));
}

TEST(CompleteWorkloadTest, AddsNameOwnerRevisionAndInputs) {
  YurtAppDaemon daemon;
  daemon.meta.key = {"ns", "web"};
  daemon.meta.uid = "u";
  daemon.kind = WorkloadKind::kStatefulSet;
  const RenderInputs inputs = Inputs({});
  const Json workload =
      CompleteWorkload(J(R"({"metadata":{"labels":{"a":"b"}},"spec":{"x":1}})"), daemon, "web-p-abc", inputs, "web-r");
  EXPECT_EQ(workload, J(R"({"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"web-p-abc","namespace":"ns",
      "labels":{"a":"b","apps.openyurt.io/controller-revision-hash":"web-r"},
      "annotations":{"apps.openyurt.io/rendered-from":"{\"overrides\":[],\"rules\":1,\"tolerations\":[]}"},
      "ownerReferences":[{"apiVersion":"apps.openyurt.io/v1alpha1","kind":"YurtAppDaemon","name":"web","uid":"u","controller":true,
                          "blockOwnerDeletion":true}]},"spec":{"x":1}})"));
}

TEST(CompareTest, ReturnsTheWorstDifference) {
  const Json a = J(
      R"({"metadata":{"labels":{"a":"b"}},"spec":{"replicas":1,"minReadySeconds":1,"template":{"spec":{"containers":[{"name":"c","image":"1"}]}}}})");
  EXPECT_EQ(Compare(a, a), Difference::kNone);
  Json b = a;
  b["spec"]["replicas"] = 2;
  EXPECT_EQ(Compare(a, b), Difference::kReplicasOnly);
  EXPECT_EQ(Compare(b, a), Difference::kReplicasOnly);
  b["spec"].erase("replicas");
  EXPECT_EQ(Compare(a, b), Difference::kReplicasOnly);
  b["spec"]["minReadySeconds"] = 2;
  EXPECT_EQ(Compare(a, b), Difference::kWithoutPods);
  b["spec"]["template"]["spec"]["containers"][0]["image"] = "2";
  EXPECT_EQ(Compare(a, b), Difference::kPodTemplate);
  Json labelled = a;
  labelled["metadata"]["labels"]["c"] = "d";
  EXPECT_EQ(Compare(a, labelled), Difference::kWithoutPods);
  Json volume = a;
  volume["spec"]["volumeClaimTemplates"] = J(R"([{"metadata":{"name":"v"}}])");
  EXPECT_EQ(Compare(a, volume), Difference::kWithoutPods);
  EXPECT_EQ(Compare(volume, a), Difference::kWithoutPods);
}

TEST(CompareTest, InsignificantValuesAreNotADifference) {
  const Json a =
      J(R"({"metadata":{"labels":{}},"spec":{"strategy":{},"template":{"metadata":{"creationTimestamp":null},"spec":
      {"securityContext":{},"containers":[{"name":"c","ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"1000m"}}}]}}}})");
  const Json b = J(R"({"spec":{"paused":false,"template":{"spec":
      {"containers":[{"name":"c","stdin":false,"ports":[{"containerPort":80,"protocol":"TCP"}],"resources":{"limits":{"cpu":"1"}}}]}}}})");
  EXPECT_EQ(Compare(a, b), Difference::kNone);
}

TEST(RenderTest, OverridesShareOneLimitOfText) {
  const auto add = [](const std::string& key) {
    return Json{{"pools", {"*"}},
                {"jsonPatches", {{{"op", "add"}, {"path", "/spec/" + key}, {"value", std::string(600'000, 'x')}}}}};
  };
  const auto render = [](const Json& overrides) {
    const RevisionContent content = Sample(overrides.dump());
    NodePool pool;
    pool.name = "p";
    return Render(content, InputsFor(content, pool), "p", "r");
  };
  EXPECT_TRUE(render({add("a"), add("b")}).has_value());
  const auto third = render({add("a"), add("b"), add("c")});
  ASSERT_FALSE(third.has_value());
  EXPECT_EQ(third.error().causes.at(0).field, "spec.overrides[2].jsonPatches[0]");
}

TEST(RenderTest, OverridesThatReplaceAnObjectWithAScalarAreErrors) {
  for (const char* entry : {R"({"replicas":1})", R"({"images":[{"name":"web","image":"w:2"}]})",
                            R"({"patch":{"spec":{"replicas":1}}})", R"({"patch":{"metadata":{"labels":{"a":"b"}}}})"}) {
    for (const char* path : {"", "/spec", "/metadata", "/spec/template", "/spec/template/spec"}) {
      Json last = Json::parse(entry);
      last["pools"] = {"*"};
      const Json overrides = {
          {{"pools", {"*"}}, {"jsonPatches", {{{"op", "replace"}, {"path", path}, {"value", "text"}}}}}, last};
      const RevisionContent content = Sample(overrides.dump());
      NodePool pool;
      pool.name = "p";
      Result<Json> rendered = Json();
      EXPECT_NO_THROW(rendered = Render(content, InputsFor(content, pool), "p", "r")) << entry << " after " << path;
      if (!rendered) {
        EXPECT_EQ(rendered.error().reason, Reason::kInvalid) << entry << " after " << path;
      }
    }
  }
}

}  // namespace
}  // namespace yad
