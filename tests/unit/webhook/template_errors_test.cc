#include "webhook/admission/template_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/yurtappdaemon/builders.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::string kPod = "spec.workloadTemplate.deploymentTemplate.spec.template.spec.";

std::vector<std::string> Faults(const Json& object) {
  std::vector<std::string> texts;
  for (const FieldError& fault : TemplateErrors(object)) texts.push_back(fault.ToString());
  return texts;
}

// Returns a daemon with one container, which also has these members.
Json WithContainer(const std::string& members) {
  Json object = DaemonJson();
  PodSpecOf(TemplateOf(object))["containers"][0].update(Json::parse(members));
  return object;
}

TEST(TemplateErrorsTest, ValidTemplatesHaveNoErrors) {
  EXPECT_THAT(Faults(DaemonJson()), IsEmpty());
  EXPECT_THAT(Faults(WithContainer(R"({
      "command": ["sh"], "args": ["--port", "80", null], "env": [{"name": "A", "value": "1"}, {"name": "B"}, {"name": "C",
      "value": null}], "ports": [{"containerPort": 80, "hostPort": 8080, "protocol": "TCP"}],
      "resources": {"limits": {"cpu": "500m", "memory": "1Gi", "x/y": 2, "z": 0.5}, "requests": {"cpu": "1e3", "memory": null}}})")),
              IsEmpty());
}

TEST(TemplateErrorsTest, OnlySomeOfManyErrorsAreKept) {
  const std::string many = Json(5000, 1).dump();
  for (const std::string member : {"args", "command", "env", "ports"}) {
    Json object = WithContainer("{\"" + member + "\": " + many + "}");
    if (member == "env") PodSpecOf(TemplateOf(object))["containers"][0][member] = Json(5000, {{"value", 1}});
    if (member == "ports") PodSpecOf(TemplateOf(object))["containers"][0][member] = Json(5000, {{"hostPort", -1}});
    EXPECT_EQ(TemplateErrors(object).size(), FieldErrors::kMost) << member;
  }
}

TEST(TemplateErrorsTest, ScalarsOfWrongTypesOrRangesAreFoundAtTheirPaths) {
  EXPECT_THAT(Faults(WithContainer(R"({"command": [1], "args": ["a", true], "env": [{"name": "A", "value": "x"},
                              {"name": "B", "value": 8080}, {"name": "C", "value": {}}]})")),
              ElementsAre(kPod + "containers[0].command[0]: Invalid value: 1: must be a string: put it in quotes",
                          kPod + "containers[0].args[1]: Invalid value: true: must be a string: put it in quotes",
                          kPod + "containers[0].env[1].value: Invalid value: 8080: must be a string: put it in quotes",
                          kPod + "containers[0].env[2].value: Invalid value: {}: must be a string"));
  EXPECT_THAT(
      Faults(WithContainer(
          R"({"ports": [{"containerPort": "80"}, {"containerPort": 0, "hostPort": 70000}, {"containerPort": 1.5}]})")),
      ElementsAre(
          kPod + "containers[0].ports[0].containerPort: Invalid value: \"80\": must be an integer: remove the quotes",
          kPod + "containers[0].ports[1].hostPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
          kPod + "containers[0].ports[2].containerPort: Invalid value: 1.5: must be an integer"));
  EXPECT_THAT(
      Faults(WithContainer(R"({"resources": {"limits": {"memory": "1 Gi"}, "requests": {"cpu": true}}})")),
      ElementsAre(StartsWith(kPod + "containers[0].resources.limits[memory]: Invalid value: \"1 Gi\": quantities"),
                  StartsWith(kPod + "containers[0].resources.requests[cpu]: Invalid value: true: quantities")));
  Json object = DaemonJson();
  Json& pod = PodSpecOf(TemplateOf(object));
  pod["initContainers"] = R"([{"name": "i", "image": "i", "env": [{"name": "N", "value": 1}]}])"_json;
  pod["nodeSelector"] = R"({"gpu": true, "zone": "a"})"_json;
  pod["volumes"] = R"([{"name": "v", "emptyDir": {"sizeLimit": "much"}}])"_json;
  EXPECT_THAT(Faults(object),
              ElementsAre(StartsWith(kPod + "initContainers[0].env[0].value"), StartsWith(kPod + "nodeSelector[gpu]"),
                          StartsWith(kPod + "volumes[0].emptyDir.sizeLimit")));
  Json stateful = DaemonJson("app:1", WorkloadKind::kStatefulSet);
  TemplateOf(stateful)["spec"]["volumeClaimTemplates"] =
      R"([{"metadata": {"name": "d"}, "spec": {"resources": {"requests": {"storage": "10 GB"}}}}])"_json;
  EXPECT_THAT(Faults(stateful),
              ElementsAre(StartsWith("spec.workloadTemplate.statefulSetTemplate.spec.volumeClaimTemplates[0].spec."
                                     "resources.requests[storage]: Invalid value: \"10 GB\"")));
}

