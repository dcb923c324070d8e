#include "operator/capacity/autoscaler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

namespace yad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Json Good() {
  return Json::parse(R"({
    "apiVersion": "capacity.openyurt.io/v1alpha1", "kind": "NodePoolAutoscaler",
    "metadata": {"name": "hangzhou", "uid": "u"},
    "spec": {
      "nodePool": "hangzhou",
      "mode": "Manual",
      "inventorySelector": {"matchLabels": {"inventory": "spare"}},
      "minNodes": 1, "maxNodes": 7,
      "oneNodePerPod": true,
      "standby": [{"name": "small", "nodeSelector": {"matchLabels": {"size": "s"}}, "count": 2},
                  {"name": "any", "count": 1}],
      "scaleUp": {"pendingSeconds": 1, "maxPerCycle": 2, "joinTimeoutSeconds": 3, "retryAfterSeconds": 4},
      "scaleDown": {"idleSeconds": 5, "unhealthySeconds": 6, "maxPerCycle": 7, "reclaimPolicy": "Quarantine"}}})");
}

// Returns Good() with `value` at this JSON pointer below /spec. The value null removes the field.
Json With(const std::string& pointer, const Json& value) {
  Json object = Good();
  object[Json::json_pointer("/spec" + pointer)] = value;
  return object;
}

std::vector<std::string> Faults(const Json& object) {
  std::vector<std::string> texts;
  for (const FieldError& error : ValidateNodePoolAutoscaler(object)) texts.push_back(error.ToString());
  return texts;
}

TEST(AutoscalerTest, EachFieldIsRead) {
  EXPECT_THAT(Faults(Good()), IsEmpty());
  const auto parsed = ParseNodePoolAutoscaler(Good());
  ASSERT_TRUE(parsed) << parsed.error().message;
  using std::chrono::seconds;
  EXPECT_EQ(parsed->meta.uid, "u");
  EXPECT_EQ(parsed->node_pool, "hangzhou");
  EXPECT_EQ(parsed->mode, CapacityMode::kManual);
  EXPECT_EQ(parsed->inventory.ToString(), "inventory=spare");
  EXPECT_EQ(parsed->min_nodes, 1);
  EXPECT_EQ(parsed->max_nodes, 7);
  EXPECT_TRUE(parsed->one_node_per_pod);
  ASSERT_EQ(parsed->standby.size(), 2u);
  EXPECT_EQ(parsed->standby[0].name, "small");
  EXPECT_EQ(parsed->standby[0].count, 2);
  EXPECT_TRUE(parsed->standby[0].Matches({{"size", "s"}, {"more", "x"}}));
  EXPECT_FALSE(parsed->standby[0].Matches({{"size", "l"}}));
  EXPECT_FALSE(parsed->standby[0].Matches({}));
  EXPECT_TRUE(parsed->standby[1].Matches({}));
  EXPECT_EQ(parsed->pending, seconds(1));
  EXPECT_EQ(parsed->max_leases, 2);
  EXPECT_EQ(parsed->join_timeout, seconds(3));
  EXPECT_EQ(parsed->retry_after, seconds(4));
  EXPECT_EQ(parsed->idle, seconds(5));
  EXPECT_EQ(parsed->unhealthy, seconds(6));
  EXPECT_EQ(parsed->max_releases, 7);
  EXPECT_TRUE(parsed->quarantine);
}

TEST(AutoscalerTest, AbsentFieldsHaveTheDefaultsOfTheCrd) {
  Json object = Good();
  object["spec"] = {{"nodePool", "p"}, {"inventorySelector", Json::object()}, {"mode", nullptr}, {"scaleUp", nullptr}};
  const auto parsed = ParseNodePoolAutoscaler(object);
  ASSERT_TRUE(parsed) << parsed.error().message;
  using std::chrono::seconds;
  EXPECT_EQ(parsed->mode, CapacityMode::kAuto);
  EXPECT_TRUE(parsed->inventory.empty());
  EXPECT_EQ(parsed->min_nodes, 0);
  EXPECT_EQ(parsed->max_nodes, 0);
  EXPECT_FALSE(parsed->one_node_per_pod);
  EXPECT_THAT(parsed->standby, IsEmpty());
  EXPECT_EQ(parsed->pending, seconds(10));
  EXPECT_EQ(parsed->max_leases, 10);
  EXPECT_EQ(parsed->join_timeout, seconds(300));
  EXPECT_EQ(parsed->retry_after, seconds(180));
  EXPECT_EQ(parsed->idle, seconds(600));
  EXPECT_EQ(parsed->unhealthy, seconds(90));
  EXPECT_EQ(parsed->max_releases, 1);
  EXPECT_FALSE(parsed->quarantine);
}

