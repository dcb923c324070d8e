#include "webhook/admission/validating.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/webhook/admission.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

const std::string kTemplate = "spec.workloadTemplate.deploymentTemplate.";

// Returns the object with `value` at this JSON pointer below /spec. The value null removes the field.
Json With(Json object, const std::string& pointer, const Json& value) {
  const Json::json_pointer at("/spec" + pointer);
  if (value.is_null()) {
    object[at.parent_pointer()].erase(at.back());
  } else {
    object[at] = value;
  }
  return object;
}

Json Deep() {
  Json value;
  Json* at = &value;
  for (int i = 0; i < 800; ++i) at = &(*at)["x"];
  *at = 1;
  return value;
}

class ValidatingTest : public ::testing::Test {
 protected:
  ValidatingTest() {
    world_.SetDaemons({});
    world_.SetPoolNames({"a"});
    world_.SetDeployments({});
    world_.SetStatefulSets({});
  }

  AdmissionResponse Validate(const AdmissionRequest& request) {
    Deadline deadline(world_.clock, world_.clock.Now() + std::chrono::seconds(5));
    return validator_.Validate(request, deadline);
  }
  AdmissionResponse Create(const Json& object) { return Validate(CreateRequest(object)); }
  AdmissionResponse Update(const Json& object, const Json& old) { return Validate(UpdateRequest(object, old)); }
  static std::vector<std::string> CausesOf(const AdmissionResponse& answer) {
    std::vector<std::string> texts;
    if (answer.allowed) return texts;
    for (const Json& cause : answer.status["details"]["causes"]) {
      texts.push_back(StringAt(cause, {"field"}) + ": " + StringAt(cause, {"message"}));
    }
    return texts;
  }

  AdmissionWorld world_;
  Validator validator_{world_.client, world_.stores(), world_.clock};
};

TEST_F(ValidatingTest, ValidDaemonIsAdmittedAfterADryRunOfItsWorkload) {
  const AdmissionResponse answer = Create(DaemonJson());
  EXPECT_TRUE(answer.allowed);
  EXPECT_THAT(answer.warnings, IsEmpty());
  EXPECT_THAT(world_.TakeAsked(), SizeIs(1));
}

TEST_F(ValidatingTest, AllStaticErrorsAreReportedTogetherWithoutRequests) {
  Json object = With(DaemonJson(), "/revisionHistoryLimit", -1);
  object = With(object, "/workloadTemplate/deploymentTemplate/spec/template/spec/containers/0/env",
                R"([{"name": "A", "value": 1}])"_json);
  object = With(object, "/selector/matchLabels/app", "other");
  const AdmissionResponse answer = Create(object);
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.status["code"], 422);
  EXPECT_EQ(answer.status["reason"], "Invalid");
  EXPECT_EQ(answer.status["details"]["kind"], "YurtAppDaemon");
  EXPECT_THAT(CausesOf(answer),
              ElementsAre(StartsWith(kTemplate + "metadata.labels: Invalid value: "),
                          StartsWith(kTemplate + "spec.template.metadata.labels: Invalid value: "),
                          "spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0",
                          kTemplate + "spec.template.spec.containers[0].env[0].value: Invalid value: 1: must be a "
                                      "string: put it in quotes"));
  EXPECT_THAT(answer.status["message"], StartsWith("YurtAppDaemon.apps.openyurt.io \"web\" is invalid: [" + kTemplate));
  EXPECT_THAT(world_.TakeAsked(), IsEmpty());
}

TEST_F(ValidatingTest, ReportedErrorsAreBounded) {
  Json object = DaemonJson();
  for (int i = 0; i < 500; ++i) object["spec"]["overrides"].push_back(i);
  const auto causes = CausesOf(Create(object));
  ASSERT_THAT(causes, SizeIs(101));
  EXPECT_THAT(causes.back(), HasSubstr("and 400 more errors"));
  for (int i = 0; i < 5000; ++i) object["spec"]["overrides"].push_back(i);
  EXPECT_THAT(CausesOf(Create(object)).back(), HasSubstr("and at least 900 more errors"));
}

