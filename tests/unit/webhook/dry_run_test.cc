// The dry runs that the webhook sends, and the findings from their responses.
#include "webhook/admission/dry_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/webhook/admission.h"
#include "tests/unit/webhook/dry_run_fixture.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST_F(DryRunTest, NewDaemonIsTriedWithThePostThatTheOperatorWouldSend) {
  const Json pool = PoolJson("a", {"edge"});
  Given({pool});
  EXPECT_THAT(Ask(DaemonJson()).rejections, IsEmpty());
  const auto asked = world_.TakeAsked();
  ASSERT_THAT(asked, SizeIs(1));
  EXPECT_EQ(asked[0].method + " " + asked[0].path, "POST /apis/apps/v1/namespaces/ns/deployments");
  EXPECT_EQ(asked[0].dry_run, "All");
  Json made = WorkloadJson(DaemonJson(), MakeRevision(DaemonJson()), pool);
  for (const char* key : {"uid", "resourceVersion", "generation", "creationTimestamp"}) made["metadata"].erase(key);
  made.erase("status");
  EXPECT_EQ(asked[0].body, made);
}

TEST_F(DryRunTest, ExistingWorkloadIsTriedWithAPutOfTheMergeWithoutResourceVersion) {
  const Json old = DaemonJson("app:1");
  Given({PoolJson("a")}, old);
  Json live = WorkloadJson(old, MakeRevision(old), PoolJson("a"));
  live["metadata"]["annotations"]["another-tool"] = "x";
  PodSpecOf(live)["containers"].push_back(R"({"name": "injected", "image": "sidecar"})"_json);
  world_.SetDeployments({live});
  Ask(DaemonJson("app:2"), old);
  auto asked = world_.TakeAsked();
  ASSERT_THAT(asked, SizeIs(1));
  EXPECT_EQ(asked[0].method + " " + asked[0].path,
            "PUT /apis/apps/v1/namespaces/ns/deployments/" + StringAt(live, {"metadata", "name"}));
  EXPECT_EQ(asked[0].dry_run, "All");
  EXPECT_EQ(ImageOf(asked[0].body), "app:2");
  EXPECT_EQ(asked[0].body["metadata"]["annotations"]["another-tool"], "x");
  EXPECT_THAT(PodSpecOf(asked[0].body)["containers"], SizeIs(2));
  EXPECT_FALSE(asked[0].body["metadata"].contains("resourceVersion"));
  EXPECT_EQ(asked[0].body["metadata"]["uid"], "uid-of-a");
}

TEST_F(DryRunTest, FieldsThatTheNewSpecDropsAreRemoved) {
  Json old = DaemonJson();
  PodSpecOf(TemplateOf(old))["hostNetwork"] = true;
  Given({PoolJson("a")}, old);
  Ask(DaemonJson(), old);
  auto asked = world_.TakeAsked();
  ASSERT_THAT(asked, SizeIs(1));
  EXPECT_FALSE(PodSpecOf(asked[0].body).contains("hostNetwork"));
}

// Three specs of a daemon. The second spec drops container "proxy". The third spec assigns its port to "main".
class DryRunBehindTest : public DryRunTest {
 protected:
  DryRunBehindTest() {
    PodSpecOf(TemplateOf(first_))["containers"].push_back(
        R"({"name": "proxy", "image": "proxy:1", "ports": [{"containerPort": 443, "hostPort": 443}]})"_json);
    PodSpecOf(TemplateOf(third_))["containers"][0]["ports"] = R"([{"containerPort": 443, "hostPort": 443}])"_json;
    Given({PoolJson("a")}, first_);
  }

  static Json RevisionJson(const Json& daemon) {
    const RevisionPtr revision = MakeRevision(daemon);
    return MakeControllerRevision(*ParseYurtAppDaemon(daemon), revision->content, revision->hash, 1);
  }

  Json first_ = DaemonJson("app:1"), third_ = DaemonJson("app:3");
  const Json second_ = DaemonJson("app:2");
};

TEST_F(DryRunBehindTest, WorkloadOfAnOlderRevisionLosesTheValuesThatALaterOneDropped) {
  world_.SetRevisions({RevisionJson(second_), RevisionJson(first_)});
  Ask(third_, second_);
  const auto asked = world_.TakeAsked();
  ASSERT_THAT(asked, SizeIs(1));
  const Json& containers = asked[0].body["spec"]["template"]["spec"]["containers"];
  ASSERT_THAT(containers, SizeIs(1)) << "container proxy would have the same host port";
  EXPECT_EQ(containers[0]["ports"][0]["hostPort"], 443);
}