const std::string kAtLeast = "must be greater than or equal to ";
const std::string kAtMost = "must be less than or equal to ";

// A JSON pointer below /spec, an invalid value for it, and a part of the expected error.
using FaultCase = std::tuple<std::string, Json, std::string>;

std::vector<FaultCase> FaultsOfThePool() {
  return {
      {"/nodePool", nullptr, "spec.nodePool: Required value"},
      {"/nodePool", "", "spec.nodePool: Required value"},
      {"/nodePool", 3, "spec.nodePool: Invalid value: 3: must be a string"},
      {"/nodePool", "Hangzhou", "spec.nodePool: Invalid value: \"Hangzhou\": a lowercase RFC 1123 subdomain must"},
      {"/nodePool", std::string(64, 'a'), "the pool's name is not a valid label value: must be no more than 63"},
      {"/mode", "auto", "spec.mode: Unsupported value: \"auto\": supported values: \"Auto\", \"Manual\", \"Drain\""},
      {"/mode", 1, "spec.mode: Invalid value: 1: must be a string"},
      {"/inventorySelector", nullptr, "spec.inventorySelector: Required value: select the spare nodes by a label"},
      {"/inventorySelector", "spare", "spec.inventorySelector: Invalid value: \"spare\": must be an object"},
      {"/inventorySelector/matchLabels/a b", "c", "spec.inventorySelector.matchLabels: Invalid value: \"a b\": "},
      {"/inventorySelector/matchExpressions",
       {{{"key", "a"}, {"operator", "Gt"}}},
       "spec.inventorySelector.matchExpressions[0].operator: Invalid value: \"Gt\": not a valid selector operator"},
      {"/inventorySelector/matchLabels",
       {{"apps.openyurt.io/nodepool", "beijing"}},
       "is in a pool and is not spare: select by another label"},
      {"/minNodes", -1, "spec.minNodes: Invalid value: -1: " + kAtLeast + "0"},
      {"/minNodes", "1", "spec.minNodes: Invalid value: \"1\": must be an integer"},
      {"/minNodes", 8, "spec.minNodes: Invalid value: 8: must not be greater than spec.maxNodes (7)"},
      {"/maxNodes", -2, "spec.maxNodes: Invalid value: -2: " + kAtLeast + "0"},
      {"/maxNodes", 100'001, "spec.maxNodes: Invalid value: 100001: " + kAtMost + "100000"},
      {"/maxNodes", std::uint64_t{18446744073709551615u}, kAtMost + "100000"},
      {"/maxNodes", 1.5, "spec.maxNodes: Invalid value: 1.5: must be an integer"},
      {"/maxNodes", 2, "needs 3 nodes, more than spec.maxNodes (2) allows: raise maxNodes or lower the counts"},
      {"/oneNodePerPod", "yes", "spec.oneNodePerPod: Invalid value: \"yes\": must be true or false"},
  };
}

std::vector<FaultCase> FaultsOfStandby() {
  return {
      {"/standby", Json::object(), "spec.standby: Invalid value: {}: must be a list"},
      {"/standby/0", "small", "spec.standby[0]: Invalid value: \"small\": must be an object"},
      {"/standby/0/name", nullptr, "spec.standby[0].name: Required value"},
      {"/standby/0/name", "S", "spec.standby[0].name: Invalid value: \"S\": a lowercase RFC 1123 label must"},
      {"/standby/1/name", "small", "spec.standby[1].name: Duplicate value: \"small\""},
      {"/standby/0/count", nullptr, "spec.standby[0].count: Required value"},
      {"/standby/0/count", -1, "spec.standby[0].count: Invalid value: -1: " + kAtLeast + "0"},
      {"/standby/0/nodeSelector", "s", "spec.standby[0].nodeSelector: Invalid value: \"s\": must be an object"},
      {"/standby/0/nodeSelector",
       {{"size", "s"}},
       "spec.standby[0].nodeSelector.size: Forbidden: a standby selects nodes only by matchLabels: write "
       "nodeSelector: {matchLabels: {key: value}}"},
      {"/standby/0/nodeSelector",
       {{"matchExpressions", Json::array()}},
       "spec.standby[0].nodeSelector.matchExpressions: Forbidden: a standby selects nodes only by matchLabels"},
      {"/standby/0/nodeSelector/matchLabels",
       {{"size", 1}},
       "spec.standby[0].nodeSelector.matchLabels.size: Invalid value: 1: must be a string"},
      {"/standby/0/nodeSelector/matchLabels", {{"size", "a b"}}, "matchLabels.size: Invalid value: \"a b\": a valid"},
  };
}

std::vector<FaultCase> FaultsOfScaling() {
  return {
      {"/scaleUp", "fast", "spec.scaleUp: Invalid value: \"fast\": must be an object"},
      {"/scaleUp/pendingSeconds", -1, "spec.scaleUp.pendingSeconds: Invalid value: -1: " + kAtLeast + "0"},
      {"/scaleUp/pendingSeconds", 31'536'001, kAtMost + "31536000"},
      {"/scaleUp/maxPerCycle", 0, "spec.scaleUp.maxPerCycle: Invalid value: 0: " + kAtLeast + "1"},
      {"/scaleUp/joinTimeoutSeconds", 0, "spec.scaleUp.joinTimeoutSeconds: Invalid value: 0: " + kAtLeast + "1"},
      {"/scaleUp/retryAfterSeconds", 0, "spec.scaleUp.retryAfterSeconds: Invalid value: 0: " + kAtLeast + "1"},
      {"/scaleDown", 5, "spec.scaleDown: Invalid value: 5: must be an object"},
      {"/scaleDown/idleSeconds", -600, "spec.scaleDown.idleSeconds: Invalid value: -600: " + kAtLeast + "0"},
      {"/scaleDown/unhealthySeconds", true, "spec.scaleDown.unhealthySeconds: Invalid value: true: must be an integer"},
      {"/scaleDown/maxPerCycle", 0, "spec.scaleDown.maxPerCycle: Invalid value: 0: " + kAtLeast + "1"},
      {"/scaleDown/reclaimPolicy", "Delete",
       "spec.scaleDown.reclaimPolicy: Unsupported value: \"Delete\": supported values: \"Recycle\", \"Quarantine\""},
  };
}

TEST(AutoscalerTest, EachErrorNamesItsFieldAndTheFix) {
  for (const auto& cases : {FaultsOfThePool(), FaultsOfStandby(), FaultsOfScaling()}) {
    for (const auto& [pointer, value, fault] : cases) {
      const Json object = With(pointer, value);
      EXPECT_THAT(Faults(object), ElementsAre(HasSubstr(fault))) << pointer << " " << value;
      const auto parsed = ParseNodePoolAutoscaler(object);
      ASSERT_FALSE(parsed) << pointer;
      EXPECT_EQ(parsed.error().reason, Reason::kInvalid);
      EXPECT_EQ(parsed.error().causes.size(), 1u);
    }
  }
}

TEST(AutoscalerTest, AllErrorsAreReportedTogether) {
  Json object = With("/minNodes", -1);
  object["spec"]["mode"] = "auto";
  object["spec"].erase("inventorySelector");
  EXPECT_THAT(Faults(object),
              ElementsAre(HasSubstr("spec.mode"), HasSubstr("spec.inventorySelector"), HasSubstr("spec.minNodes")));
}

TEST(AutoscalerTest, NoFurtherErrorIsReportedIfTheSpecIsMissing) {
  for (const Json& object : {Json::object(), Json(nullptr), Json("x"), Json{{"spec", nullptr}}})
    EXPECT_THAT(Faults(object), ElementsAre("spec: Required value"));
  EXPECT_THAT(Faults({{"spec", 1}}), ElementsAre("spec: Invalid value: 1: must be an object"));
}

TEST(AutoscalerTest, ThePoolCannotBeChanged) {
  EXPECT_THAT(ValidateNodePoolAutoscalerUpdate(With("/mode", "Drain"), Good()), IsEmpty());
  const auto faults = ValidateNodePoolAutoscalerUpdate(With("/nodePool", "beijing"), Good());
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_THAT(faults[0].ToString(),
              HasSubstr("spec.nodePool: Invalid value: \"beijing\": field is immutable: the "
                        "nodes leased for \"hangzhou\" would have no NodePoolAutoscaler; delete this "
                        "object and create one for the other pool"));
  // An autoscaler without a pool has no leases, so its pool may be set.
  EXPECT_THAT(ValidateNodePoolAutoscalerUpdate(Good(), Json::object()), IsEmpty());
}

TEST(AutoscalerTest, ShortagesAreReadAsTheyWereWritten) {
  Json object = Good();
  const Json written = Json::parse(R"([
    {"requirements": {"size": "l"}, "pods": ["shop/a", "shop/b"], "reason": "NoCapacity",
     "since": "2026-11-20T12:00:00Z", "retryAt": "2026-11-20T12:03:00Z"},
    {"requirements": {}, "pods": [], "reason": "MaxNodes", "since": "2026-11-20T12:00:00Z"}])");
  object["status"] = {{"shortages", written}, {"leased", 3}};
  const auto parsed = ParseNodePoolAutoscaler(object);
  ASSERT_TRUE(parsed);
  Json back = Json::array();
  for (const Shortage& shortage : parsed->shortages) back.push_back(ToJson(shortage));
  EXPECT_EQ(back, written);
  EXPECT_EQ(parsed->shortages[1].retry_at, WallTime());
  EXPECT_EQ(parsed->status["leased"], 3);
}