TEST_F(ValidatingTest, RejectionByTheClusterIsReturnedWithTheWarnings) {
  world_.OnAsk([](const Asked&) -> Result<HttpResponse> {
    return InvalidResponse({{"spec.template.spec.priority", "FieldValueForbidden", "Forbidden: no"}});
  });
  Json object = DaemonJson("nginx");
  PodSpecOf(TemplateOf(object))["containers"][0]["imagePullPolicy"] = "IfNotPresent";
  const AdmissionResponse answer = Create(object);
  EXPECT_THAT(CausesOf(answer), ElementsAre(kTemplate + "spec.template.spec.priority: Forbidden: no"));
  EXPECT_THAT(answer.warnings, ElementsAre(HasSubstr("may be a different image on each node")));
}

TEST_F(ValidatingTest, AnUnchangedSpecIsAdmittedWhateverItsErrors) {
  const Json faulty = With(DaemonJson(), "/selector", 1);
  Json labelled = faulty;
  labelled["metadata"]["labels"] = {{"x", "y"}};
  labelled["metadata"]["finalizers"] = Json::array();
  labelled["status"] = {{"anything", 1}};
  const AdmissionResponse answer = Update(labelled, faulty);
  EXPECT_TRUE(answer.allowed);
  EXPECT_THAT(answer.warnings, IsEmpty());
  const Json no_spec = R"({"metadata": {"name": "web", "namespace": "ns"}})"_json;
  EXPECT_TRUE(Update(no_spec, no_spec).allowed);
  EXPECT_THAT(world_.TakeAsked(), IsEmpty());
}

TEST_F(ValidatingTest, AnObjectThatIsBeingDeletedIsAdmittedWhateverItsErrors) {
  Json object = With(DaemonJson(), "/selector", 1);
  object["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_TRUE(Update(object, DaemonJson()).allowed);
  EXPECT_TRUE(Update(With(object, "/x", Deep()), DaemonJson()).allowed);
}

TEST_F(ValidatingTest, AnErrorOfTheOldSpecIsAWarningAndANewOneIsRejected) {
  const Json old = With(DaemonJson(), "/revisionHistoryLimit", -1);
  AdmissionResponse answer = Update(With(old, "/paused", true), old);
  EXPECT_TRUE(answer.allowed);
  EXPECT_THAT(answer.warnings,
              ElementsAre("spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0",
                          HasSubstr("does not reconcile the YurtAppDaemon until they are fixed")));
  answer = Update(With(old, "/paused", "yes"), old);
  EXPECT_THAT(CausesOf(answer), ElementsAre(StartsWith("spec.paused: Invalid value")));
  EXPECT_THAT(answer.warnings, ElementsAre(StartsWith("spec.revisionHistoryLimit")));
  // An update that fixes the error is admitted.
  EXPECT_TRUE(Update(DaemonJson(), old).allowed);
}

TEST_F(ValidatingTest, AKnownErrorOfTheTemplateDoesNotHideAnotherValueThatCannotBeDecoded) {
  Json old = DaemonJson();
  PodSpecOf(TemplateOf(old))["containers"][0]["ports"] = R"([{"containerPort": 99999}])"_json;
  Json now = old;
  PodSpecOf(TemplateOf(now))["hostNetwork"] = "yes";
  world_.OnAsk([](const Asked& asked) -> Result<HttpResponse> {
    if (Find(asked.body, {"spec", "template", "spec", "hostNetwork"}) == nullptr) {
      return InvalidResponse(
          {{"spec.template.spec.containers[0].ports[0].containerPort", "FieldValueInvalid", "no port"}});
    }
    return StatusResponse(400, "BadRequest",
                          "Deployment in version \"v1\" cannot be handled as a Deployment: json: cannot unmarshal "
                          "string into Go struct field PodSpec.spec.template.spec.hostNetwork of type bool");
  });
  EXPECT_THAT(CausesOf(Update(now, old)),
              ElementsAre(kTemplate + "spec.template.spec.hostNetwork: Invalid value: \"string\": must be true or "
                                      "false"));
}

TEST_F(ValidatingTest, AKnownValueThatCannotBeDecodedIsAWarningEvenWithAnotherType) {
  const auto with = [](const Json& value) {
    Json object = DaemonJson();
    PodSpecOf(TemplateOf(object))["containers"][0]["env"] = {{{"name", "A"}, {"value", value}}};
    return object;
  };
  world_.OnAsk([](const Asked& asked) -> Result<HttpResponse> {
    const Json& value = asked.body["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"];
    return StatusResponse(400, "BadRequest",
                          "Deployment in version \"v1\" cannot be handled as a Deployment: json: cannot unmarshal " +
                              std::string(value.is_number() ? "number" : "bool") +
                              " into Go struct field EnvVar.spec.template.spec.containers.env.value of type string");
  });
  const AdmissionResponse answer = Update(with(1), with(true));
  EXPECT_TRUE(answer.allowed);
  EXPECT_THAT(answer.warnings, ElementsAre(HasSubstr("env[0].value: Invalid value: 1: must be a string")));
}

TEST_F(ValidatingTest, AKnownErrorOfTheTemplateDoesNotHideAnInvalidCheck) {
  Json old = DaemonJson();
  PodSpecOf(TemplateOf(old))["containers"][0]["ports"] = R"([{"containerPort": 99999}])"_json;
  const Json now = With(old, "/updateStrategy", R"({"type": "RollingUpdate", "rollingUpdate": {"minReadySeconds": 60,
      "checks": [{"name": "errors", "prometheus": {"query": "up{", "max": "1"}}]}})"_json);
  Validator with_prometheus(world_.client, world_.stores(), world_.clock, [](const std::string&, std::stop_token) {
    return Status(Fail(Reason::kInvalid, "parse error"));
  });
  Deadline deadline(world_.clock, world_.clock.Now() + std::chrono::seconds(5));
  const AdmissionResponse answer = with_prometheus.Validate(UpdateRequest(now, old), deadline);
  EXPECT_THAT(CausesOf(answer), ElementsAre("spec.updateStrategy.rollingUpdate.checks[0].prometheus.query: Invalid "
                                            "value: parse error"));
  EXPECT_THAT(answer.warnings, ElementsAre(HasSubstr("ports[0].containerPort: Invalid value: 99999")));
}

