// Groups that receive a share of the pools: the choice of the pools, and its effect in a rollout.
#include "operator/yurtappdaemon/rollout/percent_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/unit/yurtappdaemon/rolling_update_fixture.h"

namespace yad {
namespace {

using namespace testing;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSubsetOf;
using ::testing::SizeIs;

Json Share(const std::string& name, int percent) { return {{"name", name}, {"percent", percent}}; }

RollingUpdate WithGroups(const std::vector<Json>& groups) {
  const Json strategy = {{"type", "RollingUpdate"}, {"rollingUpdate", {{"groups", groups}}}};
  FieldErrors errors;
  return ReadUpdateStrategy({&strategy, "spec.updateStrategy"}, errors).rolling;
}

// Returns the pools "p0", "p1" …
std::vector<NodePool> Pools(std::size_t count) {
  std::vector<NodePool> pools(count);
  for (std::size_t i = 0; i < count; ++i) pools[i].name = "p" + std::to_string(i);
  return pools;
}

struct Assigned {
  std::map<std::string, std::vector<std::string>> pools;  // by group
  std::string annotation;
};

Assigned Assign(const std::vector<Json>& groups, const std::vector<NodePool>& pools, const std::string& stored = "",
                const std::string& revision = "web-5c9d7f") {
  const RollingUpdate strategy = WithGroups(groups);
  std::vector<const NodePool*> all;
  for (const NodePool& pool : pools) all.push_back(&pool);
  const PoolGroups assigned = AssignGroups(strategy, all, revision, stored);
  Assigned result{{}, assigned.percent_groups};
  for (std::size_t i = 0; i < pools.size(); ++i)
    result.pools[strategy.groups[assigned.of_pool[i]].name].push_back(pools[i].name);
  return result;
}

TEST(PercentGroupsTest, ShareIsRoundedUp) {
  const auto size = [](int percent, std::size_t pools) {
    return Assign({Share("canary", percent)}, Pools(pools)).pools["canary"].size();
  };
  EXPECT_EQ(size(1, 10), 1U);
  EXPECT_EQ(size(10, 10), 1U);
  EXPECT_EQ(size(11, 10), 2U);
  EXPECT_EQ(size(34, 3), 2U);
  EXPECT_EQ(size(100, 7), 7U);
  EXPECT_EQ(size(10, 5000), 500U);
  EXPECT_EQ(size(50, 0), 0U);
}

TEST(PercentGroupsTest, ShareIsAPercentageOfAllPoolsAndTakesNoPoolOfAnEarlierGroup) {
  const std::vector<Json> groups{{{"name", "lab"}, {"pools", {"p0", "p1"}}}, Share("first", 20), Share("second", 50)};
  Assigned assigned = Assign(groups, Pools(10));
  EXPECT_THAT(assigned.pools["lab"], ElementsAre("p0", "p1"));
  EXPECT_THAT(assigned.pools["first"], SizeIs(2));
  EXPECT_THAT(assigned.pools["second"], SizeIs(5));
  EXPECT_THAT(assigned.pools[kDefaultGroup], SizeIs(1));
  EXPECT_EQ(Assign(groups, Pools(10), assigned.annotation).pools, assigned.pools) << "a restart keeps the pools";
  EXPECT_THAT(Assign({groups[0], Share("first", 90)}, Pools(10)).pools["first"], SizeIs(8))
      << "the group gets all remaining pools";
  const std::vector<Json> named_later{Share("first", 50), {{"name", "lab"}, {"nodepoolSelector", Json::object()}}};
  EXPECT_THAT(Assign(named_later, Pools(10)).pools["lab"], SizeIs(5));
}

TEST(PercentGroupsTest, StrategyWithoutSharesHasNoAnnotation) {
  const Assigned assigned = Assign({{{"name", "lab"}, {"pools", {"p0"}}}}, Pools(2), "{}");
  EXPECT_EQ(assigned.annotation, "");
  EXPECT_EQ(assigned.pools.at("lab"), std::vector<std::string>{"p0"});
}

TEST(PercentGroupsTest, NewPoolsDoNotJoinAStoredGroup) {
  const std::vector<Json> groups{Share("first", 30), Share("second", 30)};
  const Assigned before = Assign(groups, Pools(10));
  Assigned after = Assign(groups, Pools(1000), before.annotation);
  EXPECT_EQ(after.pools["first"], before.pools.at("first"));
  EXPECT_EQ(after.pools["second"], before.pools.at("second"));
  EXPECT_EQ(after.annotation, before.annotation);
  EXPECT_THAT(Assign(groups, Pools(1000)).pools["first"], SizeIs(300)) << "the annotation alone keeps the group small";
  EXPECT_THAT(Assign(groups, {}, before.annotation).annotation, before.annotation) << "pools that leave may return";
}

TEST(PercentGroupsTest, EachRevisionChoosesItsOwnPools) {
  std::map<std::string, int> first;
  constexpr int kRevisions = 2000;
  for (int i = 0; i < kRevisions; ++i) {
    const std::string revision = "web-" + std::to_string(1'000'000 + i * 7919);
    ++first[Assign({Share("canary", 10)}, Pools(10), "", revision).pools["canary"].front()];
  }
  EXPECT_THAT(first, SizeIs(10));
  for (const auto& [pool, times] : first) {
    EXPECT_GT(times, kRevisions / 10 - 60) << pool;
    EXPECT_LT(times, kRevisions / 10 + 60) << pool;
  }
}

TEST(PercentGroupsTest, MalformedAnnotationCountsAsAbsent) {
  const std::vector<Json> groups{Share("canary", 30)};
  const Assigned wanted = Assign(groups, Pools(10));
  for (const char* stored :
       {"", "text", "[]", "7", "{", R"({"canary": 7})", R"({"canary": {"percent": 30}})",
        R"({"canary": {"percent": "30", "pools": ""}})", R"({"canary": {"percent": 30, "pools": "0123"}})",
        R"({"canary": {"percent": 30, "pools": "0123456x"}})", R"({"canary": {"percent": 30, "pools": ["p1"]}})",
        R"({"other": {"percent": 30, "pools": "01234567"}})"}) {
    const Assigned assigned = Assign(groups, Pools(10), stored);
    EXPECT_EQ(assigned.pools, wanted.pools) << stored;
    EXPECT_EQ(assigned.annotation, wanted.annotation) << stored;
  }
}

TEST(PercentGroupsTest, PoolsAreChosenAgainInTheSameOrderIfThePercentageChanges) {
  const std::vector<Json> groups{Share("first", 10), Share("second", 20)};
  const Assigned before = Assign(groups, Pools(20));
  Assigned more = Assign({Share("first", 10), Share("second", 50)}, Pools(20), before.annotation);
  EXPECT_EQ(more.pools["first"], before.pools.at("first"));
  EXPECT_THAT(more.pools["second"], SizeIs(10));
  EXPECT_THAT(before.pools.at("second"), IsSubsetOf(more.pools["second"]));
  EXPECT_NE(more.annotation, before.annotation);
  // If an earlier group lists one of these pools, the group with the share loses the pool without a replacement.
  const std::string taken = before.pools.at("second").front();
  Assigned named = Assign({{{"name", "lab"}, {"pools", {taken}}}, groups[0], groups[1]}, Pools(20), before.annotation);
  EXPECT_THAT(named.pools["second"], SizeIs(3));
  EXPECT_THAT(named.pools["second"], IsSubsetOf(before.pools.at("second")));
}

TEST(PercentGroupsTest, RandomJoinsAndRestartsChangeTheGroupOfNoPool) {
  std::mt19937 random(20260517);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int run = 0; run < 50; ++run) {
    const std::vector<Json> groups{Share("first", pick(1, 100)), Share("second", pick(1, 100)), Share("third", 1)};
    std::vector<NodePool> pools = Pools(static_cast<std::size_t>(pick(1, 40)));
    const Assigned before = Assign(groups, pools);
    std::map<std::string, std::string> group_of;
    for (const auto& [group, names] : before.pools) {
      for (const std::string& name : names) group_of[name] = group;
    }
    for (int joined = 0; joined < 20; ++joined) {
      pools.erase(pools.begin() + pick(0, static_cast<int>(pools.size()) - 1));
      pools.emplace_back().name = "late-" + std::to_string(joined);
      const Assigned after = Assign(groups, pools, before.annotation);
      EXPECT_EQ(after.annotation, before.annotation);
      for (const auto& [group, names] : after.pools) {
        for (const std::string& name : names)
          EXPECT_EQ(group, group_of.contains(name) ? group_of[name] : kDefaultGroup) << name;
      }
    }
  }
}

class PercentRolloutTest : public RollingUpdateTest {
 protected:
  static constexpr int kPools = 8;