TEST(AutoscalerTest, MalformedStatusIsReadAsFarAsPossible) {
  for (const Json& junk : {Json(nullptr), Json(1), Json("x"), Json::array(), Json({{"a", 1}})}) {
    Json object = Good();
    object["status"] = junk;
    EXPECT_TRUE(ParseNodePoolAutoscaler(object)) << junk;
    object["status"] = {{"shortages", junk}};
    EXPECT_TRUE(ParseNodePoolAutoscaler(object)) << junk;
    object["status"] = {{"shortages", Json::array({junk})}};
    EXPECT_TRUE(ParseNodePoolAutoscaler(object)) << junk;
    object["status"]["shortages"] = {
        {{"pods", junk}, {"requirements", junk}, {"reason", junk}, {"since", junk}, {"retryAt", junk}}};
    EXPECT_TRUE(ParseNodePoolAutoscaler(object)) << junk;
  }
  Json object = Good();
  object["status"]["shortages"] = {{{"pods", {"z/z", 1, nullptr, "a/a"}}, {"requirements", {{"a", "b"}, {"c", 1}}}}};
  const auto parsed = ParseNodePoolAutoscaler(object);
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->shortages[0].pods, ElementsAre("a/a", "z/z"));
  EXPECT_EQ(parsed->shortages[0].requirements, (StringMap{{"a", "b"}}));
}