TEST_F(ValidatingTest, NewCheckOfAConditionOfKubernetesIsRejectedAndAKnownOneIsAWarning) {
  const auto checking = [](const char* type) {
    const Json check = {{"name", "up"}, {"condition", {{"type", type}}}};
    return With(DaemonJson(), "/updateStrategy",
                {{"type", "RollingUpdate"}, {"rollingUpdate", {{"checks", Json::array({check})}}}});
  };
  const std::string field = "spec.updateStrategy.rollingUpdate.checks[0].condition.type: Invalid value: ";
  for (const char* type : {"Available", "Progressing", "ReplicaFailure"}) {
    EXPECT_THAT(CausesOf(Create(checking(type))), ElementsAre(StartsWith(field))) << type;
    EXPECT_THAT(CausesOf(Update(checking(type), checking("Other"))), ElementsAre(StartsWith(field))) << type;
    EXPECT_TRUE(ValidateYurtAppDaemon(checking(type)).empty()) << "the operator reconciles stored objects";
  }
  const AdmissionResponse answer = Update(With(checking("Available"), "/paused", true), checking("Available"));
  EXPECT_TRUE(answer.allowed);
  EXPECT_THAT(answer.warnings, ElementsAre(HasSubstr("would never pass")));
  EXPECT_TRUE(Create(checking("Other")).allowed);
}

TEST_F(ValidatingTest, StaticErrorsAndErrorsOfDryRunsAreReportedTogether) {
  world_.OnAsk([](const Asked&) -> Result<HttpResponse> {
    return InvalidResponse(
        {{"spec.template.spec.priority", "FieldValueForbidden", "Forbidden: no"},
         {"spec.template.spec.containers[0].ports[0].containerPort", "FieldValueInvalid", "no port"}});
  });
  Json object = With(DaemonJson(), "/nodePools", R"({"names": [""]})"_json);
  PodSpecOf(TemplateOf(object))["containers"][0]["ports"] = R"([{"containerPort": 99999}])"_json;
  EXPECT_THAT(CausesOf(Create(object)),
              ElementsAre(StartsWith("spec.nodePools.names[0]: "),
                          kTemplate + "spec.template.spec.containers[0].ports[0].containerPort: Invalid value: 99999: "
                                      "must be between 1 and 65535, inclusive",
                          kTemplate + "spec.template.spec.priority: Forbidden: no"));
}

