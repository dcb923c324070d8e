#include "webhook/admission/warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/webhook/admission.h"

namespace yad::testing {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

class WarningsTest : public ::testing::Test {
 protected:
  WarningsTest() {
    world_.SetPoolNames({"a", "b"});
    world_.SetDaemons({});
  }

  std::vector<std::string> Warn(const Json& object, const Json& before = nullptr) {
    const auto old = ParseYurtAppDaemon(before);
    const auto daemon = ParseYurtAppDaemon(object);
    if (!daemon) throw std::runtime_error(daemon.error().message);
    std::vector<std::string> warnings = WarningsFor(*daemon, old ? &*old : nullptr, world_.stores());
    Deadline deadline(world_.clock, world_.clock.Now() + std::chrono::seconds(5));
    const std::string service = ServiceWarning(*daemon, world_.client, deadline);
    if (!service.empty()) warnings.push_back(service);
    for (const std::string& warning : warnings) EXPECT_LE(warning.size(), 256U) << warning;
    return warnings;
  }

  AdmissionWorld world_;
};

TEST_F(WarningsTest, OrdinaryDaemonHasNoWarnings) {
  EXPECT_THAT(Warn(DaemonJson()), IsEmpty());
  EXPECT_THAT(world_.TakeAsked(), IsEmpty());
}

TEST_F(WarningsTest, ShortSoakOfARollingUpdateIsAWarning) {
  Json object = DaemonJson();
  object["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}};
  const auto warned = ElementsAre(StartsWith("spec.updateStrategy.rollingUpdate.minReadySeconds: is below 60"));
  EXPECT_THAT(Warn(object), warned);
  const Json before = object;
  object["spec"]["updateStrategy"]["rollingUpdate"] = {{"minReadySeconds", 59}};
  EXPECT_THAT(Warn(object), warned);
  EXPECT_THAT(Warn(object, before), warned);
  EXPECT_THAT(Warn(object, object), IsEmpty()) << "each later apply would repeat it";
  object["spec"]["updateStrategy"]["rollingUpdate"] = {{"minReadySeconds", 60}};
  EXPECT_THAT(Warn(object), IsEmpty());
  object["spec"]["updateStrategy"] = {{"type", "OnDelete"}};
  EXPECT_THAT(Warn(object), IsEmpty());
}

TEST_F(WarningsTest, SelectorThatMatchesNoPoolIsAWarning) {
  Json object = DaemonJson();
  object["spec"]["nodepoolSelector"] = R"({"matchLabels": {"region": "east"}})"_json;
  EXPECT_THAT(Warn(object), ElementsAre(StartsWith("spec.nodepoolSelector: matches no NodePool now")));
  object["spec"]["nodepoolSelector"] = Json::object();
  object["spec"]["nodePools"] = {{"type", "Cloud"}};
  EXPECT_THAT(Warn(object),
              ElementsAre("spec.nodePools.type: none of the NodePools (2) that spec.nodepoolSelector matches "
                          "now is of type Cloud"));
  world_.SetPools({});
  EXPECT_THAT(Warn(DaemonJson()), ElementsAre(StartsWith("spec.nodepoolSelector: there is no NodePool yet")));
}

TEST_F(WarningsTest, UnsyncedCachesCauseNoWarnings) {
  AdmissionWorld empty;
  const YurtAppDaemon daemon = *ParseYurtAppDaemon(DaemonJson());
  EXPECT_THAT(WarningsFor(daemon, nullptr, empty.stores()), IsEmpty());
}

TEST_F(WarningsTest, UnknownPoolsAreReportedWithTheFieldThatNamesThem) {
  Json object = DaemonJson();
  object["spec"]["nodePools"] = R"({"names": ["a", "nowhere"]})"_json;
  object["spec"]["overrides"] = R"([{"pools": ["a", "-b", "*"], "replicas": 1},
                                    {"pools": ["w", "x", "a", "-y", "z"], "replicas": 2},
                                    {"nodepoolSelector": {"matchLabels": {"no": "one"}}, "replicas": 3}])"_json;
  EXPECT_THAT(Warn(object),
              ElementsAre("spec.nodePools.names: no NodePool is named \"nowhere\"; the YurtAppDaemon selects a "
                          "NodePool of that name as soon as it exists",
                          "spec.overrides[1].pools: no NodePool is named \"w\", \"x\", \"y\" and 1 more; the entry "
                          "applies to missing pools when they are created"));
}

TEST_F(WarningsTest, WildcardsAndExclusionsAreInvalidNamesOutsideOfOverrides) {
  Json object = DaemonJson();
  object["spec"].erase("nodepoolSelector");
  object["spec"]["nodePools"] = R"({"names": ["*", "-b"]})"_json;
  EXPECT_THAT(Warn(object), ElementsAre("spec.nodePools.names: no NodePool can have the name \"*\", \"-b\""));
}