// Returns a random value with up to `depth` levels. Most keys are fields of a NodePoolAutoscaler.
Json RandomJson(std::mt19937& random, int depth) {
  static const char* const kKeys[] = {"spec",      "status",   "nodePool",   "mode",         "inventorySelector",
                                      "standby",   "name",     "count",      "nodeSelector", "matchLabels",
                                      "shortages", "pods",     "minNodes",   "maxNodes",     "matchExpressions",
                                      "key",       "operator", "values",     "scaleUp",      "scaleDown",
                                      "retryAt",   "metadata", "idleSeconds"};
  static const Json kLeaves[] = {nullptr, true, -1,  0,    7,          std::int64_t{-9'000'000'000'000'000'000},
                                 1e300,   "",   "a", "In", "\xff\xfe", std::uint64_t{18'000'000'000'000'000'000u}};
  const auto below = [&](std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
  };
  if (depth == 0 || below(4) == 0) return kLeaves[below(std::size(kLeaves))];
  Json value = below(3) == 0 ? Json::array() : Json::object();
  for (std::size_t i = below(5); i > 0; --i) {
    if (value.is_array()) {
      value.push_back(RandomJson(random, depth - 1));
    } else {
      value[kKeys[below(std::size(kKeys))]] = RandomJson(random, depth - 1);
    }
  }
  return value;
}

TEST(AutoscalerTest, RandomObjectsAreEitherParsedOrRejected) {
  std::mt19937 random(20261122);
  for (int i = 0; i < 3000; ++i) {
    Json object = i % 2 == 0 ? RandomJson(random, 6) : Good();
    if (i % 2 == 1) {
      // Replaces a value of a valid object with a random value.
      Json flat = object.flatten();
      auto at = flat.begin();
      std::advance(at, std::uniform_int_distribution<std::size_t>(0, flat.size() - 1)(random));
      object[Json::json_pointer(at.key())] = RandomJson(random, 3);
    }
    const auto faults = ValidateNodePoolAutoscaler(object);
    EXPECT_EQ(ParseNodePoolAutoscaler(object).has_value(), faults.empty());
    for (const FieldError& fault : faults) EXPECT_FALSE(fault.ToString().empty());
    ValidateNodePoolAutoscalerUpdate(object, Good());
    ValidateNodePoolAutoscalerUpdate(Good(), object);
  }
}

}  // namespace
}  // namespace yad
