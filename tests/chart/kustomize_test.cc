// Tests docs/gitops/kustomize-transform.yaml with the kustomize that is part of kubectl.
#include <filesystem>

#include "tests/chart/fixture.h"
#include "tests/support/eventually.h"
#include "tests/support/yaml.h"

namespace yad::testing {
namespace {

// Returns a daemon with names in all fields that can refer to a ConfigMap, a Secret or an image: in its template, and
// in the Job of a check.
Json DaemonWithNames(const std::string& kind) {
  const Json container = Json::parse(R"({
    "name": "web", "image": "nginx:1.27",
    "envFrom": [{"configMapRef": {"name": "config"}}, {"secretRef": {"name": "secret"}}],
    "env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "config", "key": "a"}}},
            {"name": "B", "valueFrom": {"secretKeyRef": {"name": "secret", "key": "a"}}}]})");
  const Json pod = {
      {"containers", {container}},
      {"initContainers", {container}},
      {"imagePullSecrets", {{{"name", "secret"}}}},
      {"volumes",
       {{{"name", "c"}, {"configMap", {{"name", "config"}}}},
        {{"name", "s"}, {"secret", {{"secretName", "secret"}}}},
        {{"name", "p"},
         {"projected", {{"sources", {{{"configMap", {{"name", "config"}}}}, {{"secret", {{"name", "secret"}}}}}}}}}}}};
  const Json checks = Json::array({{{"name", "condition"}, {"condition", {{"type", "Smoke"}}}},
                                   {{"name", "job"}, {"job", {{"spec", {{"template", {{"spec", pod}}}}}}}}});
  return {{"apiVersion", kYurtAppDaemonType.ApiVersion()},
          {"kind", kYurtAppDaemonType.kind},
          {"metadata", {{"name", "web"}}},
          {"spec",
           {{"overrides", {{{"pools", {"a"}}, {"images", {{{"name", "web"}, {"image", "nginx:1.26"}}}}}}},
            {"updateStrategy", {{"type", "RollingUpdate"}, {"rollingUpdate", {{"checks", checks}}}}},
            {"workloadTemplate", {{kind, {{"spec", {{"template", {{"spec", pod}}}}}}}}}}}};
}

// Returns the expected output of kustomize for these names.
Json WithNames(const Json& daemon, const std::string& config, const std::string& secret) {
  std::string expected = daemon.dump();
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (auto at = expected.find(from); at != std::string::npos; at = expected.find(from, at + to.size())) {
      expected.replace(at, from.size(), to);
    }
  };
  replace("\"config\"", "\"" + config + "\"");
  replace("\"secret\"", "\"" + secret + "\"");
  // The API also has fields with the name "secret", which must stay.
  replace("\"" + secret + "\":", "\"secret\":");
  replace("nginx:1.26", "nginx:1.28");
  replace("nginx:1.27", "nginx:1.28");
  replace("{\"name\":\"web\"},\"spec\"", "{\"name\":\"eu-web\"},\"spec\"");
  return Json::parse(expected);
}

class KustomizeTest : public ChartTest {};

TEST_F(KustomizeTest, KustomizeUpdatesNamesAndImagesInTheTemplateAndInTheJobOfACheck) {
  const std::string folder = plane().dir() + "/kustomize";
  std::filesystem::create_directories(folder);
  WriteFile(folder + "/transform.yaml", ReadFile(YAD_SOURCE_DIR "/docs/gitops/kustomize-transform.yaml"));
  WriteFile(folder + "/kustomization.yaml", R"(
resources: [web.yaml]
configurations: [transform.yaml]
namePrefix: eu-
configMapGenerator: [{name: config, literals: [a=b]}]
secretGenerator: [{name: secret, literals: [a=b]}]
images: [{name: nginx, newTag: "1.28"}]
)");
  for (const std::string kind : {"deploymentTemplate", "statefulSetTemplate"}) {
    SCOPED_TRACE(kind);
    const Json daemon = DaemonWithNames(kind);
    WriteFile(folder + "/web.yaml", daemon.dump());
    std::string config;
    std::string secret;
    Json built;
    for (const Json& object : ParseYaml(plane().Kubectl({"kustomize", folder}))) {
      const std::string of = StringAt(object, {"kind"});
      if (of == "ConfigMap") config = NameOf(object);
      if (of == "Secret") secret = NameOf(object);
      if (of == kYurtAppDaemonType.kind) built = object;
    }
    ASSERT_TRUE(config.starts_with("eu-config-") && secret.starts_with("eu-secret-")) << config << secret;
    EXPECT_EQ(built, WithNames(daemon, config, secret));
  }
}

}  // namespace
}  // namespace yad::testing