  // Creates a daemon with pools "p0" to "p7", of which a quarter is the canary.
  void DeployedWithCanary() {
    std::vector<std::string> names;
    for (int i = 0; i < kPools; ++i) names.push_back("p" + std::to_string(i));
    Deployed(names, {{"groups", Json::array({Share("canary", 25)})}, {"maxUnavailable", "100%"}});
  }
  // Returns the pools whose workload has this image.
  std::vector<std::string> PoolsOn(const std::string& image) {
    std::vector<std::string> pools;
    for (const Json& workload : world_.Workloads()) {
      if (ImageOf(workload) == image)
        pools.push_back(StringAt(workload, {"metadata", "annotations", kRefNodePoolAnnotation}));
    }
    return pools;
  }
  std::vector<std::string> Stored() {
    std::vector<std::string> stored;
    for (const Json& revision : world_.Revisions()) {
      const std::string groups = StringAt(revision, {"metadata", "annotations", kPercentGroupsAnnotation});
      if (!groups.empty()) stored.push_back(groups);
    }
    return stored;
  }
  // Makes the operator's PATCHes of ControllerRevisions fail, until world_.cluster.SetFaults(nullptr).
  void RejectRevisions() {
    world_.cluster.SetFaults([](const WriteRecord& write, const Json&) -> std::optional<FakeCluster::Fault> {
      if (write.method != "PATCH" || write.resource != kControllerRevisionType.resource) return std::nullopt;
      return FakeCluster::Fault{StatusResponse(500, "InternalError", "no"), false};
    });
  }
};

INSTANTIATE_TEST_SUITE_P(Kind, PercentRolloutTest,
                         ::testing::Values(WorkloadKind::kDeployment, WorkloadKind::kStatefulSet));

TEST_P(PercentRolloutTest, GroupIsStoredBeforeTheFirstUpdateAndKeptByTheNextLeader) {
  Play([&] {
    DeployedWithCanary();
    EXPECT_THAT(Stored(), IsEmpty()) << "no rollout has started yet";
    world_.SetImage("app:2");
    Step();
    const std::vector<std::string> canary = PoolsOn("app:2");
    EXPECT_THAT(canary, SizeIs(2));
    EXPECT_THAT(Stored(), SizeIs(1));
    const std::vector<std::string> writes = world_.Writes();
    const auto at = [&](const std::string& text) {
      return std::find_if(writes.begin(), writes.end(), [&](const std::string& w) { return w.starts_with(text); });
    };
    EXPECT_LT(at("PATCH controllerrevisions "), at("PUT " + world_.type().resource + " "));
    EXPECT_NE(at("PUT "), writes.end());
    Step();
    EXPECT_EQ(PoolsOn("app:2"), canary);
    EXPECT_THAT(Message(), HasSubstr("group \"canary\" (1 of 2): 0 of 2 pools are updated"));
    for (const std::string& pool : canary) Heal(pool);
    Step();
    EXPECT_THAT(PoolsOn("app:2"), SizeIs(kPools));
    EXPECT_THAT(Stored(), SizeIs(1));
    EXPECT_THAT(world_.Revisions(), SizeIs(2));
  });
}

TEST_P(PercentRolloutTest, FailedWriteOfTheGroupStartsNoUpdate) {
  DeployedWithCanary();
  world_.EditDaemon([](Json& d) { TemplateOf(d)["spec"]["replicas"] = 5; });
  world_.SetImage("app:2");
  RejectRevisions();
  for (int i = 0; i < 5; ++i) (void)world_.Reconcile();
  EXPECT_EQ(world_.Reconcile()->next, ReconcileResult::Next::kBackoff);
  EXPECT_THAT(PoolsOn("app:2"), IsEmpty());
  EXPECT_THAT(Stored(), IsEmpty());
  for (const Json& workload : world_.Workloads()) EXPECT_NE(workload["spec"]["replicas"], 5);
  world_.cluster.SetFaults(nullptr);
  Look();
  EXPECT_THAT(PoolsOn("app:2"), SizeIs(2));
}

TEST_P(PercentRolloutTest, GroupThatAPolicyRemovesStartsNoUpdateAndDelaysNothingElse) {
  DeployedWithCanary();
  world_.cluster.SetMutation([](const ResourceType&, const Json&, Json& object) {
    if (object["metadata"].contains("annotations")) object["metadata"]["annotations"].erase(kPercentGroupsAnnotation);
  });
  world_.SetImage("app:2");
  DeleteWorkload("p0");
  for (int i = 0; i < 4; ++i) {
    const auto result = world_.Reconcile();
    ASSERT_TRUE(result);
    if (i > 0) {
      EXPECT_EQ(result->next, ReconcileResult::Next::kBackoff);
      EXPECT_GT(result->after, Duration(seconds(5)));
    }
    world_.clock.Advance(seconds(2));
  }
  EXPECT_THAT(PoolsOn("app:1"), SizeIs(kPools));
  EXPECT_EQ(Progressing(), "True Frozen");
  EXPECT_THAT(Message(), HasSubstr("the apiserver did not keep annotation apps.openyurt.io/percent-groups"));
  world_.cluster.SetMutation(nullptr);
  Look();
  EXPECT_THAT(PoolsOn("app:2"), SizeIs(2));
}

TEST_P(PercentRolloutTest, NewPoolsDoNotRestartTheCanaryGroup) {
  Play([&] {
    DeployedWithCanary();
    world_.SetImage("app:2");
    Step();
    const std::vector<std::string> canary = PoolsOn("app:2");
    for (int i = 0; i < 40; ++i) world_.AddPool("late-" + std::to_string(i));
    Step();
    EXPECT_EQ(PoolsOn("app:2"), canary) << "the workloads of joining pools get the current revision";
    EXPECT_THAT(Message(), HasSubstr("group \"canary\" (1 of 2): 0 of 2 pools are updated"));
    for (const std::string& pool : canary) Heal(pool);
    Step();
    EXPECT_THAT(Message(), HasSubstr("group \"default\" (2 of 2): "));
    world_.AddPool("later");
    Step();
    EXPECT_THAT(Message(), HasSubstr("group \"default\" (2 of 2): "));
  });
}

TEST_P(PercentRolloutTest, ANewRevisionChoosesItsPoolsAgain) {
  DeployedWithCanary();
  std::set<std::vector<std::string>> chosen;
  for (int i = 2; i < 8; ++i) {
    world_.SetImage("app:" + std::to_string(i));
    Look();
    chosen.insert(PoolsOn("app:" + std::to_string(i)));
    world_.Converge(20);
  }
  EXPECT_GT(chosen.size(), 3U);
  EXPECT_THAT(chosen, Each(SizeIs(2)));
}

// An operator without support for the field assigns every pool to group default.
TEST_P(PercentRolloutTest, RolloutThatAnOlderOperatorStartedContinuesWithItsUpdatedPools) {
  std::vector<std::string> names;
  for (int i = 0; i < kPools; ++i) names.push_back("p" + std::to_string(i));
  Deployed(names, {{"maxUnavailable", 3}});
  world_.SetImage("app:2");
  Look();
  const std::vector<std::string> updated = PoolsOn("app:2");
  ASSERT_THAT(updated, ElementsAre("p0", "p1", "p2"));
  Strategy("groups", Json::array({Share("canary", 25)}));
  world_.Restart();
  world_.cluster.ClearWrites();
  Look();
  EXPECT_EQ(PoolsOn("app:2"), updated);
  EXPECT_THAT(world_.Writes(), Each(Not(HasSubstr(world_.type().resource))));
  for (const std::string& pool : updated) Heal(pool);
  Look();
  EXPECT_THAT(Stored(), SizeIs(1));
  EXPECT_THAT(updated, IsSubsetOf(PoolsOn("app:2")));
  world_.Converge(20);
  EXPECT_EQ(Progressing(), "True RolloutComplete");
}

TEST_P(PercentRolloutTest, InvalidAnnotationIsRewrittenWithTheSameGroup) {
  DeployedWithCanary();
  Strategy("maxUnavailable", 1);
  world_.SetImage("app:2");
  Look();
  const std::vector<std::string> stored = Stored();
  ASSERT_THAT(stored, SizeIs(1));
  const std::string update = StringAt(world_.Status(), {"updateRevision"});
  world_.cluster.Edit(kControllerRevisionType, {kNs, update}, [](Json& revision) {
    revision["metadata"]["annotations"][kPercentGroupsAnnotation] = "{\"canary\":";
  });
  for (const std::string& pool : PoolsOn("app:2")) Heal(pool);
  Look();
  EXPECT_EQ(Stored(), stored);
  EXPECT_THAT(PoolsOn("app:2"), SizeIs(2));
}

TEST_P(PercentRolloutTest, ChangeOfTheShareCreatesNoRevision) {
  DeployedWithCanary();
  Strategy("groups", Json::array({Share("canary", 50)}));
  Look();
  EXPECT_THAT(world_.Revisions(), SizeIs(1));
  EXPECT_THAT(Stored(), IsEmpty());
  world_.SetImage("app:2");
  Look();
  EXPECT_THAT(PoolsOn("app:2"), SizeIs(4));
  // The share grows in the middle of the rollout. The group keeps its pools and receives more.
  const std::vector<std::string> before = PoolsOn("app:2");
  Strategy("groups", Json::array({Share("canary", 75)}));
  Look();
  EXPECT_THAT(PoolsOn("app:2"), SizeIs(6));
  EXPECT_THAT(before, IsSubsetOf(PoolsOn("app:2")));
  EXPECT_THAT(world_.Revisions(), SizeIs(2));
}

}  // namespace
}  // namespace yad