TEST_F(DryRunBehindTest, TheOldSpecIsTriedWithTheWorkloadThatItWouldHaveWritten) {
  world_.SetRevisions({RevisionJson(first_)});
  AnswerAll(InvalidResponse({kImageFault}));
  EXPECT_THAT(Ask(third_, second_).rejections, IsEmpty());
  const auto asked = world_.TakeAsked();
  ASSERT_THAT(asked, SizeIs(2));
  EXPECT_EQ(ImageOf(asked[1].body), "app:2");
  EXPECT_THAT(asked[1].body["spec"]["template"]["spec"]["containers"], SizeIs(1));
}

TEST_F(DryRunBehindTest, RejectionOfAWorkloadOfAnUnknownRevisionIsAWarning) {
  Json deleted = RevisionJson(first_);
  deleted["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  const auto rejects_two = [](const Asked& asked) -> Result<HttpResponse> {
    const bool both =
        asked.body["spec"]["template"]["spec"]["containers"].size() == 2 && ImageOf(asked.body) == "app:3";
    return both ? InvalidResponse({kImageFault}) : JsonResponse(asked.body, 200);
  };
  world_.OnAsk(rejects_two);
  for (const std::vector<Json>& known : {std::vector<Json>{}, std::vector<Json>{deleted}}) {
    world_.SetRevisions(known);
    const Findings findings = Ask(third_, second_);
    EXPECT_THAT(findings.rejections, IsEmpty());
    EXPECT_THAT(findings.warnings, ElementsAre(kTemplate + kImageFault.field + ": " + kImageFault.message));
  }
  // The error of an override does not depend on the live workload.
  third_["spec"]["overrides"] = R"([{"pools": ["a"], "jsonPatches": [{"op": "remove", "path": "/spec/x"}]}])"_json;
  EXPECT_THAT(Ask(third_, second_).rejections, SizeIs(1));
}

TEST_F(DryRunTest, PoolsWithEqualRenderingsAreTriedOnceWithAnExistingWorkload) {
  const Json old = DaemonJson();
  Given({PoolJson("a"), PoolJson("b"), PoolJson("c", {"t"}), PoolJson("d", {"t"})}, nullptr);
  world_.SetDeployments({WorkloadJson(old, MakeRevision(old), PoolJson("b"))});
  Ask(DaemonJson("app:2"), old);
  EXPECT_THAT(AskedPools(), UnorderedElementsAre("PUT b", "POST c"));
}

TEST_F(DryRunTest, UnchangedRenderingsAreTriedTooAndCached) {
  Json old = DaemonJson();
  old["spec"]["overrides"] = R"([{"pools": ["a"], "replicas": 2}, {"pools": ["b"], "replicas": 3}])"_json;
  Given({PoolJson("a"), PoolJson("b"), PoolJson("c")}, old);
  Json now = old;
  now["spec"]["overrides"][1]["replicas"] = 4;
  Ask(now, old);
  EXPECT_THAT(AskedPools(), UnorderedElementsAre("PUT a", "PUT b", "PUT c"));
  now["spec"]["overrides"][1]["replicas"] = 5;
  Ask(now, old);
  EXPECT_THAT(AskedPools(), ElementsAre("PUT b"));
  // Overrides with other patterns for the same pools, or a pause, do not change the rendered workload.
  now["spec"]["overrides"] = R"([{"pools": ["b"], "replicas": 5}, {"pools": ["-b", "-c"], "replicas": 2}])"_json;
  now["spec"]["paused"] = true;
  Ask(now, old);
  EXPECT_THAT(AskedPools(), IsEmpty());
}

TEST_F(DryRunTest, AnErrorOfTheTemplateThatAnUpdateDoesNotFixIsAWarning) {
  const Json old = DaemonJson();
  Given({PoolJson("a")}, old);
  world_.OnAsk([](const Asked&) -> Result<HttpResponse> {
    return InvalidResponse({{"spec.template.spec.priority", "FieldValueForbidden", "Forbidden: no"}});
  });
  Json now = old;
  now["spec"]["paused"] = true;
  const Findings findings = Ask(now, old);
  EXPECT_THAT(findings.rejections, IsEmpty());
  EXPECT_THAT(findings.warnings,
              ElementsAre("spec.workloadTemplate.deploymentTemplate.spec.template.spec.priority: Forbidden: no"));
}

