#include "operator/cluster/informers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/well_known.h"
#include "tests/support/object_bytes.h"

namespace yad {
namespace {

// Returns a large pod, as with a service mesh: two containers with environment variables, probes and volumes, and the
// fields that the apiserver adds.
Json LargePod(const std::string& name, bool placed = true) {
  Json env = Json::array();
  for (int i = 0; i < 30; ++i)
    env.push_back({{"name", "VARIABLE_" + std::to_string(i)}, {"value", "a value of some length " + name}});
  const Json container = {
      {"name", "main"},
      {"image", "registry.example.org/team/application:v1.2.3"},
      {"env", env},
      {"resources", {{"requests", {{"cpu", "100m"}, {"memory", "128Mi"}}}, {"limits", {{"cpu", "1"}}}}},
      {"livenessProbe", {{"httpGet", {{"path", "/healthz"}, {"port", 8080}}}}}};
  Json pod = {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata",
               {{"name", name},
                {"namespace", "shop-frontend"},
                {"uid", "0b9fb4c4-7a55-4f0e-9d0c-" + name},
                {"resourceVersion", "123456"},
                {"creationTimestamp", "2026-11-22T08:00:00Z"},
                {"labels", {{"app", "frontend"}, {"pod-template-hash", "7d4b8c6f5"}, {"team", "checkout"}}},
                {"annotations", {{"sidecar.example.org/status", std::string(800, 'x')}}},
                {"managedFields", {{{"manager", "kube-controller-manager"}, {"fieldsV1", std::string(1500, 'f')}}}},
                {"ownerReferences",
                 {{{"apiVersion", "apps/v1"},
                   {"kind", "ReplicaSet"},
                   {"name", "frontend-7d4b8c6f5"},
                   {"uid", "rs"},
                   {"controller", true},
                   {"blockOwnerDeletion", true}}}}}},
              {"spec",
               {{"containers", {container, container}},
                {"tolerations", {{{"key", "edge"}, {"operator", "Exists"}}}},
                {"nodeSelector", {{kNodePoolLabel, "hangzhou"}}},
                {"affinity", {{"podAntiAffinity", Json::object()}, {"nodeAffinity", Json::object()}}},
                {"volumes", {{{"name", "data"}, {"emptyDir", Json::object()}}}}}},
              {"status",
               {{"phase", placed ? "Running" : "Pending"},
                {"conditions", {{{"type", "Ready"}, {"status", "True"}, {"lastProbeTime", nullptr}}}},
                {"containerStatuses", {{{"name", "main"}, {"imageID", std::string(90, 'i')}}}}}}};
  if (placed) pod["spec"]["nodeName"] = "node-" + name;
  return pod;
}

TEST(InformersTest, PodIsStoredInReducedForm) {
  const ReflectorOptions watch = WatchPods();
  constexpr int kPods = 100;
  std::vector<ObjectPtr> kept;
  std::size_t original = 0, sum = 0;
  for (int i = 0; i < kPods; ++i) {
    Json pod = LargePod("frontend-" + std::to_string(1000 + i));
    original += pod.dump().size();
    watch.transform(pod);
    kept.push_back(std::make_shared<StoredObject>(pod, watch.project));
    sum += testing::BytesOf(*kept.back()) + sizeof(PodProjection);
  }
  RecordProperty("bytes_of_a_pods_text", static_cast<int>(original / kPods));
  RecordProperty("bytes_kept_of_a_pod", static_cast<int>(sum / kPods));
  EXPECT_LT(sum / kPods, 1200U) << "of " << original / kPods;
  const Json left = kept.front()->Parse();
  EXPECT_EQ(left["spec"], Json({{"nodeName", "node-frontend-1000"},
                                {"containers",
                                 {{{"resources", {{"requests", {{"cpu", "100m"}, {"memory", "128Mi"}}}}}},
                                  {{"resources", {{"requests", {{"cpu", "100m"}, {"memory", "128Mi"}}}}}}}}}));
}

TEST(InformersTest, StrippedPodIsParsedLikeTheWholeObject) {
  for (const bool placed : {true, false}) {
    Json pod = LargePod("a", placed);
    pod["metadata"]["annotations"]["kubernetes.io/config.mirror"] = "x";
    pod["spec"]["initContainers"] = {{{"restartPolicy", "Always"}, {"resources", {{"requests", {{"cpu", "7"}}}}}}};
    pod["spec"]["overhead"] = {{"cpu", "10m"}};
    pod["spec"]["priority"] = 5;
    pod["spec"]["schedulingGates"] = {{{"name", "wait"}}};
    const Pod whole = ParsePod(pod);
    StripPod(pod, {});
    const Pod kept = ParsePod(pod);
    EXPECT_EQ(kept.key, whole.key);
    EXPECT_EQ(kept.uid, whole.uid);
    EXPECT_EQ(kept.node, whole.node);
    EXPECT_EQ(kept.created, whole.created);
    EXPECT_EQ(kept.priority, whole.priority);
    EXPECT_EQ(kept.ready, whole.ready);
    EXPECT_EQ(kept.pending, whole.pending);
    EXPECT_EQ(kept.of_node, whole.of_node);
    EXPECT_EQ(kept.requests, whole.requests);
    if (!placed) {
      EXPECT_EQ(kept.gated, whole.gated);
      ASSERT_NE(kept.placement, nullptr);
      EXPECT_EQ(*kept.placement, *whole.placement);
    }
  }
}

TEST(InformersTest, AnAgentIsRecognizedByItsLabels) {
  const ReflectorOptions watch = WatchPods({*LabelSelector::ParseText("app=proxy"), *LabelSelector::ParseText("hub")});
  const auto agent = [&](const Json& labels) {
    Json pod = LargePod("a");
    pod["metadata"]["labels"] = labels;
    watch.transform(pod);
    return PodProjectionOf(std::make_shared<StoredObject>(pod, watch.project)).agent;
  };
  EXPECT_TRUE(agent({{"app", "proxy"}}));
  EXPECT_TRUE(agent({{"hub", ""}}));
  EXPECT_FALSE(agent({{"app", "web"}}));
}

TEST(InformersTest, StrippedNodeIsParsedLikeTheWholeObjectWithoutItsHeartbeat) {
  Json node = {{"metadata",
                {{"name", "n"},
                 {"uid", "u"},
                 {"resourceVersion", "1"},
                 {"labels", {{"a", "b"}}},
                 {"annotations", {{"c", "d"}}},
                 {"managedFields", {1, 2}}}},
               {"spec",
                {{"taints", {{{"key", "t"}, {"effect", "NoExecute"}, {"timeAdded", "x"}}}},
                 {"unschedulable", true},
                 {"podCIDR", "10.0.0.0/24"}}},
               {"status",
                {{"conditions",
                  {{{"type", "Ready"},
                    {"status", "True"},
                    {"lastHeartbeatTime", "2026-11-22T08:00:00Z"},
                    {"lastTransitionTime", "2026-11-21T08:00:00Z"}}}},
                 {"allocatable", {{"cpu", "4"}}},
                 {"capacity", {{"cpu", "5"}}},
                 {"images", {{{"names", {"x"}}}}}}}};
  const Node whole = ParseNode(node);
  const Json before = node;
  StripNode(node);
  const Node kept = ParseNode(node);
  EXPECT_EQ(kept.meta.labels, whole.meta.labels);
  EXPECT_EQ(kept.meta.annotations, whole.meta.annotations);
  EXPECT_EQ(kept.taints, whole.taints);
  EXPECT_EQ(kept.unschedulable, whole.unschedulable);
  EXPECT_EQ(kept.conditions, whole.conditions);
  EXPECT_EQ(kept.ready_since, whole.ready_since);
  EXPECT_EQ(kept.allocatable, whole.allocatable);
  EXPECT_EQ(kept.capacity, whole.capacity);
  EXPECT_EQ(node["spec"]["taints"], before["spec"]["taints"]) << "the operator writes the taints back";
  EXPECT_FALSE(node["status"].contains("images"));
  EXPECT_FALSE(node["status"]["conditions"][0].contains("lastHeartbeatTime"));
}

TEST(InformersTest, MalformedObjectsCauseNoCrash) {
  for (Json object : {Json::object(), Json({{"metadata", 7}, {"spec", {1}}, {"status", "x"}}),
                      Json({{"metadata", {{"ownerReferences", "x"}, {"annotations", 3}}},
                            {"spec", {{"containers", {1, {{"resources", 5}}}}, {"affinity", 1}}},
                            {"status", {{"conditions", {{"a", 1}}}}}})}) {
    Json pod = object, node = object;
    StripPod(pod, {});
    StripNode(node);
    ParsePod(pod);
    ParseNode(node);
  }
}

}  // namespace
}  // namespace yad
