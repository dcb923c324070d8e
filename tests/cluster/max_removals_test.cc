// --max-removals, which blocks a large number of removals, and NodePools that are deleted together with their CRD.
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "tests/cluster/fixture.h"
#include "tests/cluster/gated.h"

namespace yad::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kPoolCrd[] = "nodepools.apps.openyurt.io";

class MaxRemovalsTest : public ClusterTest {
 protected:
  // Blocks until condition RemovalBlocked is True with another token than `before`. Returns the token.
  std::string WaitUntilBlocked(const std::string& daemon, const std::string& before = "") {
    std::string token;
    Eventually(daemon + ": removals are blocked", [&]() -> std::string {
      const Json condition = ConditionOf(GetDaemon(daemon), "RemovalBlocked");
      token = TokenIn(StringAt(condition, {"message"}));
      return StringAt(condition, {"status"}) == "True" && token != before ? "" : condition.dump();
    });
    return token;
  }
  void WaitUntilNothingIsBlocked(const std::string& daemon) {
    Eventually("no removal is blocked",
               [&] { return ConditionStatus(GetDaemon(daemon), "RemovalBlocked") == "False"; });
  }
  static std::string TokenIn(const std::string& message) {
    const std::string begin = "(token ";
    const auto at = message.find(begin);
    return at == std::string::npos ? "" : message.substr(at + begin.size(), 16);
  }
  // Runs the command in the condition's message, as a user does.
  void DoAsTheMessageSays(const std::string& daemon) {
    const std::string message = StringAt(ConditionOf(GetDaemon(daemon), "RemovalBlocked"), {"message"});
    const auto begin = message.find("kubectl ");
    const auto end = message.find(". Pools:");
    ASSERT_TRUE(begin != std::string::npos && end != std::string::npos) << message;
    std::istringstream words(message.substr(begin, end - begin));
    std::vector<std::string> command{std::istream_iterator<std::string>(words), {}};
    command.erase(command.begin());
    plane().Kubectl(command);
  }
  void Allow(const std::string& daemon, const std::string& token) {
    kube().MergePatch(kYurtAppDaemonType, daemon,
                      {{"metadata", {{"annotations", {{kAllowRemovalAnnotation, token}}}}}});
  }
  std::map<std::string, std::string> Uids(const std::string& daemon) {
    std::map<std::string, std::string> uids;
    for (const auto& [pool, workload] : ByPool(daemon)) uids[pool] = UidOf(workload);
    return uids;
  }
  std::size_t CountEvents(const std::string& reason) {
    std::size_t count = 0;
    for (const Json& event : EventsAbout("web")) count += StringAt(event, {"reason"}) == reason;
    return count;
  }
};

TEST_F(MaxRemovalsTest, RemovalsAboveTheLimitNeedATokenAndLaterRemovalsNeedAnotherToken) {
  StartOperator({"--max-removals=25%"});
  const auto pools = AddPools(4);
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  const auto before = Uids("web");
  for (int i = 0; i < 3; ++i) Unselect(pools[i]);
  const std::string first = WaitUntilBlocked("web");
  const Json condition = ConditionOf(GetDaemon("web"), "RemovalBlocked");
  EXPECT_EQ(StringAt(condition, {"reason"}), "TooManyRemovals");
  EXPECT_THAT(StringAt(condition, {"message"}), HasSubstr("--max-removals=25% of 4 pools allows 1 together"));
  EXPECT_THAT(StringAt(condition, {"message"}), HasSubstr("Pools: " + pools[0] + ", " + pools[1] + ", " + pools[2]));
  EXPECT_EQ(StringAt(PoolStatus(GetDaemon("web"), pools[0]), {"phase"}), "Removing");
  EXPECT_EQ(StringAt(PoolStatus(GetDaemon("web"), pools[0]), {"reason"}), "RemovalBlocked");
  EXPECT_EQ(op().Metric("yurtappdaemon_blocked_removals", {"name=\"web\""}), 3);
  // Only removals are blocked, and a wrong token does not allow them.
  SetImage("web", "example.org/app:2");
  Allow("web", "0123456789abcdef");
  WaitForStatus("web", "is rolled out", [](const Json& status) {
    return At(status, "/updatedPools") == 1 && At(status, "/currentRevision") == At(status, "/updateRevision");
  });
  EXPECT_EQ(ImageOf(WorkloadOf("web", pools[3])), "example.org/app:2");
  EXPECT_EQ(Uids("web"), before);

  // The daemon selects one pool again. The token for three removals does not allow the remaining two.
  Select(pools[2]);
  const std::string second = WaitUntilBlocked("web", first);
  Allow("web", first);
  Barrier();
  EXPECT_EQ(Uids("web"), before);
  Eventually("both blocked removals are reported", [&] { return CountEvents("RemovalBlocked") == 2; });
  DoAsTheMessageSays("web");
  WaitForPools("web", {pools[2], pools[3]});
  WaitUntilNothingIsBlocked("web");
  EXPECT_EQ(op().Metric("yurtappdaemon_blocked_removals", {"name=\"web\""}), 0);

  // Deselects the same two pools again.
  Select(pools[0]);
  Select(pools[1]);
  WaitForPools("web", pools);
  Unselect(pools[0]);
  Unselect(pools[1]);
  WaitUntilBlocked("web", second);
  WaitForPools("web", pools);
  // The limit does not block the deletion of the daemon.
  kube().Delete(kYurtAppDaemonType, "web");
  Eventually("the daemon's workloads are gone", [&] { return kube().List(type()).empty(); });
}