TEST(TemplateErrorsTest, ValuesThatAreNotListsAreFoundAtTheirPaths) {
  EXPECT_THAT(Faults(WithContainer(R"({"command": "sleep 1", "env": 1, "ports": {}})")),
              ElementsAre(kPod + "containers[0].command: Invalid value: \"sleep 1\": must be a list",
                          kPod + "containers[0].env: Invalid value: 1: must be a list",
                          kPod + "containers[0].ports: Invalid value: {}: must be a list"));
}

TEST(TemplateErrorsTest, AnOverridesImageNeedsItsContainer) {
  const auto faults = [](const char* overrides) {
    Json object = DaemonJson();
    object["spec"]["overrides"] = Json::parse(overrides);
    return Faults(object);
  };
  const auto unknown = ElementsAre(
      "spec.overrides[0].images[0].name: Invalid value: \"sidecar\": no container and no init container of the "
      "template "
      "has this name");
  EXPECT_THAT(faults(R"([{"pools": ["a"], "images": [{"name": "main", "image": "x"}]}])"), IsEmpty());
  EXPECT_THAT(faults(R"([{"pools": ["nowhere"], "images": [{"name": "sidecar", "image": "x"}]}])"), unknown);
  // An override of an image requires the container in the template, or in the patch of an earlier entry. An entry
  // applies its own patch after its images.
  const std::string patch = R"("patch": {"spec": {"template": {"spec": {"containers": [{"name": "sidecar"}]}}}})";
  const std::string images = R"("images": [{"name": "sidecar", "image": "x"}])";
  EXPECT_THAT(faults((R"([{"pools": ["a"], )" + patch + R"(}, {"pools": ["a"], )" + images + "}]").c_str()), IsEmpty());
  EXPECT_THAT(faults((R"([{"pools": ["a"], )" + patch + ", " + images + "}]").c_str()), unknown);
  EXPECT_THAT(faults((R"([{"pools": ["a"], "jsonPatches": []}, {"pools": ["a"], )" + images + "}]").c_str()),
              IsEmpty());
}

TEST(TemplateErrorsTest, DirectivesOfAStrategicMergePatchAreErrorsAtAnyDepth) {
  Json object = DaemonJson();
  object["spec"]["overrides"] = R"([{"pools": ["a"], "patch": {"spec": {
      "strategy": {"$retainKeys": ["type"], "type": "Recreate"},
      "template": {"spec": {"$setElementOrder/containers": [{"name": "main"}],
        "containers": [{"name": "main", "$deleteFromPrimitiveList/args": ["x"], "env": [{"name": "$patch"}]},
                       {"name": "old", "$patch": "delete"}]}}}}}])"_json;
  const std::string patch = "spec.overrides[0].patch.spec.";
  const std::string unsupported = ": Forbidden: not supported; use jsonPatches with op remove";
  EXPECT_THAT(Faults(object),
              ElementsAre(patch + "strategy.$retainKeys" + unsupported,
                          patch + "template.spec.$setElementOrder/containers" + unsupported,
                          patch + "template.spec.containers[0].$deleteFromPrimitiveList/args" + unsupported,
                          patch + "template.spec.containers[1].$patch" + unsupported));

  // A long key is not copied for each member below it.
  const Json items = std::vector<Json>(1000, {{"$patch", "delete"}});
  object["spec"]["overrides"][0]["patch"] = {{"spec", {{std::string(400'000, 'k'), items}}}};
  EXPECT_THAT(Faults(object), IsEmpty());
  object["spec"]["overrides"] = R"([{"pools": ["a"], "patch": {"spec": {"x": []}}}])"_json;
  object["spec"]["overrides"][0]["patch"]["spec"]["x"] = Json(5000, {{"$patch", "delete"}});
  EXPECT_EQ(TemplateErrors(object).size(), FieldErrors::kMost);
}

TEST(TemplateErrorsTest, OtherValuesOfWrongTypesAreIgnored) {
  for (const char* members : {R"({"resources": []})", R"({"env": [1], "ports": ["x"], "resources": {"limits": []}})"}) {
    EXPECT_THAT(Faults(WithContainer(members)), IsEmpty()) << members;
  }
  EXPECT_THAT(Faults(R"({"spec": {"workloadTemplate": {"deploymentTemplate": 1}, "overrides": {}}})"_json), IsEmpty());
  EXPECT_THAT(Faults(Json()), IsEmpty());
  Json deep = DaemonJson();
  Json* at = &PodSpecOf(TemplateOf(deep))["x"];
  for (int i = 0; i < 2000; ++i) at = &(*at)["x"];
  EXPECT_THAT(Faults(deep), IsEmpty());
}

}  // namespace
}  // namespace yad::testing
