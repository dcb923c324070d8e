#include "operator/yurtappdaemon/plan/removal_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/yurtappdaemon/builders.h"

namespace yad::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(RemovalLimitTest, ReadsOnlyNumbersAndPercentages) {
  for (const char* text : {"0", "20", "1000000", "0%", "10%", "100%"}) {
    const auto limit = ParseRemovalLimit(text);
    ASSERT_TRUE(limit) << text;
    EXPECT_EQ(limit->ToString(), text);
  }
  for (const char* text : {"", "%", "-1", "-5%", "101%", "1000001", "10 %", " 10", "10%%", "ten", "1.5", "1e3", "0x10",
                           "99999999999999999999", "+5"}) {
    const auto limit = ParseRemovalLimit(text);
    ASSERT_FALSE(limit) << text;
    EXPECT_THAT(limit.error().message, HasSubstr("\"" + std::string(text) + "\""));
  }
}

TEST(RemovalLimitTest, APercentageIsRoundedUp) {
  EXPECT_EQ(ParseRemovalLimit("10%")->Of(11), 2U);
  EXPECT_EQ(ParseRemovalLimit("10%")->Of(10), 1U);
  EXPECT_EQ(ParseRemovalLimit("10%")->Of(1), 1U);
  EXPECT_EQ(ParseRemovalLimit("0%")->Of(5000), 0U);
  EXPECT_EQ(ParseRemovalLimit("100%")->Of(5000), 5000U);
  EXPECT_EQ(ParseRemovalLimit("7")->Of(3), 7U);
}

class RemovalGuardTest : public ::testing::Test {
 protected:
  // Adds workloads of pools a to e, which the daemon does not select.
  RemovalGuardTest() {
    for (const char* pool : {"a", "b", "c", "d", "e"}) {
      objects_.workloads.push_back(WorkloadJson(objects_.daemon, objects_.update(), PoolJson(pool)));
    }
  }
  void Limit(const std::string& limit) { facts_.limit = *ParseRemovalLimit(limit); }
  void Allow(const std::string& token) { objects_.daemon["metadata"]["annotations"][kAllowRemovalAnnotation] = token; }
  void Mark(std::size_t index, const std::string& token) {
    objects_.workloads[index]["metadata"]["annotations"][kRemovalAllowedAnnotation] = token;
  }
  Plan GuardedPlan() {
    PlanMemo memo;
    const Snapshot snapshot = objects_.Take();
    Plan plan = MakePlan(snapshot, memo);
    GuardRemovals(snapshot.daemon, facts_, plan);
    return plan;
  }
  // Returns the pools whose workloads are removed, with a "+" if an approval has allowed the removal.
  static std::vector<std::string> Removed(const Plan& plan) {
    std::vector<std::string> pools;
    for (const Removal& removal : plan.removals)
      pools.push_back(removal.workload.pool + (removal.mark.empty() ? "" : "+"));
    std::sort(pools.begin(), pools.end());
    return pools;
  }
  static std::vector<std::string> Held(const Plan& plan) {
    std::vector<std::string> pools;
    for (const WorkloadRef& workload : plan.postponed.workloads) pools.push_back(workload.pool);
    std::sort(pools.begin(), pools.end());
    return pools;
  }

  ClusterObjects objects_;
  RemovalFacts facts_;
};