TEST_F(MaxRemovalsTest, RemovalsWithinTheLimitNeedNoToken) {
  StartOperator({"--max-removals=2"});
  const auto pools = AddPools(3);
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  Unselect(pools[0]);
  DeletePool(pools[1]);
  WaitForPools("web", {pools[2]});
  EXPECT_TRUE(ConditionOf(GetDaemon("web"), "RemovalBlocked").is_null());
}

class KilledWhileRemovingTest : public Gated<MaxRemovalsTest> {
 protected:
  // Returns two numbers: the annotations of workloads with the token of their removal, and the deletions. Omits the
  // first `skipped` writes.
  std::pair<int, int> MarksAndDeletions(std::size_t skipped) {
    const std::vector<std::string> writes = gate_.writes();
    int marks = 0;
    int deletions = 0;
    for (std::size_t i = skipped; i < writes.size(); ++i) {
      if (writes[i].find("/" + type().resource + "/") == std::string::npos) continue;
      ++(writes[i].starts_with("DELETE ") ? deletions : marks);
    }
    return {marks, deletions};
  }
};

// The operator annotates three workloads with the token of their removal, and then deletes them. `make test` kills it
// at the first deletion, and YAD_ALL=1 at each of the six writes.
TEST_F(KilledWhileRemovingTest, TheNextProcessFinishesTheAllowedRemovals) {
  const bool all = RunsEverything();
  for (int at = all ? 1 : 4; at <= (all ? 6 : 4); ++at) {
    SCOPED_TRACE("killed after write " + std::to_string(at));
    const std::string name = "web";
    StartOperator({"--max-removals=1"});
    std::vector<std::string> pools;
    for (const char* suffix : {"a", "b", "c", "d"}) pools.push_back(AddPool(suffix + std::to_string(at)));
    CreateDaemon(Daemon(name));
    WaitUntilReady(name);
    WaitForPools(name, pools);
    for (int i = 0; i < 3; ++i) Unselect(pools[i]);
    const std::string token = WaitUntilBlocked(name);
    const std::size_t before = gate_.writes().size();
    gate_.Arm(op().pid(), at);
    Allow(name, token);
    Eventually("the operator was killed", [&] { return gate_.killed(); });
    gate_.Disarm();
    const auto [marks, deletions] = MarksAndDeletions(before);
    EXPECT_THAT(ByPool(name), SizeIs(4 - deletions));
    EXPECT_TRUE(deletions == 0 || marks == 3) << "a workload was deleted before all three had the token";
    StartAgain({"--max-removals=1"});
    WaitForPools(name, {pools[3]});
    WaitUntilNothingIsBlocked(name);
    StopOperator();
    kube().Delete(kYurtAppDaemonType, name);
    Eventually("the daemon's workloads are gone", [&] { return kube().List(type()).empty(); });
    DeletePool(pools[3]);
  }
}

TEST_F(MaxRemovalsTest, DeletionOfTheNodePoolCrdRemovesNoWorkload) {
  const auto restore = [this](void*) { plane().ApplyCrds(); };
  const std::unique_ptr<void, decltype(restore)> restored(this, restore);
  StartOperator();
  const auto pools = AddPools(3);
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  const auto before = Uids("web");
  kube().Delete(kCrdType, kPoolCrd);
  Eventually("the CRD is gone", [&] { return !kube().Find(kCrdType, kPoolCrd).has_value(); });
  WaitUntilBlocked("web");
  EXPECT_EQ(StringAt(ConditionOf(GetDaemon("web"), "RemovalBlocked"), {"reason"}), "NodePoolCRDDeleted");
  EXPECT_EQ(Uids("web"), before);
  // The CRD is created again, without the pools. The next process finds no pools.
  StopOperator();
  plane().ApplyCrds();
  StartOperator();
  Eventually("the operator has blocked three removals",
             [&] { return op().Metric("yurtappdaemon_blocked_removals", {"name=\"web\""}) == 3; });
  EXPECT_EQ(Uids("web"), before);
  // The pools are created again, and a user sets their labels later.
  StopOperator();
  for (const std::string& pool : pools)
    kube().Create(kNodePoolType, {{"metadata", {{"name", pool}}}, {"spec", {{"type", "Edge"}}}});
  StartOperator();
  Eventually("the operator has blocked three removals again",
             [&] { return op().Metric("yurtappdaemon_blocked_removals", {"name=\"web\""}) == 3; });
  EXPECT_EQ(Uids("web"), before);
  for (const std::string& pool : pools) Select(pool);
  WaitUntilNothingIsBlocked("web");
  WaitUntilReady("web");
  EXPECT_EQ(Uids("web"), before);
  // This pool is newer than the CRD, so its deletion removes its workload as usual.
  const std::string later = AddPool("later");
  WaitForPools("web", {pools[0], pools[1], pools[2], later});
  DeletePool(later);
  WaitForPools("web", pools);
}

TEST_F(MaxRemovalsTest, AWorkloadThatLostItsLabelIsRemovedWithItsPool) {
  StartOperator();
  const auto pools = AddPools(2);
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  WaitForStatus("web", "status.pools has both workloads",
                [](const Json& status) { return At(status, "/pools").size() == 2; });
  StopOperator();
  kube().MergePatch(type(), NameOf(WorkloadOf("web", pools[0])),
                    {{"metadata", {{"labels", {{kPoolNameLabel, nullptr}}}}}});
  Unselect(pools[0]);
  StartOperator();
  WaitForPools("web", {pools[1]});
}

}  // namespace
}  // namespace yad::testing