TEST_F(ValidatingTest, UpdateOfImmutableFieldsIsRejected) {
  Json other_selector = With(DaemonJson(), "/selector/matchLabels/tier", "x");
  TemplateOf(other_selector)["metadata"]["labels"]["tier"] = "x";
  TemplateOf(other_selector)["spec"]["template"]["metadata"]["labels"]["tier"] = "x";
  EXPECT_THAT(CausesOf(Update(other_selector, DaemonJson())), ElementsAre(HasSubstr("spec.selector: Invalid value: ")));
  EXPECT_THAT(CausesOf(Update(DaemonJson("app:1", WorkloadKind::kStatefulSet), DaemonJson())),
              ElementsAre(StartsWith("spec.workloadTemplate: Forbidden: deploymentTemplate can't be replaced")));
  const Json stateful = DaemonJson("app:1", WorkloadKind::kStatefulSet);
  EXPECT_THAT(
      CausesOf(Update(With(stateful, "/workloadTemplate/statefulSetTemplate/spec/serviceName", "b"), stateful)),
      ElementsAre(StartsWith("spec.workloadTemplate.statefulSetTemplate.spec: Forbidden: updates to statefulset")));
}

TEST_F(ValidatingTest, AnotherNotationOfAClaimTemplateIsNotAChange) {
  const Json before =
      With(DaemonJson("app:1", WorkloadKind::kStatefulSet),
           "/workloadTemplate/statefulSetTemplate/spec/volumeClaimTemplates",
           R"([{"metadata": {"name": "d"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}])"_json);
  Json now = before;
  PodSpecOf(TemplateOf(now))["containers"][0]["image"] = "app:2";
  Json& storage = TemplateOf(now)["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"];
  storage = "1024Mi";
  EXPECT_TRUE(Update(now, before).allowed);
  storage = "1025Mi";
  EXPECT_FALSE(Update(now, before).allowed);
}

TEST_F(ValidatingTest, AnObjectThatNestsTooDeeplyIsRejectedUnlessTheOldObjectNestsTooDeeplyToo) {
  const Json deep = With(DaemonJson(), "/workloadTemplate/deploymentTemplate/spec/x", Deep());
  EXPECT_THAT(CausesOf(Create(deep)), ElementsAre(HasSubstr("levels deep")));
  EXPECT_THAT(CausesOf(Update(deep, DaemonJson())), ElementsAre(HasSubstr("levels deep")));
  EXPECT_TRUE(Update(With(deep, "/paused", true), deep).allowed);
  EXPECT_TRUE(Update(deep, deep).allowed);
  EXPECT_TRUE(Update(DaemonJson(), deep).allowed);
}

TEST_F(ValidatingTest, NameAndUidThatTheServerSetsLaterAreNotRequired) {
  Json object = DaemonJson();
  object["metadata"] = {{"generateName", "web-"}};
  AdmissionRequest request = CreateRequest(object);
  request.key.ns = "ns";
  EXPECT_TRUE(Validate(request).allowed);
  const auto asked = world_.TakeAsked();
  ASSERT_THAT(asked, SizeIs(1));
  EXPECT_EQ(asked[0].path, "/apis/apps/v1/namespaces/ns/deployments");
  EXPECT_THAT(StringAt(asked[0].body["metadata"]["ownerReferences"][0], {"uid"}), SizeIs(36));
}

TEST(SameSpecTest, DefaultsNullsAndOtherNotationsAreNotAChange) {
  Json full = DaemonJson();
  full["spec"]["revisionHistoryLimit"] = 10;
  Json& pod = PodSpecOf(TemplateOf(full));
  pod["containers"][0]["resources"] = R"({"limits": {"cpu": "1000m"}, "requests": {}})"_json;
  pod["containers"][0]["ports"] = R"([{"containerPort": 80, "protocol": "TCP"}])"_json;
  pod["terminationGracePeriodSeconds"] = 30;
  pod["volumes"] = R"([{"name": "tmp", "emptyDir": {}}])"_json;
  full["spec"]["nodePools"] = Json::object();
  full["spec"]["overrides"] = Json::array();
  full["spec"]["updateStrategy"] = nullptr;
  Json bare = DaemonJson();
  TemplateOf(bare)["spec"].erase("selector");
  PodSpecOf(TemplateOf(bare))["containers"][0]["resources"] = R"({"limits": {"cpu": "1"}})"_json;
  PodSpecOf(TemplateOf(bare))["containers"][0]["ports"] = R"([{"containerPort": 80}])"_json;
  PodSpecOf(TemplateOf(bare))["volumes"] = R"([{"name": "tmp"}])"_json;
  EXPECT_TRUE(SameSpec(full, bare));
  EXPECT_TRUE(SameSpec(bare, full));
}

