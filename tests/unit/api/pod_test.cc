#include "operator/api/pod.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace yad {
namespace {

Json Waiting() {
  return {{"metadata",
           {{"namespace", "shop"}, {"name", "p"}, {"uid", "u1"}, {"creationTimestamp", "2026-11-20T10:00:00Z"}}},
          {"spec", {{"nodeSelector", {{"apps.openyurt.io/nodepool", "hangzhou"}}}}},
          {"status",
           {{"phase", "Pending"},
            {"conditions", {{{"type", "PodScheduled"}, {"status", "False"}, {"reason", "Unschedulable"}}}}}}};
}

TEST(PodTest, UnschedulablePodIsWaiting) {
  const Pod pod = ParsePod(Waiting());
  EXPECT_TRUE(pod.waits());
  EXPECT_EQ(pod.uid, "u1");
  EXPECT_EQ(pod.key.ToString(), "shop/p");
  EXPECT_EQ(FormatTime(pod.created), "2026-11-20T10:00:00Z");
  ASSERT_NE(pod.placement, nullptr);
  EXPECT_EQ(pod.placement->node_selector.at("apps.openyurt.io/nodepool"), "hangzhou");
}

TEST(PodTest, PodIsNotWaitingIfItIsGatedDeletedScheduledOrNotYetTriedByTheScheduler) {
  Json gated = Waiting();
  gated["spec"]["schedulingGates"] = {{{"name", "quota"}}};
  EXPECT_FALSE(ParsePod(gated).waits());
  Json deleting = Waiting();
  deleting["metadata"]["deletionTimestamp"] = "2026-11-20T10:00:01Z";
  EXPECT_FALSE(ParsePod(deleting).waits());
  Json placed = Waiting();
  placed["spec"]["nodeName"] = "n1";
  EXPECT_FALSE(ParsePod(placed).waits());
  EXPECT_EQ(ParsePod(placed).placement, nullptr);
  Json untried = Waiting();
  untried["status"].erase("conditions");
  EXPECT_FALSE(ParsePod(untried).waits());
  Json running = Waiting();
  running["status"]["phase"] = "Running";
  EXPECT_FALSE(ParsePod(running).waits());
}

TEST(PodTest, PodsOfDaemonSetsAndStaticPodsBelongToTheirNode) {
  Json pod = Waiting();
  EXPECT_FALSE(ParsePod(pod).of_node);
  pod["metadata"]["ownerReferences"] = {{{"kind", "ReplicaSet"}, {"name", "r"}, {"uid", "r"}, {"controller", true}}};
  EXPECT_FALSE(ParsePod(pod).of_node);
  pod["metadata"]["ownerReferences"] = {{{"kind", "DaemonSet"}, {"name", "d"}, {"uid", "d"}, {"controller", true}}};
  EXPECT_TRUE(ParsePod(pod).of_node);
  pod["metadata"].erase("ownerReferences");
  pod["metadata"]["annotations"] = {{"kubernetes.io/config.mirror", "x"}};
  EXPECT_TRUE(ParsePod(pod).of_node);
}

TEST(PodTest, AffinityAndTolerationsAreRead) {
  Json object = Waiting();
  object["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] = {
      {{"matchExpressions", {{{"key", "zone"}, {"operator", "In"}, {"values", {"a", "b"}}}}},
       {"matchFields", {{{"key", "metadata.name"}, {"operator", "In"}, {"values", {"n1"}}}}}}};
  object["spec"]["tolerations"] = {{{"key", "k"}, {"operator", "Exists"}}, {{"key", "k"}, {"value", "v"}}};
  const Placement placement = *ParsePod(object).placement;
  EXPECT_TRUE(placement.has_affinity);
  ASSERT_EQ(placement.affinity.size(), 1U);
  EXPECT_EQ(placement.affinity[0].labels[0].values.size(), 2U);
  EXPECT_EQ(placement.affinity[0].fields[0].key, "metadata.name");
  EXPECT_EQ(placement.constraints(), 3U);
  ASSERT_EQ(placement.tolerations.size(), 2U);
  EXPECT_TRUE(placement.tolerations[0].exists);
  EXPECT_FALSE(placement.tolerations[1].exists);
}

TEST(PodTest, MalformedPodIsParsedAsAnEmptyOne) {
  for (const Json& junk : {Json(), Json("x"), Json::array(), Json{{"spec", 1}, {"status", Json::array()}},
                           Json{{"spec", {{"tolerations", 1}, {"affinity", {{"nodeAffinity", "x"}}}}}}}) {
    EXPECT_FALSE(ParsePod(junk).waits());
  }
}

}  // namespace
}  // namespace yad
