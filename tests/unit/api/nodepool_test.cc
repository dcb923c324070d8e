#include "operator/api/nodepool.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/well_known.h"
#include "tests/unit/api/junk.h"

namespace yad {
namespace {

TEST(NodePoolTest, AllVersionsAreParsedToTheSamePool) {
  for (const char* version : {"v1alpha1", "v1beta1", "v1beta2"}) {
    const NodePool pool = ParseNodePool(
        Json{{"apiVersion", std::string("apps.openyurt.io/") + version},
             {"kind", "NodePool"},
             {"metadata", {{"name", "hangzhou"}, {"labels", {{"region", "east"}}}}},
             {"spec",
              {{"type", "Edge"}, {"taints", Json::array({{{"key", "a"}, {"value", "v"}, {"effect", "NoSchedule"}}})}}},
             {"status", {{"readyNodeNum", 2}, {"unreadyNodeNum", 0}}}});
    EXPECT_EQ(pool,
              (NodePool{"hangzhou", {{"region", "east"}}, "Edge", {{"a", "NoSchedule"}}, std::nullopt, false, false}));
  }
}

TEST(NodePoolTest, TaintsAreDeduplicatedAndInvalidOnesAreSkipped) {
  const NodePool pool = ParseNodePool(Json::parse(R"({"spec": {"taints": [
      {"key": "b", "effect": "NoExecute"}, {"key": "a", "effect": "NoSchedule", "value": "1"},
      {"key": "a", "effect": "NoSchedule", "value": "2"}, {"key": "a", "effect": "PreferNoSchedule"},
      {"key": "", "effect": "NoSchedule"}, {"key": "-bad", "effect": "NoSchedule"}, {"key": "a", "effect": "Never"},
      {"key": "a"}, {"key": 1, "effect": "NoSchedule"}, null, 7, [], "a"]}})"));
  EXPECT_EQ(pool.taints, (std::vector<Taint>{{"b", "NoExecute"}, {"a", "NoSchedule"}, {"a", "PreferNoSchedule"}}));
}

TEST(NodePoolTest, PoolWithZeroReadyNodesInItsStatusIsOffline) {
  struct Case {
    const char* status;
    bool offline;
  };
  for (const Case& one :
       {Case{R"({"readyNodeNum": 0})", true}, Case{R"({"readyNodeNum": 0, "unreadyNodeNum": 3})", true},
        Case{R"({"readyNodeNum": 1})", false}, Case{"{}", false}, Case{"null", false},
        Case{R"({"unreadyNodeNum": 3})", false}, Case{R"({"readyNodeNum": "0"})", false},
        Case{R"({"readyNodeNum": null})", false}, Case{R"({"readyNodeNum": 0.0})", false}}) {
    EXPECT_EQ(ParseNodePool(Json{{"status", Json::parse(one.status)}}).offline, one.offline) << one.status;
  }
  EXPECT_FALSE(ParseNodePool(Json::object()).offline);
}

TEST(NodePoolTest, MalformedPoolsDoNotThrow) {
  for (const Json& junk : testing::kJunk) {
    EXPECT_EQ(ParseNodePool(junk), NodePool{});
    EXPECT_EQ(ParseNodePool(Json{{"spec", junk}, {"status", junk}}), NodePool{});
    EXPECT_EQ(ParseNodePool(Json{{"spec", {{"taints", junk}}}}), NodePool{});
  }
  EXPECT_TRUE(ParseNodePool(Json::parse(R"({"metadata": {"deletionTimestamp": "2026-11-20T10:30:43Z"}})")).deleting);
}

TEST(NodePoolTest, HoldIsReadWithAnyValueAndItsReasonIsTruncated) {
  Json object = {{"metadata", {{"name", "a"}}}};
  EXPECT_EQ(ParseNodePool(object).hold, std::nullopt);
  object["metadata"]["annotations"] = {{kHoldAnnotation, ""}};
  EXPECT_EQ(ParseNodePool(object).hold, "");
  object["metadata"]["annotations"][kHoldAnnotation] = std::string(100'000, 'x');
  EXPECT_LE(ParseNodePool(object).hold->size(), kMaxHoldReason);
}

}  // namespace
}  // namespace yad