TEST_F(WarningsTest, WarningsOfOneKindBeyondTheLimitAreCounted) {
  Json object = DaemonJson();
  for (int i = 0; i < 100; ++i) {
    object["spec"]["overrides"].push_back({{"pools", {"p" + std::to_string(i)}}, {"replicas", 1}});
  }
  const auto warnings = Warn(object);
  ASSERT_THAT(warnings, SizeIs(4));
  EXPECT_THAT(warnings.back(), HasSubstr("(and 96 more like this)"));
}

TEST_F(WarningsTest, DaemonsOverlapIfOneSelectsTheOthersPodsInACommonPool) {
  const auto other = [](const std::string& selector, const std::string& labels) {
    Json object = DaemonJson();
    object["metadata"]["name"] = "other";
    object["metadata"]["uid"] = "uid-other";
    object["spec"]["selector"] = {{"matchLabels", Json::parse(selector)}};
    TemplateOf(object)["metadata"]["labels"] = Json::parse(labels);
    TemplateOf(object)["spec"]["template"]["metadata"]["labels"] = Json::parse(labels);
    return object;
  };
  const auto overlaps = ElementsAre(
      "spec.selector: overlaps with the selector of YurtAppDaemon \"other\", which selects NodePool "
      "\"a\" too: give the selector and the pod template of each YurtAppDaemon a label that the other does not have");
  Json wider = other(R"({"tier": "x"})", R"({"tier": "x", "app": "web"})");  // this daemon's selector matches its pods
  wider["spec"]["nodepoolSelector"] = nullptr;
  wider["spec"]["nodePools"] = {{"names", {"a"}}};
  world_.SetDaemons({DaemonJson(), wider});
  EXPECT_THAT(Warn(DaemonJson()), overlaps);

  Json narrow = DaemonJson();  // its selector matches this daemon's pods
  TemplateOf(narrow)["spec"]["template"]["metadata"]["labels"]["tier"] = "x";
  world_.SetDaemons({[&] {
    Json object = other(R"({"tier": "x"})", R"({"tier": "x"})");
    object["spec"]["nodePools"] = {{"exclude", {"b"}}};
    return object;
  }()});
  EXPECT_THAT(Warn(DaemonJson()), IsEmpty());
  EXPECT_THAT(Warn(narrow), overlaps);

  // The pools that the daemons select do not exist yet.
  world_.SetPools({});
  Json waiting = DaemonJson();
  waiting["metadata"]["name"] = "waiting";
  world_.SetDaemons({waiting});
  EXPECT_THAT(Warn(DaemonJson()),
              Contains(StartsWith("spec.selector: overlaps with the selector of YurtAppDaemon \"waiting\", "
                                  "which selects the same pools")));
  world_.SetPoolNames({"a", "b"});

  Json elsewhere = wider;
  elsewhere["metadata"]["namespace"] = "another";
  Json leaving = wider;
  leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  Json other_pool = wider;
  other_pool["spec"]["nodePools"] = {{"names", {"gone"}}};
  Json invalid = wider;
  invalid["spec"]["selector"] = nullptr;
  for (const Json& one : {elsewhere, leaving, other_pool, invalid}) {
    world_.SetDaemons({one});
    EXPECT_THAT(Warn(DaemonJson()), IsEmpty()) << one;
  }
}

TEST_F(WarningsTest, TagLatestWithPullPolicyIfNotPresentIsAWarning) {
  struct Case {
    std::string image, policy;
    bool warned;
  };
  for (const Case& one :
       {Case{"nginx", "IfNotPresent", true}, Case{"nginx:latest", "IfNotPresent", true},
        Case{"host:5000/nginx", "IfNotPresent", true}, Case{"host:5000/nginx:1", "IfNotPresent", false},
        Case{"nginx:1.25", "IfNotPresent", false}, Case{"nginx:latest", "Always", false},
        Case{"nginx:latest", "", false}, Case{"nginx@sha256:abc", "IfNotPresent", false}}) {
    Json object = DaemonJson(one.image);
    Json& container = PodSpecOf(TemplateOf(object))["containers"][0];
    if (!one.policy.empty()) container["imagePullPolicy"] = one.policy;
    const auto warnings = Warn(object);
    EXPECT_EQ(!warnings.empty(), one.warned) << one.image << " " << one.policy;
    if (one.warned) {
      EXPECT_THAT(warnings, ElementsAre(StartsWith("spec.workloadTemplate.deploymentTemplate.spec.template.spec."
                                                   "containers[0].image: \"" +
                                                   one.image + "\" may be a different image on each node")));
    }
  }
}

