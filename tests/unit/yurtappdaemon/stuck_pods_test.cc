#include "operator/yurtappdaemon/stuck_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/yurtappdaemon/pods.h"
#include "tests/unit/yurtappdaemon/world.h"

namespace yad {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class StuckPodsTest : public ::testing::Test {
 protected:
  StuckPodsTest() {
    world_.AddPool("a");
    world_.CreateDaemon(DaemonJson("app:1", WorkloadKind::kStatefulSet));
    world_.Converge();
    name_ = world_.NameOf("a");
    uid_ = StringAt(world_.Workload("a"), {"metadata", "uid"});
    world_.EditWorkload("a", [](Json& set) { set["status"]["updateRevision"] = "new"; });
  }
  void AddPod(int ordinal, const std::string& revision, bool ready, const std::string& owner = "",
              std::chrono::seconds before = std::chrono::seconds(1)) {
    Json pod = {{"metadata",
                 {{"name", name_ + "-" + std::to_string(ordinal)},
                  {"namespace", kNs},
                  {"labels", {{kPoolNameLabel, "a"}, {"controller-revision-hash", revision}}}}},
                {"status",
                 {{"conditions",
                   {{{"type", "Ready"},
                     {"status", ready ? "True" : "False"},
                     {"lastTransitionTime", FormatTime(kSince - before)}}}}}}};
    pod["metadata"]["ownerReferences"] = {{{"apiVersion", "apps/v1"},
                                           {"kind", "StatefulSet"},
                                           {"name", name_},
                                           {"uid", owner.empty() ? uid_ : owner},
                                           {"controller", true}}};
    world_.cluster.Create(kPodType, pod);
  }
  std::vector<std::string> Replace() {
    const auto deleted = ReplaceStuckPods(world_.client, {kNs, name_}, uid_, kSince, {});
    EXPECT_TRUE(deleted) << deleted.error().ToString();
    return deleted.value_or(std::vector<std::string>{});
  }

  static constexpr WallTime kSince{std::chrono::seconds(1800000000)};
  World world_;
  std::string name_, uid_;
};

TEST_F(StuckPodsTest, OnlyPodsOfAnOlderTemplateThatAreNotReadyAndNobodyElses) {
  AddPod(0, "old", false);
  AddPod(1, "old", true);
  AddPod(2, "new", false);
  AddPod(3, "old", false, "somebody else");
  EXPECT_THAT(Replace(), ElementsAre(name_ + "-0"));
  EXPECT_EQ(world_.cluster.List(kPodType).size(), 3U);
  EXPECT_THAT(Replace(), IsEmpty());
}

TEST_F(StuckPodsTest, OneThatWasReadyJustNowIsLeftAlone) {
  AddPod(0, "old", false, "", std::chrono::seconds(0));
  AddPod(1, "old", false, "", std::chrono::seconds(-1));
  EXPECT_THAT(Replace(), ElementsAre(name_ + "-0"));
  world_.cluster.Edit(kPodType, {kNs, name_ + "-1"}, [](Json& pod) { pod["status"] = Json::object(); });
  world_.cluster.SetCreated(kPodType, {kNs, name_ + "-1"}, FormatTime(kSince + std::chrono::seconds(1)));
  EXPECT_THAT(Replace(), IsEmpty()) << "just made, and no kubelet has seen it";
  world_.cluster.SetCreated(kPodType, {kNs, name_ + "-1"}, FormatTime(kSince));
  EXPECT_THAT(Replace(), ElementsAre(name_ + "-1"));
}

TEST_F(StuckPodsTest, AClockOfItsNodeThatIsAheadKeepsNone) {
  AddPod(0, "old", false, "", std::chrono::seconds(-20));
  AddPod(1, "old", false, "", std::chrono::hours(-2));
  EXPECT_THAT(Replace(), ElementsAre(name_ + "-1"));
}

TEST_F(StuckPodsTest, WhatItsOwnPartitionHoldsStays) {
  world_.EditWorkload("a", [](Json& set) { set["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = 1; });
  world_.EditWorkload("a", [](Json& set) { set["status"]["observedGeneration"] = set["metadata"]["generation"]; });
  AddPod(0, "old", false);
  AddPod(1, "old", false);
  EXPECT_THAT(Replace(), ElementsAre(name_ + "-1"));
}

TEST_F(StuckPodsTest, NothingIsDeletedWhileTheStatusSpeaksOfAnotherTemplateOrOfAnotherStatefulSet) {
  AddPod(0, "old", false);
  world_.EditWorkload("a", [](Json& set) { set["status"]["observedGeneration"] = 0; });
  EXPECT_THAT(Replace(), IsEmpty());
  world_.EditWorkload("a", [](Json& set) { set["status"]["observedGeneration"] = 1; });
  uid_ = "another";
  EXPECT_THAT(Replace(), IsEmpty());
  EXPECT_EQ(world_.cluster.List(kPodType).size(), 1U);
}

}  // namespace
}  // namespace yad
