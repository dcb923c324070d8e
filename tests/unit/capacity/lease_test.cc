#include "operator/capacity/lease.h"

#include <gtest/gtest.h>

namespace yad {
namespace {

Node SpareNode() {
  Node node;
  node.meta.key.name = "n1";
  node.meta.uid = "u1";
  node.meta.resource_version = "7";
  node.meta.labels = {{"inventory", "spare"}, {"zone", "a"}};
  node.meta.annotations = {{"note", "mine"}};
  node.taints = {{"own", "x", "NoSchedule", "2026-11-20T10:00:00Z"}};
  return node;
}

NodeLease Joining() {
  NodeLease lease;
  lease.pool = "hangzhou";
  lease.phase = LeasePhase::kJoining;
  lease.for_pod = "uid-p";
  lease.since = ParseTime("2026-11-20T12:00:00Z");
  return lease;
}

PoolAttributes Pool() { return {{{"region", "east"}}, {{"owner", "shop"}}, {{"pool", "", "NoSchedule"}}}; }

// Returns the node after the merge patch of a lease.
Node After(const Node& before, const Json& patch) {
  Json object{{"metadata",
               {{"name", before.meta.key.name},
                {"labels", before.meta.labels},
                {"annotations", before.meta.annotations},
                {"uid", before.meta.uid}}}};
  for (const NodeTaint& taint : before.taints)
    object["spec"]["taints"].push_back(
        {{"key", taint.key}, {"value", taint.value}, {"effect", taint.effect}, {"timeAdded", taint.time_added}});
  object.merge_patch(patch);
  return ParseNode(object);
}

TEST(LeaseTextTest, LeaseIsReadAsItWasWritten) {
  NodeLease lease = Joining();
  lease.applied = Pool();
  const auto read = ParseLease(FormatLease(lease));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, lease);
}

void ExpectSameAttributes(const Node& back, const Node& node) {
  EXPECT_EQ(back.meta.labels, node.meta.labels);
  EXPECT_EQ(back.meta.annotations, node.meta.annotations);
  EXPECT_EQ(back.taints, node.taints);
}

TEST(LeaseTextTest, LeaseHasTheSpecifiedFields) {
  const Json json = Json::parse(FormatLease(Joining()));
  EXPECT_EQ(json, Json::parse(R"({"pool": "hangzhou", "phase": "Joining", "for": "uid-p",
                                  "since": "2026-11-20T12:00:00Z", "applied": {}})"));
}

TEST(LeaseTextTest, MalformedLeaseIsAnError) {
  for (const char* text : {"", "x", "[]", "{}", "{\"pool\":7}", R"({"pool":"p"})", R"({"pool":"p","phase":"Gone"})"})
    EXPECT_FALSE(ParseLease(text)) << text;
  EXPECT_FALSE(ParseLease(R"({"pool":"p","phase":"Idle","applied":{"labels":)" + std::string(100'000, '[') +
                          std::string(100'000, ']') + "}}"));
  EXPECT_TRUE(ParseLease(R"({"pool":"p","phase":"Idle","since":7,"applied":[1],"for":{}})"));
}

TEST(LeasePatchTest, LeaseIsSetInOneWriteThatKeepsOtherAttributes) {
  const Node node = SpareNode();
  const Json patch = LeasePatch(node, Joining(), Pool());
  EXPECT_EQ(patch["metadata"]["resourceVersion"], "7");
  EXPECT_EQ(patch["metadata"]["uid"], "u1");
  const Node after = After(node, patch);
  EXPECT_EQ(after.pool(), "hangzhou");
  EXPECT_EQ(after.meta.Label("zone"), "a");
  EXPECT_EQ(after.meta.Label("region"), "east");
  EXPECT_EQ(after.meta.Annotation("note"), "mine");
  EXPECT_EQ(after.meta.Annotation("owner"), "shop");
  ASSERT_EQ(after.taints.size(), 2U);
  EXPECT_EQ(after.taints[0].time_added, "2026-11-20T10:00:00Z");
  const auto lease = ParseLease(after.meta.Annotation(kLeaseAnnotation));
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->applied.labels, (StringMap{{"region", "east"}}));
}

TEST(LeasePatchTest, ReleaseRestoresTheNodeAsItWasBeforeTheLease) {
  const Node node = SpareNode();
  const Node leased = After(node, LeasePatch(node, Joining(), Pool()));
  NodeLease releasing = *ParseLease(leased.meta.Annotation(kLeaseAnnotation));
  releasing.phase = LeasePhase::kReleasing;
  const Node tainted = After(leased, PhasePatch(leased, releasing));
  EXPECT_EQ(tainted.taints.back(), (NodeTaint{kReleasingTaint, "", "NoSchedule"}));
  const Node back = After(tainted, ReleasePatch(tainted, releasing, ""));
  ExpectSameAttributes(back, node);
}

TEST(LeasePatchTest, ValuesOfThePoolReplaceThoseOfTheNode) {
  const Node node = SpareNode();
  const PoolAttributes pool{{{"zone", "b"}}, {{"note", "pool's"}}, {{"own", "y", "NoSchedule"}}};
  const Node leased = After(node, LeasePatch(node, Joining(), pool));
  EXPECT_EQ(leased.meta.Label("zone"), "b");
  EXPECT_EQ(leased.meta.Annotation("note"), "pool's");
  EXPECT_EQ(leased.taints, pool.taints);
  const auto lease = ParseLease(leased.meta.Annotation(kLeaseAnnotation));
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->applied, pool);
  const Node back = After(leased, ReleasePatch(leased, *lease, ""));
  EXPECT_EQ(back.meta.labels, (StringMap{{"inventory", "spare"}}));
  EXPECT_TRUE(back.meta.annotations.empty());
  EXPECT_TRUE(back.taints.empty());
}

TEST(LeasePatchTest, ReleaseKeepsAttributesThatTheNodeHadWithTheValueOfThePool) {
  const Node node = SpareNode();
  const PoolAttributes pool{{{"zone", "a"}}, {{"note", "mine"}}, {{"own", "x", "NoSchedule"}}};
  const Json patch = LeasePatch(node, Joining(), pool);
  EXPECT_FALSE(patch.contains("spec"));
  const Node leased = After(node, patch);
  const NodeLease lease = *ParseLease(leased.meta.Annotation(kLeaseAnnotation));
  EXPECT_TRUE(lease.applied.empty());
  const Node back = After(leased, ReleasePatch(leased, lease, ""));
  ExpectSameAttributes(back, node);
}

// The Node lacks the label, and ObjectMeta::Label returns "" for a missing label.
TEST(LeasePatchTest, AnEmptyLabelOfThePoolIsWritten) {
  const Node node = SpareNode();
  const Node leased = After(node, LeasePatch(node, Joining(), {{{"edge", ""}}, {}, {}}));
  EXPECT_TRUE(leased.meta.labels.contains("edge"));
}

TEST(LeasePatchTest, ReleaseKeepsValuesThatChangedSinceTheLease) {
  const Node node = SpareNode();
  Node leased = After(node, LeasePatch(node, Joining(), Pool()));
  leased.meta.labels["region"] = "west";
  leased.taints.back().value = "other";
  const NodeLease lease = *ParseLease(leased.meta.Annotation(kLeaseAnnotation));
  const Node back = After(leased, ReleasePatch(leased, lease, "2026 not Ready"));
  EXPECT_EQ(back.meta.Label("region"), "west");
  EXPECT_EQ(back.taints.size(), 2U);
  EXPECT_EQ(back.pool(), "");
  EXPECT_EQ(back.meta.Annotation(kQuarantineAnnotation), "2026 not Ready");
}

TEST(LeaseTextTest, LeaseWrittenByAKubeletRemovesNoAttributeOfKubernetes) {
  const auto lease = ParseLease(R"({"pool":"p","phase":"Idle","applied":{
      "labels":{"node-restriction.kubernetes.io/tenant":"a","kubernetes.io/hostname":"n1","mine":"x"},
      "taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}]}})");
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->applied.labels, (StringMap{{"mine", "x"}}));
  EXPECT_TRUE(lease->applied.taints.empty());
}

TEST(LeasePatchTest, PatchOfThePhaseHasNoTaints) {
  const Json patch = PhasePatch(SpareNode(), Joining());
  EXPECT_FALSE(patch.contains("spec"));
}

TEST(LeasePatchTest, APoolCannotSetLabelsAndAnnotationsOfTheAutoscaler) {
  const Node node = SpareNode();
  const Json patch = LeasePatch(
      node, Joining(),
      {{{"apps.openyurt.io/nodepool", "other"}}, {{kLeaseAnnotation, "x"}, {kQuarantineAnnotation, "x"}}, {}});
  EXPECT_EQ(After(node, patch).pool(), "hangzhou");
  EXPECT_TRUE(ParseLease(After(node, patch).meta.Annotation(kLeaseAnnotation)));
  EXPECT_FALSE(After(node, patch).meta.annotations.contains(kQuarantineAnnotation));
}

}  // namespace
}  // namespace yad
