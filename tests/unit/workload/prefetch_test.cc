#include "operator/workload/prefetch.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace yad {
namespace {

Json WorkloadWithImages() {
  return Json::parse(R"({"metadata": {"name": "web-hangzhou-x4k2p"}, "spec": {"template": {
    "metadata": {"labels": {"app": "web", "apps.openyurt.io/pool-name": "hangzhou"}},
    "spec": {
      "serviceAccountName": "web", "imagePullSecrets": [{"name": "pull"}], "priorityClassName": "high",
      "nodeSelector": {"apps.openyurt.io/nodepool": "hangzhou", "disk": "ssd"},
      "tolerations": [{"key": "edge", "operator": "Exists"}],
      "affinity": {
        "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []},
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": []}},
      "initContainers": [{"name": "init", "image": "example.org/init:1"}],
      "containers": [
        {"name": "main", "image": "example.org/app:2", "imagePullPolicy": "Always"},
        {"name": "second", "image": "example.org/app:2"},
        {"name": "local", "image": "example.org/local:1", "imagePullPolicy": "Never"}],
      "volumes": [
        {"name": "data", "emptyDir": {}},
        {"name": "model", "image": {"reference": "example.org/model:7", "pullPolicy": "IfNotPresent"}}]}}}})");
}

YurtAppDaemon DaemonWithPrefetch() {
  YurtAppDaemon daemon;
  daemon.meta.key = {"shop", "web"};
  daemon.meta.uid = "uid-1";
  return daemon;
}

std::vector<std::string> References(const Json& workload) {
  std::vector<std::string> references;
  for (const PulledImage& image : ImagesToPull(workload))
    references.push_back(image.reference + (image.pull_policy.empty() ? "" : " " + image.pull_policy));
  return references;
}

TEST(PrefetchTest, ImagesOfContainersAndVolumesArePulledOnceAndNotWithPolicyNever) {
  EXPECT_EQ(
      References(WorkloadWithImages()),
      (std::vector<std::string>{"example.org/app:2 Always", "example.org/init:1", "example.org/model:7 IfNotPresent"}));
  EXPECT_TRUE(References(Json::object()).empty());
  EXPECT_TRUE(References(Json::parse(R"({"spec": {"template": {"spec": {"containers": "none"}}}})")).empty());
}

TEST(PrefetchTest, NameHasAtMost63CharactersAndDiffersForSimilarWorkloads) {
  EXPECT_EQ(PrefetchName("web-hangzhou-x4k2p"), "web-hangzhou-x4k2p-prefetch");
  const std::string longest(54, 'a');
  EXPECT_EQ(PrefetchName(longest), longest + "-prefetch");
  const std::string cut = PrefetchName(longest + "b");
  EXPECT_EQ(cut.size(), 63U);
  EXPECT_TRUE(cut.ends_with("-prefetch"));
  EXPECT_NE(cut, PrefetchName(longest + "c"));
  EXPECT_EQ(PrefetchName(std::string(42, 'a') + std::string(20, '-') + "b").find("--"), std::string::npos);
}

TEST(PrefetchTest, PodsRunOnTheNodesOfTheWorkloadWithoutItsPodAffinity) {
  const Json pods = PrefetchPods(WorkloadWithImages(), {{"example.org/app:2", "Always"}, {"example.org/init:1", ""}});
  const Json workload = WorkloadWithImages();
  const Json& pod = workload["spec"]["template"]["spec"];
  for (const char* field : {"serviceAccountName", "imagePullSecrets", "nodeSelector", "tolerations"})
    EXPECT_EQ(pods[field], pod[field]) << field;
  EXPECT_EQ(pods["affinity"], (Json{{"nodeAffinity", pod["affinity"]["nodeAffinity"]}}));
  EXPECT_EQ(pods["automountServiceAccountToken"], false);
  EXPECT_FALSE(pods.contains("priorityClassName"));
  EXPECT_EQ(pods["volumes"], Json::parse(R"([
    {"name": "image-0", "image": {"reference": "example.org/app:2", "pullPolicy": "Always"}},
    {"name": "image-1", "image": {"reference": "example.org/init:1"}}])"));
}

TEST(PrefetchTest, DaemonSetMountsEachImageAndHasItsOwnLabels) {
  const Json pods = PrefetchPods(WorkloadWithImages(), {{"example.org/app:2", ""}});
  const Json object = MakePrefetch(DaemonWithPrefetch(), "hangzhou", "web-prefetch", pods, "example.org/pause:1");
  EXPECT_EQ(object["kind"], "DaemonSet");
  EXPECT_EQ(object["metadata"]["namespace"], "shop");
  EXPECT_EQ(object["metadata"]["ownerReferences"][0]["uid"], "uid-1");
  EXPECT_EQ(object["metadata"]["ownerReferences"][0]["controller"], true);
  EXPECT_EQ(object["metadata"]["annotations"]["apps.openyurt.io/prefetch-digest"], PrefetchDigest(pods));
  const Json labels = {{"apps.openyurt.io/prefetch", "web-prefetch"}};
  EXPECT_EQ(object["spec"]["selector"]["matchLabels"], labels);
  EXPECT_EQ(object["spec"]["template"]["metadata"]["labels"], labels);
  const Json& pod = object["spec"]["template"]["spec"];
  ASSERT_EQ(pod["containers"].size(), 1U);
  const Json& container = pod["containers"][0];
  EXPECT_EQ(container["image"], "example.org/pause:1");
  EXPECT_EQ(container["volumeMounts"],
            Json::parse(R"([{"name": "image-0", "mountPath": "/images/image-0", "readOnly": true}])"));
  EXPECT_EQ(container["securityContext"]["runAsNonRoot"], true);
  EXPECT_TRUE(KeepsImageVolumes(object));
}

TEST(PrefetchTest, DigestChangesWithTheImagesAndTheNodes) {
  const auto digest = [](const Json& workload, const char* image) {
    return PrefetchDigest(PrefetchPods(workload, {{image, ""}}));
  };
  const std::string before = digest(WorkloadWithImages(), "example.org/app:2");
  EXPECT_EQ(before, digest(WorkloadWithImages(), "example.org/app:2"));
  EXPECT_NE(before, digest(WorkloadWithImages(), "example.org/app:3"));
  Json other = WorkloadWithImages();
  other["spec"]["template"]["spec"]["tolerations"] = Json::array();
  EXPECT_NE(before, digest(other, "example.org/app:2"));
}

TEST(PrefetchTest, ServerThatDropsTheFieldDoesNotSupportImageVolumes) {
  Json object = MakePrefetch(DaemonWithPrefetch(), "a", "web-prefetch",
                             PrefetchPods(WorkloadWithImages(), {{"example.org/app:2", ""}}), "p");
  Json& volumes = object["spec"]["template"]["spec"]["volumes"];
  volumes[0].erase("image");
  EXPECT_FALSE(KeepsImageVolumes(object));
  volumes[0]["emptyDir"] = Json::object();
  EXPECT_FALSE(KeepsImageVolumes(object));
  volumes = Json::array();
  EXPECT_FALSE(KeepsImageVolumes(object));
  EXPECT_FALSE(KeepsImageVolumes(Json::object()));
}

}  // namespace
}  // namespace yad