TEST_F(WarningsTest, AnOverridesImageIsCheckedWithItsContainersPullPolicy) {
  Json object = DaemonJson("app:1");
  object["spec"]["overrides"] = R"([{"pools": ["a"], "images": [{"name": "main", "image": "app:latest"}]}])"_json;
  EXPECT_THAT(Warn(object), IsEmpty());
  PodSpecOf(TemplateOf(object))["containers"][0]["imagePullPolicy"] = "IfNotPresent";
  EXPECT_THAT(Warn(object), ElementsAre(StartsWith("spec.overrides[0].images[0].image: \"app:latest\"")));
}

TEST_F(WarningsTest, PatchWithANullIsOneWarning) {
  Json object = DaemonJson();
  object["spec"]["overrides"] = R"([
    {"pools": ["a"], "replicas": 2},
    {"pools": ["a"], "jsonPatches": [{"op": "add", "path": "/spec/x", "value": null}]},
    {"pools": ["a"], "patch": {"spec": {"template": {"spec": {"containers": [{"name": "main", "args": null}]}}}}},
    {"pools": ["b"], "patch": {"spec": {"minReadySeconds": null}}}])"_json;
  const auto warned = ElementsAre(
      "spec.overrides[2].patch.spec.template.spec.containers[0].args: null removes the field, but kubectl apply, Helm "
      "and Argo CD drop the null, at the latest when they change overrides; use jsonPatches with op remove");
  EXPECT_THAT(Warn(object), warned);
  const Json before = object;
  object["spec"]["paused"] = true;
  EXPECT_THAT(Warn(object, before), IsEmpty()) << "each later apply would repeat it";
  object["spec"]["overrides"][3]["replicas"] = 3;
  EXPECT_THAT(Warn(object, before), warned);
}

TEST_F(WarningsTest, NullThatKubectlApplyDropsIsAWarning) {
  const auto with_annotation = [](Json object, const Json& manifest) {
    object["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = manifest.dump();
    return object;
  };
  Json manifest = DaemonJson();
  manifest["spec"]["overrides"] = R"([
    {"pools": ["b"], "replicas": 2},
    {"pools": ["a"], "patch": {"spec": {"template": {"spec": {"containers": [{"name": "main", "args": null}]}}}}}])"_json;
  Json object = manifest;
  object["spec"]["overrides"][1]["patch"]["spec"]["template"]["spec"]["containers"][0].erase("args");
  const Json applied = with_annotation(object, manifest);
  EXPECT_EQ(DroppedNullWarning(applied, nullptr),
            "spec.overrides[1].patch.spec.template.spec.containers[0].args: kubectl apply has dropped the null of the "
            "manifest, so the field is not removed; use jsonPatches with op remove");
  EXPECT_NE(DroppedNullWarning(applied, object), "");
  EXPECT_EQ(DroppedNullWarning(applied, applied), "") << "each later change would repeat it";
  EXPECT_EQ(DroppedNullWarning(with_annotation(manifest, manifest), nullptr), "") << "the object has the null";
  EXPECT_EQ(DroppedNullWarning(with_annotation(object, object), nullptr), "");
  EXPECT_EQ(DroppedNullWarning(object, nullptr), "");
  object["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = "{";
  EXPECT_EQ(DroppedNullWarning(object, nullptr), "");
}

TEST_F(WarningsTest, OverrideThatChangesNothingIsAWarning) {
  Json object = DaemonJson();
  object["spec"]["overrides"] = R"([
    {"pools": ["a"], "replicas": 0},
    {"pools": ["a"]},
    {"pools": ["b"], "images": [], "patch": {}, "jsonPatches": null}])"_json;
  const std::string changes_nothing =
      ": changes nothing: add replicas, images, patch or jsonPatches, or remove the entry";
  const auto warned = ElementsAre("spec.overrides[1]" + changes_nothing, "spec.overrides[2]" + changes_nothing);
  EXPECT_THAT(Warn(object), warned);
  EXPECT_THAT(Warn(object, object), IsEmpty()) << "each later apply would repeat it";
}