TEST_F(DryRunTest, AtMostSixteenRenderingsAreTriedAndThoseWithOverridesFirst) {
  Json object = DaemonJson();
  std::vector<Json> pools;
  for (int i = 0; i < 40; ++i) {
    const std::string name = "p" + std::to_string(100 + i);
    pools.push_back(PoolJson(name, {"t" + std::to_string(i)}));
    if (i >= 30) object["spec"]["overrides"].push_back({{"pools", {name}}, {"replicas", i}});
  }
  Given(pools);
  Ask(object);
  const auto asked = AskedPools();
  EXPECT_THAT(asked, SizeIs(16));
  for (int i = 30; i < 40; ++i) EXPECT_THAT(asked, ::testing::Contains("POST p" + std::to_string(100 + i)));
}

TEST_F(DryRunTest, TemplateIsTriedEvenWithoutPools) {
  Given({});
  AnswerAll(InvalidResponse({kImageFault}));
  EXPECT_THAT(Texts(Ask(DaemonJson()).rejections),
              ElementsAre(kTemplate + kImageFault.field + ": " + kImageFault.message));
  AdmissionWorld empty;  // none of its caches is synced
  DryRun dry_run(empty.client, empty.stores(), empty.clock, text_);
  Deadline deadline(empty.clock, empty.clock.Now() + std::chrono::seconds(5));
  dry_run.Try(*ParseYurtAppDaemon(DaemonJson()), nullptr, deadline);
  EXPECT_THAT(empty.TakeAsked(), SizeIs(1));
}

TEST_F(DryRunTest, EachRejectedFieldIsReportedOnceWithItsPathInTheDaemon) {
  Given({PoolJson("a"), PoolJson("b", {"t"})});
  AnswerAll(InvalidResponse({kImageFault,
                             {"metadata.labels", "FieldValueInvalid", "Invalid value: \"x\": no"},
                             {"spec.selector.matchLabels", "FieldValueInvalid", "Invalid value: \"y\": no"},
                             {"", "", "policy says no"}}));
  EXPECT_THAT(Texts(Ask(DaemonJson()).rejections),
              ElementsAre(kTemplate + kImageFault.field + ": " + kImageFault.message,
                          kTemplate + "metadata.labels: Invalid value: \"x\": no",
                          "spec.selector.matchLabels: Invalid value: \"y\": no",
                          "spec.workloadTemplate.deploymentTemplate: policy says no"));
}

TEST_F(DryRunTest, RejectionWithoutCausesIsReportedWithItsMessage) {
  Given({PoolJson("a")});
  AnswerAll(StatusResponse(
      422, "Invalid", "deployments.apps \"web-a-x7k2p\" is forbidden: ValidatingAdmissionPolicy 'p' denied request"));
  EXPECT_THAT(Texts(Ask(DaemonJson()).rejections),
              ElementsAre("spec.workloadTemplate.deploymentTemplate: ValidatingAdmissionPolicy 'p' denied request"));
}

TEST_F(DryRunTest, AWorkloadThatCannotBeDecodedIsRejectedAtTheFieldThatTheServerNames) {
  Given({PoolJson("a")});
  const auto rejected = [&](const std::string& why) {
    AnswerAll(
        StatusResponse(400, "BadRequest", "Deployment in version \"v1\" cannot be handled as a Deployment: " + why));
    return Texts(Ask(DaemonJson()).rejections);
  };
  const auto unmarshal = [&](const std::string& what, const std::string& field, const std::string& type) {
    return rejected("json: cannot unmarshal " + what + " into Go struct field " + field + " of type " + type);
  };
  EXPECT_THAT(
      unmarshal("string", "PodSpec.spec.template.spec.hostNetwork", "bool"),
      ElementsAre(kTemplate + "spec.template.spec.hostNetwork: Invalid value: \"string\": must be true or false"));
  EXPECT_THAT(unmarshal("number 1.5", "PodSpec.spec.x", "int64"),
              ElementsAre(kTemplate + "spec.x: Invalid value: \"number 1.5\": must be an integer"));
  EXPECT_THAT(unmarshal("object", "PodSpec.spec.containers", "[]v1.Container"),
              ElementsAre(EndsWith("must be a list")));
  EXPECT_THAT(unmarshal("array", "PodTemplateSpec.spec", "v1.PodSpec"), ElementsAre(EndsWith("must be an object")));
  EXPECT_THAT(rejected("quantities must match the regular expression"),
              ElementsAre("spec.workloadTemplate.deploymentTemplate: Invalid value: quantities must match the regular "
                          "expression"));
}