TEST(SameSpecTest, ValuesWithAnotherMeaningAreAChange) {
  const Json object = DaemonJson();
  Json limited = object;
  limited["spec"]["revisionHistoryLimit"] = 11;
  Json named = object;
  named["spec"].erase("nodepoolSelector");  // does not select pools by label; `object` selects all pools
  Json kind = DaemonJson("app:1", WorkloadKind::kStatefulSet);
  Json both = object;
  both["spec"]["workloadTemplate"]["statefulSetTemplate"] = Json::object();
  Json image = DaemonJson("app:2");
  Json no_spec = object;
  no_spec.erase("spec");
  for (const Json& other : {limited, named, kind, both, image, no_spec}) {
    EXPECT_FALSE(SameSpec(object, other)) << other;
    EXPECT_FALSE(SameSpec(other, object)) << other;
  }
  // A null label is "".
  const Json no_value =
      With(object, "/workloadTemplate/deploymentTemplate/metadata/labels", {{"app", "web"}, {"x", nullptr}});
  EXPECT_FALSE(SameSpec(object, no_value));
  EXPECT_TRUE(SameSpec(With(no_value, "/workloadTemplate/deploymentTemplate/metadata/labels/x", ""), no_value));
  // A null in a patch removes the field.
  Json patched = object;
  patched["spec"]["overrides"] = R"([{"pools": ["a"], "patch": {"spec": {"minReadySeconds": null}}}])"_json;
  Json empty_patch = object;
  empty_patch["spec"]["overrides"] = R"([{"pools": ["a"], "patch": {"spec": {}}}])"_json;
  EXPECT_FALSE(SameSpec(patched, empty_patch));
}

TEST_F(ValidatingTest, ANewTokenThatAllowsNoRemovalIsAWarning) {
  Json before = DaemonJson();
  before["status"]["conditions"] =
      R"([{"type": "RemovalBlocked", "status": "True", "message": "… (token 0123) …"}])"_json;
  const auto warnings = [&](const std::string& token) {
    Json now = before;
    now["metadata"]["annotations"][kAllowRemovalAnnotation] = token;
    const AdmissionResponse answer = Update(now, before);
    EXPECT_TRUE(answer.allowed);
    return answer.warnings;
  };
  EXPECT_THAT(warnings("0123"), IsEmpty());
  EXPECT_THAT(warnings(""), IsEmpty());
  const auto is_warned = ElementsAre(HasSubstr("apps.openyurt.io/allow-removal]: no removal with this token"));
  EXPECT_THAT(warnings("012"), is_warned);
  Json changed = before;
  changed["metadata"]["annotations"][kAllowRemovalAnnotation] = "012";
  changed["spec"]["paused"] = true;
  EXPECT_THAT(Update(changed, before).warnings, is_warned) << "the update also changes the spec";
  before["status"]["conditions"][0]["status"] = "False";
  EXPECT_THAT(warnings("0123"), SizeIs(1));
  // The old object has the same token, so there is no warning.
  before["metadata"]["annotations"][kAllowRemovalAnnotation] = "0123";
  EXPECT_THAT(warnings("0123"), IsEmpty());
}

TEST_F(ValidatingTest, ANullThatKubectlApplyDropsIsAWarningEvenIfTheSpecIsTheSame) {
  Json before = DaemonJson();
  before["spec"]["overrides"] =
      R"([{"pools": ["*"], "patch": {"spec": {"template": {"spec": {"containers": [{"name": "main"}]}}}}}])"_json;
  Json manifest = before;
  manifest["spec"]["overrides"][0]["patch"]["spec"]["template"]["spec"]["containers"][0]["args"] = nullptr;
  Json now = before;
  now["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = manifest.dump();
  const auto is_warned = ElementsAre(HasSubstr("kubectl apply has dropped the null"));
  EXPECT_THAT(Update(now, before).warnings, is_warned);
  now["spec"]["paused"] = true;
  EXPECT_THAT(Update(now, before).warnings, is_warned) << "the update also changes the spec";
}

}  // namespace
}  // namespace yad::testing