TEST_F(RemovalGuardTest, RemovesAllWorkloadsWithoutALimit) {
  facts_.settled = false;
  EXPECT_THAT(Removed(GuardedPlan()), ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(Held(GuardedPlan()), IsEmpty());
}

TEST_F(RemovalGuardTest, RemovesNoWorkloadsAboveTheLimit) {
  Limit("5");
  EXPECT_THAT(Removed(GuardedPlan()), SizeIs(5));
  Limit("4");
  const Plan plan = GuardedPlan();
  EXPECT_THAT(Removed(plan), IsEmpty());
  EXPECT_THAT(Held(plan), ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_TRUE(plan.postponed.blocked());
  EXPECT_EQ(plan.postponed.reason, "TooManyRemovals");
  EXPECT_THAT(plan.postponed.message,
              AllOf(HasSubstr("5 pools"), HasSubstr("--max-removals=4 allows 4"),
                    HasSubstr("kubectl annotate yad web -n ns --overwrite apps.openyurt.io/allow-removal=" +
                              plan.postponed.token + "."),
                    HasSubstr("a, b, c, d, e")));
  Limit("0");
  objects_.workloads.resize(1);
  EXPECT_THAT(Held(GuardedPlan()), ElementsAre("a"));
}

TEST_F(RemovalGuardTest, APercentageCountsThePoolsThatHaveWorkloads) {
  // Ten pools have workloads, and five of them are selected; one more pool has no workload.
  for (const char* pool : {"f", "g", "h", "i", "j"}) {
    objects_.pools.push_back(PoolJson(pool));
    objects_.workloads.push_back(WorkloadJson(objects_.daemon, objects_.update(), PoolJson(pool)));
  }
  objects_.pools.push_back(PoolJson("k"));
  Limit("50%");
  EXPECT_THAT(Removed(GuardedPlan()), SizeIs(5));
  Limit("40%");
  EXPECT_THAT(GuardedPlan().postponed.message, HasSubstr("--max-removals=40% of 10 pools allows 4"));
}

TEST_F(RemovalGuardTest, ADuplicateDoesNotCountAsARemoval) {
  Limit("0");
  objects_.workloads.resize(1);
  objects_.pools = {PoolJson("a")};
  Json second = objects_.workloads[0];
  second["metadata"]["name"] = "web-a-second";
  second["metadata"]["uid"] = "uid-second";
  objects_.workloads.push_back(second);
  EXPECT_THAT(Removed(GuardedPlan()), ElementsAre("a"));
  // A pool that leaves counts once, even if it has two workloads.
  objects_.pools.clear();
  Limit("1");
  EXPECT_THAT(Removed(GuardedPlan()), SizeIs(2));
}

TEST_F(RemovalGuardTest, RemovalsAreUndecidedWhileFurtherPoolsMayLeave) {
  Limit("5");
  facts_.settled = false;
  const Plan plan = GuardedPlan();
  EXPECT_THAT(Removed(plan), IsEmpty());
  EXPECT_THAT(Held(plan), SizeIs(5));
  EXPECT_TRUE(plan.postponed.undecided());
  EXPECT_FALSE(plan.postponed.blocked());
}

TEST_F(RemovalGuardTest, TheTokenDependsOnTheSetOfWorkloadsAndNotOnTheirOrder) {
  Limit("0");
  const std::string token = GuardedPlan().postponed.token;
  EXPECT_THAT(token, SizeIs(16));
  std::reverse(objects_.workloads.begin(), objects_.workloads.end());
  EXPECT_EQ(GuardedPlan().postponed.token, token);
  Json last = objects_.workloads.back();
  objects_.workloads.pop_back();
  EXPECT_NE(GuardedPlan().postponed.token, token);
  // A workload that is created again for the same pool needs another token.
  last["metadata"]["uid"] = "uid-2";
  objects_.workloads.push_back(last);
  EXPECT_NE(GuardedPlan().postponed.token, token);
}

TEST_F(RemovalGuardTest, TheTokenAllowsOnlyTheSetThatItNames) {
  Limit("1");
  Allow(GuardedPlan().postponed.token);
  facts_.settled = false;  // Allowed removals do not wait.
  EXPECT_THAT(Removed(GuardedPlan()), ElementsAre("a+", "b+", "c+", "d+", "e+"));
  facts_.settled = true;
  objects_.workloads.push_back(WorkloadJson(objects_.daemon, objects_.update(), PoolJson("f")));
  EXPECT_THAT(Removed(GuardedPlan()), IsEmpty());
  EXPECT_THAT(Held(GuardedPlan()), SizeIs(6));
  objects_.workloads.resize(4);
  EXPECT_THAT(Removed(GuardedPlan()), IsEmpty());
  EXPECT_THAT(Held(GuardedPlan()), SizeIs(4));
}

TEST_F(RemovalGuardTest, RemovesMarkedWorkloadsIfOtherPoolsLeave) {
  Limit("1");
  const std::string token = GuardedPlan().postponed.token;
  Allow(token);
  for (std::size_t i = 0; i < 5; ++i) Mark(i, token);
  // Two workloads no longer exist. The other three have another token.
  objects_.workloads.erase(objects_.workloads.begin(), objects_.workloads.begin() + 2);
  EXPECT_THAT(Removed(GuardedPlan()), ElementsAre("c+", "d+", "e+"));
  facts_.settled = false;
  EXPECT_THAT(Removed(GuardedPlan()), ElementsAre("c+", "d+", "e+"));
  facts_.settled = true;
  // Two more removals exceed the limit, and only these are blocked.
  for (const char* pool : {"x", "y"}) {
    objects_.workloads.push_back(WorkloadJson(objects_.daemon, objects_.update(), PoolJson(pool)));
  }
  EXPECT_THAT(Removed(GuardedPlan()), ElementsAre("c+", "d+", "e+"));
  EXPECT_THAT(Held(GuardedPlan()), ElementsAre("x", "y"));
}

TEST_F(RemovalGuardTest, MarkHasNoEffectWithoutItsToken) {
  Limit("1");
  const std::string token = GuardedPlan().postponed.token;
  for (std::size_t i = 0; i < 5; ++i) Mark(i, token);
  objects_.workloads.pop_back();
  EXPECT_THAT(Held(GuardedPlan()), SizeIs(4)) << "the daemon lacks the approval";
  Allow("another");
  EXPECT_THAT(Held(GuardedPlan()), SizeIs(4));
  for (std::size_t i = 0; i < 4; ++i) Mark(i, "");
  Allow("");
  EXPECT_THAT(Held(GuardedPlan()), SizeIs(4));
}

TEST_F(RemovalGuardTest, BlocksRemovalsWithinTheLimitIfTheirApprovalWasWithdrawn) {
  Limit("5");
  for (std::size_t i = 0; i < 5; ++i) Mark(i, "0123456789abcdef");
  const Plan plan = GuardedPlan();
  EXPECT_THAT(Removed(plan), IsEmpty());
  EXPECT_THAT(Held(plan), SizeIs(5));
  EXPECT_EQ(plan.postponed.reason, "TooManyRemovals");
  EXPECT_THAT(plan.postponed.message, HasSubstr("5 pools: an earlier approval of removals was withdrawn. To allow"));
  // A second approval allows them. The number of workloads that already have its mark does not matter.
  const std::string token = plan.postponed.token;
  Allow(token);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_THAT(Removed(GuardedPlan()), ElementsAre("a+", "b+", "c+", "d+", "e+"));
    Mark(i, token);
  }
  EXPECT_THAT(Removed(GuardedPlan()), ElementsAre("a+", "b+", "c+", "d+", "e+"));
}

TEST_F(RemovalGuardTest, MarksTheRemainingWorkloadsAfterACrash) {
  Limit("1");
  const std::string token = GuardedPlan().postponed.token;
  Allow(token);
  Mark(0, token);
  Mark(3, token);
  EXPECT_THAT(Removed(GuardedPlan()), ElementsAre("a+", "b+", "c+", "d+", "e+"));
}

TEST_F(RemovalGuardTest, WorkloadsOfPoolsThatWereDeletedWithTheirCrdAreKeptEvenWithoutALimit) {
  facts_.lost = {"uid-of-a", "uid-of-c"};
  Plan plan = GuardedPlan();
  EXPECT_THAT(Removed(plan), ElementsAre("b", "d", "e"));
  EXPECT_THAT(Held(plan), ElementsAre("a", "c"));
  EXPECT_EQ(plan.postponed.reason, "NodePoolCRDDeleted");
  EXPECT_THAT(plan.postponed.message, HasSubstr("a, c"));
  Limit("4");
  EXPECT_EQ(GuardedPlan().postponed.reason, "TooManyRemovals");
  EXPECT_THAT(Held(GuardedPlan()), SizeIs(5));
  facts_.limit.reset();
  Allow(plan.postponed.token);
  EXPECT_THAT(Removed(GuardedPlan()), ElementsAre("a+", "b", "c+", "d", "e"));
}

TEST_F(RemovalGuardTest, MessageForManyLongPoolNamesIsBounded) {
  objects_.daemon["metadata"]["name"] = std::string(253, 'n');
  objects_.daemon["metadata"]["namespace"] = std::string(63, 's');
  objects_.workloads.clear();
  for (char c = 'a'; c <= 'z'; ++c) {
    objects_.workloads.push_back(WorkloadJson(objects_.daemon, objects_.update(), PoolJson(std::string(63, c))));
  }
  Limit("1");
  const std::string message = GuardedPlan().postponed.message;
  EXPECT_LE(message.size(), 1024U);
  EXPECT_THAT(message, HasSubstr(" and 21 more"));
}

}  // namespace
}  // namespace yad::testing