TEST_F(DryRunTest, ErrorOfOverridesIsReportedWithItsPoolAndEntries) {
  Json object = DaemonJson();
  object["spec"]["overrides"] = R"([{"pools": ["a"], "replicas": 2}, {"pools": ["a", "b"], "replicas": 3}])"_json;
  Given({PoolJson("a"), PoolJson("b"), PoolJson("c")});
  world_.OnAsk([&](const Asked& asked) -> Result<HttpResponse> {
    return asked.pool() == "c" ? JsonResponse(asked.body, 201) : InvalidResponse({kImageFault});
  });
  EXPECT_THAT(Texts(Ask(object).rejections),
              ElementsAre(EndsWith(kImageFault.message + " (in NodePool a by spec.overrides[0], [1] and 1 more)")));
  world_.clock.Advance(std::chrono::minutes(10));  // wait until the cached acceptance of c expires
  AnswerAll(InvalidResponse({kImageFault}));       // c, without overrides, also has the error
  EXPECT_THAT(Texts(Ask(object).rejections), ElementsAre(EndsWith(kImageFault.message)));
  // If no pools exist, the message contains only the override.
  object["spec"]["overrides"] = R"([{"pools": ["*"], "replicas": 2}])"_json;
  Given({});
  EXPECT_THAT(Texts(Ask(object).rejections), ElementsAre(EndsWith(kImageFault.message + " (in spec.overrides[0])")));
}

TEST_F(DryRunTest, OverrideThatDoesNotApplyIsRejectedWithoutADryRun) {
  Json object = DaemonJson();
  object["spec"]["overrides"] =
      R"([{"pools": ["b"], "jsonPatches": [{"op": "remove", "path": "/spec/nothing"}]}])"_json;
  Given({PoolJson("a"), PoolJson("b")});
  EXPECT_THAT(Texts(Ask(object).rejections),
              ElementsAre("spec.overrides[0].jsonPatches[0]: Invalid value: "
                          "{\"op\":\"remove\",\"path\":\"/spec/nothing\"}: does not apply: key 'nothing' not found"));
  EXPECT_THAT(AskedPools(), ElementsAre("POST a"));
}

TEST_F(DryRunTest, AnErrorThatTheOldSpecAlreadyHadIsAWarning) {
  const Json old = DaemonJson("a b");
  Given({PoolJson("a")});
  world_.OnAsk([](const Asked& asked) -> Result<HttpResponse> {
    std::vector<Cause> causes;
    const Json& containers = asked.body["spec"]["template"]["spec"]["containers"];
    for (std::size_t i = 0; i < containers.size(); ++i) {
      if (containers[i]["image"] == "a b")
        causes.push_back({"spec.template.spec.containers[" + std::to_string(i) + "].image", kImageFault.reason,
                          kImageFault.message});
      if (containers[i]["image"] == "!") causes.push_back({"spec.x", "FieldValueInvalid", "new"});
    }
    return causes.empty() ? JsonResponse(asked.body, 201) : InvalidResponse(causes);
  });
  Json now = old;
  Json& containers = PodSpecOf(TemplateOf(now))["containers"];
  containers.insert(containers.begin(), R"({"name": "first", "image": "fine"})"_json);
  Findings findings = Ask(now, old);
  EXPECT_THAT(findings.rejections, IsEmpty());
  EXPECT_THAT(findings.warnings,
              ElementsAre(kTemplate + "spec.template.spec.containers[1].image: " + kImageFault.message));
  containers[0]["image"] = "!";
  findings = Ask(now, old);
  EXPECT_THAT(Texts(findings.rejections), ElementsAre(kTemplate + "spec.x: new"));
  EXPECT_THAT(findings.warnings, SizeIs(1));
}