TEST_F(WarningsTest, FieldsThatTheOperatorSetsAreWarnings) {
  Json object = DaemonJson();
  const auto with = [&](const char* patch) {
    object["spec"]["overrides"] = {{{"pools", {"a"}}, {"patch", Json::parse(patch)}}};
    return Warn(object);
  };
  const std::string path = "spec.overrides[0].patch.";
  const std::string no_effect = ": has no effect, because the operator sets this field";
  EXPECT_THAT(with(R"({"kind": "StatefulSet", "metadata": {"name": "x", "namespace": "y"}})"),
              ElementsAre(path + "kind" + no_effect, path + "metadata.name" + no_effect,
                          path + "metadata.namespace" + no_effect));
  EXPECT_THAT(with(R"({"metadata": {"labels": {"apps.openyurt.io/pool-name": "x"}},
                       "spec": {"template": {"metadata": {"labels": {"apps.openyurt.io/pool-name": "x"}},
                                             "spec": {"nodeSelector": {"apps.openyurt.io/nodepool": "x"}}}}})"),
              ElementsAre(path + "metadata.labels[apps.openyurt.io/pool-name]" + no_effect,
                          path + "spec.template.metadata.labels[apps.openyurt.io/pool-name]" + no_effect,
                          path + "spec.template.spec.nodeSelector[apps.openyurt.io/nodepool]" + no_effect));
  EXPECT_THAT(Warn(object, object), IsEmpty()) << "each later apply would repeat it";
  EXPECT_THAT(with(R"({"kind": "Deployment", "metadata": {"labels": {"a": "b"}}})"), IsEmpty());

  object = DaemonJson();
  PodSpecOf(TemplateOf(object))["nodeSelector"] = {{"apps.openyurt.io/nodepool", "a"}};
  EXPECT_THAT(Warn(object), ElementsAre("spec.workloadTemplate.deploymentTemplate.spec.template.spec.nodeSelector"
                                        "[apps.openyurt.io/nodepool]: has no effect, because the operator sets this "
                                        "label; choose pools by nodepoolSelector or nodePools"));
  EXPECT_THAT(Warn(object, object), IsEmpty());
}

TEST_F(WarningsTest, PatchWithADuplicateKeyIsAWarning) {
  Json object = DaemonJson();
  const auto with = [&](const char* patch) {
    object["spec"]["overrides"] = {{{"pools", {"a"}}, {"patch", Json::parse(patch)}}};
    return Warn(object);
  };
  EXPECT_THAT(with(R"({"spec": {"template": {"spec": {"containers": [
                       {"name": "main", "env": [{"name": "Q", "value": "1"}, {"name": "Q", "value": "2"}]}]}}}})"),
              ElementsAre("spec.overrides[0].patch.spec.template.spec.containers[0].env[1]: has the same key as an "
                          "earlier item, so the patch replaces the whole list of the template; use each key once"));
  EXPECT_THAT(with(R"({"spec": {"template": {"spec": {"initContainers": [
                       {"name": "x", "ports": [{"containerPort": 53}, {"containerPort": 53, "protocol": "TCP"}]}]}}}})"),
              ElementsAre(StartsWith("spec.overrides[0].patch.spec.template.spec.initContainers[0].ports[1]: ")));
  EXPECT_THAT(with(R"({"spec": {"template": {"spec": {"containers": [
                       {"name": "main", "args": ["x", "x"], "env": [{"name": "Q"}, {"name": "R"}],
                        "ports": [{"containerPort": 53}, {"containerPort": 53, "protocol": "UDP"}]}]}}}})"),
              IsEmpty());
}

TEST_F(WarningsTest, StatefulSetWithoutAHeadlessServiceIsAWarning) {
  const Json object = DaemonJson("app:1", WorkloadKind::kStatefulSet);
  EXPECT_THAT(Warn(object),
              ElementsAre(StartsWith("spec.workloadTemplate.statefulSetTemplate.spec.serviceName: there is "
                                     "no Service \"web\"")));
  const auto asked = world_.TakeAsked();
  ASSERT_THAT(asked, SizeIs(1));
  EXPECT_EQ(asked[0].method + asked[0].path, "GET/api/v1/namespaces/ns/services/web");

  const auto with = [&](const HttpResponse& response) {
    world_.OnAsk([response](const Asked&) { return response; });
    return Warn(object);
  };
  EXPECT_THAT(with(JsonResponse({{"spec", {{"clusterIP", "None"}}}})), IsEmpty());
  EXPECT_THAT(with(JsonResponse({{"spec", {{"clusterIP", "10.0.0.7"}}}})), ElementsAre(HasSubstr("is not headless")));
  EXPECT_THAT(with(StatusResponse(403, "Forbidden", "no")), IsEmpty()) << "the operator may not read it";

  Json unnamed = object;
  TemplateOf(unnamed)["spec"].erase("serviceName");
  world_.TakeAsked();
  EXPECT_THAT(Warn(unnamed), ElementsAre(HasSubstr("spec.serviceName: is empty")));
  EXPECT_THAT(world_.TakeAsked(), IsEmpty());
}

}  // namespace
}  // namespace yad::testing
