#include "operator/cluster/attributes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/well_known.h"

namespace yad {
namespace {

using ::testing::ElementsAre;

Json NodeJson(const Json& labels = Json::object(), const Json& annotations = Json::object(),
              const Json& taints = Json::array()) {
  return {{"metadata",
           {{"name", "n"}, {"uid", "u"}, {"resourceVersion", "7"}, {"labels", labels}, {"annotations", annotations}}},
          {"spec", {{"taints", taints}}}};
}

Json TaintJson(const char* key, const char* value, const char* effect = "NoSchedule") {
  return {{"key", key}, {"value", value}, {"effect", effect}};
}

PoolAttributes Pool(const Json& spec) { return AttributesOf({{"spec", spec}}); }

// Returns the Node after the patch for these attributes.
Json After(Json node, const PoolAttributes& wanted) {
  const Json patch = AttributesPatch(node, wanted);
  if (!patch.is_null()) node.merge_patch(patch);
  return node;
}

Json Record(const Json& node) {
  const std::string text = StringAt(node, {"metadata", "annotations", kPreviousAttributesAnnotation});
  return text.empty() ? Json() : Json::parse(text);
}

const Json kSpec = {{"labels", {{"zone", "north"}}},
                    {"annotations", {{"owner", "shop"}}},
                    {"taints", Json::array({TaintJson("edge", "yes")})}};

TEST(AttributesTest, PatchOfThePoolsAttributesHasTheResourceVersionOfTheNode) {
  const Json patch = AttributesPatch(NodeJson(), Pool(kSpec));
  EXPECT_EQ(patch["metadata"]["uid"], "u");
  EXPECT_EQ(patch["metadata"]["resourceVersion"], "7");
  const Json node = After(NodeJson({{"mine", "1"}}), Pool(kSpec));
  EXPECT_EQ(node["metadata"]["labels"], Json({{"mine", "1"}, {"zone", "north"}}));
  EXPECT_EQ(node["metadata"]["annotations"]["owner"], "shop");
  EXPECT_EQ(node["spec"]["taints"], Json::array({TaintJson("edge", "yes")}));
  // The annotation has the format that OpenYurt writes.
  EXPECT_EQ(Record(node), kSpec);
}

TEST(AttributesTest, EqualAttributesAreNotWritten) {
  EXPECT_TRUE(AttributesPatch(After(NodeJson(), Pool(kSpec)), Pool(kSpec)).is_null());
  EXPECT_TRUE(AttributesPatch(NodeJson({{"mine", "1"}}), {}).is_null());
  // OpenYurt may write the same content with another order of keys, other whitespace and the member timeAdded.
  Json node = After(NodeJson(), Pool(kSpec));
  node["metadata"]["annotations"][kPreviousAttributesAnnotation] =
      R"( {"taints":[{"effect":"NoSchedule","value":"yes","key":"edge","timeAdded":null}], "annotations":{"owner":"shop"},)"
      R"("labels":{"zone":"north"}})";
  EXPECT_TRUE(AttributesPatch(node, Pool(kSpec)).is_null());
}

TEST(AttributesTest, OnlyAttributesThatThePoolLosesAreRemoved) {
  const Json node = NodeJson({{"mine", "1"}}, {{"note", "x"}}, Json::array({TaintJson("disk", "", "NoExecute")}));
  const Json with = After(node, Pool(kSpec));
  Json expected = node;
  EXPECT_EQ(After(with, {}), expected);
  const Json changed = After(with, Pool({{"labels", {{"zone", "south"}, {"row", "2"}}}}));
  EXPECT_EQ(changed["metadata"]["labels"], Json({{"mine", "1"}, {"row", "2"}, {"zone", "south"}}));
  EXPECT_EQ(changed["spec"]["taints"], node["spec"]["taints"]);
  EXPECT_EQ(Record(changed), Json({{"labels", {{"row", "2"}, {"zone", "south"}}}}));
}

TEST(AttributesTest, EqualAttributesThatTheNodeHadBeforeAreKept) {
  const Json node = NodeJson({{"zone", "north"}}, {{"owner", "shop"}}, Json::array({TaintJson("edge", "yes")}));
  EXPECT_TRUE(AttributesPatch(node, Pool(kSpec)).is_null());
  // The Node had the label "zone" before the pool, so the label is never recorded as the pool's, even if the pool adds
  // another label.
  const Json with = After(node, Pool({{"labels", {{"zone", "north"}, {"row", "2"}}}}));
  EXPECT_EQ(Record(with), Json({{"labels", {{"row", "2"}}}}));
  EXPECT_EQ(After(with, {}), node);
}

TEST(AttributesTest, OtherValueOfTheNodeIsOverwrittenWhileTheNodeIsInThePool) {
  const Json node = NodeJson({{"zone", "west"}}, Json::object(), Json::array({TaintJson("edge", "no")}));
  const Json with = After(node, Pool(kSpec));
  EXPECT_EQ(with["metadata"]["labels"]["zone"], "north");
  EXPECT_EQ(with["spec"]["taints"], Json::array({TaintJson("edge", "yes")}));
}

TEST(AttributesTest, AttributesThatAnotherClientChangedAreNotRemoved) {
  Json node = After(NodeJson(), Pool(kSpec));
  node["metadata"]["labels"]["zone"] = "theirs";
  node["spec"]["taints"][0]["value"] = "theirs";
  const Json without = After(node, {});
  EXPECT_EQ(without["metadata"]["labels"], Json({{"zone", "theirs"}}));
  EXPECT_EQ(without["spec"]["taints"], Json::array({TaintJson("edge", "theirs")}));
  EXPECT_TRUE(Record(without).is_null());
}

TEST(AttributesTest, OneKeyMayHaveATaintForEachEffectAndUnknownFieldsAreKept) {
  Json others = TaintJson("edge", "x", "NoExecute");
  others["timeAdded"] = "2026-01-01T00:00:00Z";
  const Json node = NodeJson(Json::object(), Json::object(), Json::array({others}));
  const Json with = After(node, Pool(kSpec));
  EXPECT_EQ(with["spec"]["taints"], Json::array({others, TaintJson("edge", "yes")}));
  EXPECT_EQ(After(with, {})["spec"]["taints"], Json::array({others}));
}

// Returns a Node that the autoscaler has leased to a pool with kSpec. The lease and the attributes were one write.
Json LeasedNode() {
  const Json lease = {{"pool", "p"}, {"phase", "Idle"}, {"for", ""}, {"since", ""}, {"applied", kSpec}};
  return NodeJson({{kNodePoolLabel, "p"}, {"zone", "north"}}, {{kLeaseAnnotation, lease.dump()}, {"owner", "shop"}},
                  Json::array({TaintJson("edge", "yes")}));
}

Json Applied(const Json& node) {
  return Json::parse(StringAt(node, {"metadata", "annotations", kLeaseAnnotation})).at("applied");
}

TEST(AttributesTest, AttributesThatThePoolLosesAreRemovedFromALeasedNodeAndItsLeaseInOneWrite) {
  EXPECT_TRUE(AttributesPatch(LeasedNode(), Pool(kSpec)).is_null());
  const Json without = After(LeasedNode(), Pool({{"annotations", {{"owner", "shop"}}}}));
  EXPECT_EQ(without["metadata"]["labels"], Json({{kNodePoolLabel, "p"}}));
  EXPECT_EQ(without["metadata"]["annotations"]["owner"], "shop");
  EXPECT_FALSE(without["spec"].contains("taints"));
  EXPECT_EQ(Applied(without), Json({{"annotations", {{"owner", "shop"}}}}));
  EXPECT_TRUE(Record(without).is_null());
  const Json lease = Json::parse(StringAt(without, {"metadata", "annotations", kLeaseAnnotation}));
  EXPECT_EQ(lease.at("pool"), "p");
  EXPECT_EQ(lease.at("phase"), "Idle");
}

TEST(AttributesTest, LeasedNodeKeepsAttributesThatAUserSetsAfterThePoolLostThem) {
  Json node = After(LeasedNode(), {});
  EXPECT_EQ(Applied(node), Json::object());
  node["metadata"]["labels"]["zone"] = "north";
  node["spec"]["taints"] = Json::array({TaintJson("edge", "yes")});
  EXPECT_TRUE(AttributesPatch(node, {}).is_null());
}

TEST(AttributesTest, LeasedNodeKeepsValuesThatDifferFromItsLease) {
  Json node = LeasedNode();
  node["metadata"]["labels"]["zone"] = "theirs";
  node["spec"]["taints"][0]["value"] = "theirs";
  const Json without = After(node, {});
  EXPECT_EQ(without["metadata"]["labels"]["zone"], "theirs");
  EXPECT_EQ(without["spec"]["taints"], Json::array({TaintJson("edge", "theirs")}));
}

TEST(AttributesTest, NewPoolValuesOnALeasedNodeAreRecordedInPreviousAttributes) {
  const Json spec = {{"labels", {{"zone", "south"}}}, {"taints", Json::array({TaintJson("edge", "no")})}};
  const Json node = After(LeasedNode(), Pool(spec));
  EXPECT_EQ(node["metadata"]["labels"]["zone"], "south");
  EXPECT_EQ(node["spec"]["taints"], Json::array({TaintJson("edge", "no")}));
  EXPECT_EQ(Record(node), spec);
  EXPECT_EQ(Applied(node), Json::object());
  EXPECT_TRUE(AttributesPatch(node, Pool(spec)).is_null());
}

TEST(AttributesTest, UnreadableLeaseRemovesNoAttributesAndIsKept) {
  for (const std::string junk : {"{", "[]", "17", R"({"applied":7})", R"({"applied":{"labels":{"zone":7}}})"}) {
    Json node = LeasedNode();
    node["metadata"]["annotations"][kLeaseAnnotation] = junk;
    EXPECT_TRUE(AttributesPatch(node, {}).is_null()) << junk;
  }
  Json node = LeasedNode();
  node["metadata"]["annotations"][kLeaseAnnotation] =
      Json({{"pool", "p"}, {"applied", {{"labels", {{kNodePoolLabel, "p"}}}}}}).dump();
  EXPECT_EQ(After(node, {})["metadata"]["labels"][kNodePoolLabel], "p") << "a kubelet may write the annotation";
}

TEST(AttributesTest, AnnotationsButNotLabelsMayHaveCapitalLettersInTheirPrefix) {
  std::vector<std::string> skipped;
  const Json spec = {{"annotations", {{"Example.com/Owner", "shop"}, {"Example_com/owner", "shop"}}},
                     {"labels", {{"Example.com/zone", "north"}}}};
  const PoolAttributes pool = AttributesOf({{"spec", spec}}, &skipped);
  EXPECT_EQ(pool.annotations, StringMap({{"Example.com/Owner", "shop"}}));
  EXPECT_THAT(skipped, ElementsAre("label Example.com/zone", "annotation Example_com/owner"));
}

TEST(AttributesTest, InvalidAnnotationRemovesNoAttributeAndIsReplacedByTheNextWrite) {
  const Json labels = {{"zone", "north"}, {kNodePoolLabel, "p"}, {"kubernetes.io/hostname", "n"}};
  for (const std::string junk : {"{", "[]", "17", "null", R"({"labels":["zone"]})",
                                 R"({"labels":{"zone":7},"taints":{"a":1}})", R"({"taints":[7,{},{"key":1}]})",
                                 R"({"labels":{"apps.openyurt.io/nodepool":"p","kubernetes.io/hostname":"n"}})"}) {
    const Json node = NodeJson(labels, {{kPreviousAttributesAnnotation, junk}});
    EXPECT_EQ(After(node, {})["metadata"]["labels"], labels) << junk;
    const Json with = After(node, Pool({{"labels", {{"row", "2"}}}}));
    EXPECT_EQ(Record(with), Json({{"labels", {{"row", "2"}}}})) << junk;
  }
  const Json unreadable = NodeJson(labels, {{kPreviousAttributesAnnotation, "{"}});
  EXPECT_TRUE(AttributesPatch(unreadable, {}).is_null());
  std::string deep(100000, '[');
  EXPECT_TRUE(AttributesPatch(NodeJson(labels, {{kPreviousAttributesAnnotation, deep}}), {}).is_null());
}

TEST(AttributesTest, KubeletCannotCauseTheRemovalOfALabelThatItMayNotChange) {
  const Json labels = {{"node-restriction.kubernetes.io/tenant", "a"}};
  const Json node = NodeJson(
      labels, {{kPreviousAttributesAnnotation, R"({"labels":{"node-restriction.kubernetes.io/tenant":"a"}})"}});
  EXPECT_EQ(After(node, {})["metadata"]["labels"], labels);
  EXPECT_TRUE(Pool({{"labels", {{"node-restriction.kubernetes.io/tenant", "b"}}}}).empty());
}

TEST(AttributesTest, ReservedAndInvalidAttributesAreOmittedAndReported) {
  std::vector<std::string> skipped;
  const Json spec = {
      {"labels",
       {{kNodePoolLabel, "other"}, {"kubernetes.io/hostname", "x"}, {"bad key", "x"}, {"good", "1"}, {"n", 5}}},
      {"annotations",
       {{kPreviousAttributesAnnotation, "x"}, {"capacity.openyurt.io/lease", "x"}, {"fine", "any text"}}},
      {"taints", Json::array({TaintJson("node.kubernetes.io/unreachable", "", "NoExecute"),
                              TaintJson("a", "", "Sometimes"), TaintJson("ok", ""), TaintJson("ok", "twice")})}};
  const PoolAttributes attributes = AttributesOf({{"spec", spec}}, &skipped);
  EXPECT_EQ(attributes.labels, StringMap({{"good", "1"}}));
  EXPECT_EQ(attributes.annotations, StringMap({{"fine", "any text"}}));
  EXPECT_EQ(attributes.taints, (std::vector<NodeTaint>{{"ok", "", "NoSchedule"}}));
  EXPECT_THAT(skipped, ElementsAre("label apps.openyurt.io/nodepool", "label bad key", "label kubernetes.io/hostname",
                                   "annotation capacity.openyurt.io/lease",
                                   "annotation nodepool.openyurt.io/previous-attributes",
                                   "taint node.kubernetes.io/unreachable:NoExecute", "taint a:Sometimes"));
}

}  // namespace
}  // namespace yad