TEST_F(DryRunTest, AnErrorIsAWarningIfTheDryRunOfTheOldSpecFails) {
  const Json old = DaemonJson("a b");
  Given({PoolJson("a")}, old);
  Json now = old;
  now["spec"]["paused"] = true;
  const auto ask = [&](const Result<HttpResponse>& second) {
    int asked = 0;
    world_.OnAsk([&](const Asked&) -> Result<HttpResponse> {
      return ++asked == 1 ? Result<HttpResponse>(InvalidResponse({kImageFault})) : second;
    });
    return Ask(now, old);
  };
  for (const Result<HttpResponse>& second :
       {Result<HttpResponse>(StatusResponse(429, "TooManyRequests", "slow down")),
        Result<HttpResponse>(StatusResponse(500, "InternalError", "failed calling webhook")),
        Result<HttpResponse>(StatusResponse(400, "BadRequest", "admission webhook \"policy\" denied the request: no")),
        Result<HttpResponse>(StatusResponse(403, "Forbidden", "admission webhook \"policy\" denied the request: no")),
        Result<HttpResponse>(Fail(Reason::kTransport, "timed out"))}) {
    const Findings findings = ask(second);
    EXPECT_THAT(findings.rejections, IsEmpty());
    EXPECT_THAT(findings.warnings, ElementsAre(kTemplate + kImageFault.field + ": " + kImageFault.message));
  }
  EXPECT_THAT(
      ask(StatusResponse(403, "Forbidden", "deployments.apps \"web\" is forbidden: exceeded quota: q")).rejections,
      SizeIs(1))
      << "a quota is checked after the fields";
  now["spec"]["overrides"] = R"([{"pools": ["a"], "jsonPatches": [{"op": "remove", "path": "/spec/x"}]}])"_json;
  EXPECT_THAT(ask(Fail(Reason::kTransport, "timed out")).rejections, SizeIs(1)) << "the old spec has no overrides";
}

TEST_F(DryRunTest, ForbiddenRequestIsAWarning) {
  Given({PoolJson("a"), PoolJson("b", {"t"})});
  world_.OnAsk([](const Asked& asked) -> Result<HttpResponse> {
    return StatusResponse(403, "Forbidden",
                          "deployments.apps \"web-" + asked.pool() + "-x7k2p\" is forbidden: exceeded quota: q");
  });
  const Findings findings = Ask(DaemonJson());
  EXPECT_THAT(findings.rejections, IsEmpty());
  EXPECT_THAT(
      findings.warnings,
      ElementsAre(
          "spec.workloadTemplate.deploymentTemplate: the cluster forbids this workload now: exceeded quota: q"));
}

// If a webhook does not choose a code for its denial, the code is 400.
TEST_F(DryRunTest, DenialOfAWebhookIsAWarning) {
  Given({PoolJson("a")});
  for (const int code : {400, 409, 500}) {
    AnswerAll(StatusResponse(code, "BadRequest", "admission webhook \"policy\" denied the request: no :latest"));
    const Findings findings = Ask(DaemonJson());
    EXPECT_THAT(findings.rejections, IsEmpty());
    EXPECT_THAT(findings.warnings,
                ElementsAre("spec.workloadTemplate.deploymentTemplate: the cluster forbids this workload now: "
                            "admission webhook \"policy\" denied the request: no :latest"));
  }
}

TEST_F(DryRunTest, EachWarningHeaderIsReportedOnceWithItsPathInTheDaemon) {
  Given({PoolJson("a"), PoolJson("b", {"t"})});
  world_.OnAsk([](const Asked& asked) -> Result<HttpResponse> {
    HttpResponse response = JsonResponse(asked.body, 201);
    response.headers["warning"] =
        R"(299 - "would violate PodSecurity \"restricted:latest\": x", 299 - "unknown field \"spec.template.spec.typo\"", )"
        R"(299 - "spec.template.spec.containers[0].ports[1]: duplicate port", 299 - "metadata.name: used in host names")";
    return response;
  });
  const auto expected =
      ElementsAre("spec.workloadTemplate.deploymentTemplate: would violate PodSecurity \"restricted:latest\": x",
                  kTemplate + "spec.template.spec.typo: unknown field: this version of Kubernetes drops it",
                  kTemplate + "spec.template.spec.containers[0].ports[1]: duplicate port");
  EXPECT_THAT(Ask(DaemonJson()).warnings, expected);
  world_.TakeAsked();
  EXPECT_THAT(Ask(DaemonJson()).warnings, expected) << "a cached acceptance keeps its warnings";
  EXPECT_THAT(AskedPools(), IsEmpty());
}

TEST_F(DryRunTest, OtherErrorsOfTheServerAreIgnoredAndNotCached) {
  Given({PoolJson("a")});
  for (const int code : {301, 400, 401, 404, 409, 413, 429, 500, 503, 504}) {
    AnswerAll(StatusResponse(code, "Whatever", "no idea"));
    const Findings findings = Ask(DaemonJson());
    EXPECT_THAT(findings.rejections, IsEmpty()) << code;
    EXPECT_THAT(findings.warnings, IsEmpty()) << code;
    EXPECT_THAT(AskedPools(), SizeIs(1)) << code << ": not cached";
  }
  world_.OnAsk([](const Asked&) -> Result<HttpResponse> { return Fail(Reason::kTransport, "connection refused"); });
  EXPECT_THAT(Ask(DaemonJson()).rejections, IsEmpty());
}

}  // namespace
}  // namespace yad::testing
