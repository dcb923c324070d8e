#include "operator/yurtappdaemon/diagnose/stuck_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "operator/yurtappdaemon/observe/pods.h"
#include "tests/unit/yurtappdaemon/pods.h"
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
  Json PodJson(int ordinal, const std::string& revision, bool ready, const std::string& owner = "",
               std::chrono::seconds before = std::chrono::seconds(1)) {
    Json pod = {{"metadata",
                 {{"name", name_ + "-" + std::to_string(ordinal)},
                  {"namespace", kNs},
                  {"labels", world_.Workload("a")["spec"]["selector"]["matchLabels"]}}},
                {"status",
                 {{"conditions",
                   {{{"type", "Ready"},
                     {"status", ready ? "True" : "False"},
                     {"lastTransitionTime", FormatTime(kSince - before)}}}}}}};
    pod["metadata"]["labels"]["controller-revision-hash"] = revision;
    pod["metadata"]["ownerReferences"] = {{{"apiVersion", "apps/v1"},
                                           {"kind", "StatefulSet"},
                                           {"name", name_},
                                           {"uid", owner.empty() ? uid_ : owner},
                                           {"controller", true}}};
    return pod;
  }
  void AddPod(int ordinal, const std::string& revision, bool ready, const std::string& owner = "",
              std::chrono::seconds before = std::chrono::seconds(1)) {
    world_.cluster.Create(kPodType, PodJson(ordinal, revision, ready, owner, before));
  }
  void EditPod(int ordinal, const std::function<void(Json&)>& edit) {
    world_.cluster.Edit(kPodType, {kNs, name_ + "-" + std::to_string(ordinal)}, edit);
  }
  // Edits the spec of the StatefulSet, whose controller then observes it.
  void EditSet(const std::function<void(Json& spec)>& edit) {
    world_.EditWorkload("a", [&](Json& set) { edit(set["spec"]); });
    world_.EditWorkload("a", [](Json& set) { set["status"]["observedGeneration"] = set["metadata"]["generation"]; });
  }
  Result<std::vector<std::string>> TryReplace() {
    return ReplaceStuckPods(world_.client, ParseMeta(world_.Daemon()), {kNs, name_}, uid_, kSince, {});
  }
  std::vector<std::string> Replace() {
    const auto deleted = TryReplace();
    EXPECT_TRUE(deleted) << deleted.error().ToString();
    return deleted.value_or(std::vector<std::string>{});
  }

  static constexpr WallTime kSince{std::chrono::seconds(1800000000)};
  World world_;
  std::string name_, uid_;
};

TEST_F(StuckPodsTest, DeletesOnlyOwnOldPodsThatAreNotReady) {
  AddPod(0, "old", false);
  AddPod(1, "old", true);
  AddPod(2, "new", true);
  AddPod(3, "old", false, "another owner");
  EXPECT_THAT(Replace(), ElementsAre(name_ + "-0"));
  EXPECT_EQ(world_.cluster.List(kPodType).size(), 3U);
  EXPECT_THAT(Replace(), IsEmpty());
}

TEST_F(StuckPodsTest, KeepsOldPodsWhileAnUpdatedPodIsNotReady) {
  AddPod(0, "old", false);
  AddPod(1, "old", true);
  AddPod(2, "new", false);
  EXPECT_THAT(Replace(), IsEmpty());
  // An updated pod that has just become unready also counts.
  EditPod(2, [](Json& pod) {
    pod["status"]["conditions"][0]["lastTransitionTime"] = FormatTime(kSince + std::chrono::seconds(5));
  });
  EXPECT_THAT(Replace(), IsEmpty());
  EditPod(2, [](Json& pod) { pod["status"] = Json::object(); });
  EXPECT_THAT(Replace(), IsEmpty());
  EditPod(2, [](Json& pod) { pod["status"] = {{"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}; });
  EXPECT_THAT(Replace(), ElementsAre(name_ + "-0"));
}

TEST_F(StuckPodsTest, KeepsOldPodsIfALaterPageHasAnUpdatedPodThatIsNotReady) {
  AddPod(0, "old", false);
  for (int i = 1; i < 600; ++i) AddPod(i, "old", true);
  AddPod(999, "new", false);  // the last of the list, which is sorted by name
  EXPECT_THAT(Replace(), IsEmpty());
  EXPECT_EQ(world_.cluster.List(kPodType).size(), 601U);
}

TEST_F(StuckPodsTest, DeletesAtMost500PodsTogether) {
  for (int i = 0; i < 501; ++i) AddPod(i, "old", false);
  AddPod(501, "new", true);
  EXPECT_EQ(Replace().size(), 500U);
  EXPECT_EQ(Replace().size(), 1U);
}

// If no pod of a template is ready, the template may be bad. If the old pods were deleted together, no pod would
// remain.
TEST_F(StuckPodsTest, DeletesOnlyTheFirstUnreadyPodUntilAnUpdatedPodIsReady) {
  for (const int ordinal : {0, 1, 2}) AddPod(ordinal, "old", false);
  EXPECT_THAT(Replace(), ElementsAre(name_ + "-0"));
  EXPECT_THAT(Replace(), IsEmpty()) << "pod 0 does not exist yet";
  AddPod(0, "new", false);
  EXPECT_THAT(Replace(), IsEmpty());
  EditPod(0, [](Json& pod) { pod["status"]["conditions"][0]["status"] = "True"; });
  EXPECT_THAT(Replace(), UnorderedElementsAre(name_ + "-1", name_ + "-2"));
}

TEST_F(StuckPodsTest, DeletesTheFirstUnreadyPodBehindReadyOnes) {
  EditSet([](Json& spec) { spec["ordinals"]["start"] = 9; });
  AddPod(9, "old", true);
  AddPod(10, "old", false);
  AddPod(11, "old", false);
  EXPECT_THAT(Replace(), ElementsAre(name_ + "-10"));
}

// The StatefulSet waits for the other pod. It would not create a deleted pod again before that pod is ready.
TEST_F(StuckPodsTest, KeepsAnUnreadyPodThatDoesNotBlockTheStatefulSet) {
  AddPod(1, "old", false);
  EXPECT_THAT(Replace(), IsEmpty()) << "pod 0 is missing";
  Json lost = PodJson(0, "old", false);
  lost["status"]["containerStatuses"] = {{{"name", "app"}, {"ready", true}}};
  world_.cluster.Create(kPodType, lost);
  EXPECT_THAT(Replace(), IsEmpty()) << "the node of pod 0 is lost";
  EditPod(0, [](Json& pod) {
    pod["status"] = {{"conditions", {{{"type", "Ready"}, {"status", "False"}}}}};
    pod["status"]["conditions"][0]["lastTransitionTime"] = FormatTime(kSince + std::chrono::seconds(5));
  });
  EXPECT_THAT(Replace(), IsEmpty()) << "pod 0 has just become unready";
  EditPod(0, [](Json& pod) { pod["status"]["conditions"][0]["status"] = "True"; });
  EXPECT_THAT(Replace(), ElementsAre(name_ + "-1"));
}

TEST_F(StuckPodsTest, KeepsPodsOfAStatefulSetThatAUserUpdates) {
  EditSet([](Json& spec) { spec["updateStrategy"] = {{"type", "OnDelete"}}; });
  AddPod(0, "old", false);
  EXPECT_THAT(Replace(), IsEmpty());
}

// A deleted pod would also not be created again, for example because a quota rejects the pods of the newest template.
TEST_F(StuckPodsTest, KeepsOldPodsWhileTheStatefulSetCantCreateAPod) {
  EditSet([](Json& spec) { spec["replicas"] = 3; });
  AddPod(0, "old", true);
  AddPod(1, "old", false);
  const auto record = [&](const std::string& name, const std::string& reason, std::chrono::seconds before) {
    Json event = WarningEvent(reason, "create Pod failed", FormatTime(kSince - before));
    event["metadata"] = {{"name", name}, {"namespace", kNs}};
    world_.cluster.Create(ResourceType{"events.k8s.io", "v1", "events", "Event", true}, event);
  };
  world_.cluster.SetFaults([](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
    if (request.resource != "events") return std::nullopt;
    return FakeCluster::Fault{StatusResponse(403, "Forbidden", "no"), false};
  });
  EXPECT_FALSE(TryReplace()) << "Events can't be read";
  world_.cluster.SetFaults(nullptr);
  record("failed", "FailedCreate", std::chrono::minutes(10));
  EXPECT_THAT(Replace(), IsEmpty());
  record("created", "SuccessfulCreate", std::chrono::minutes(9));
  EXPECT_THAT(Replace(), ElementsAre(name_ + "-1")) << "the StatefulSet creates pods again";
}

TEST_F(StuckPodsTest, DeletesAPodIfTheFailedCreationsAreOutdatedOrConcernNoMissingPod) {
  EditSet([](Json& spec) { spec["replicas"] = 3; });
  AddPod(0, "old", false);
  Json event = WarningEvent("FailedCreate", "create Pod failed", FormatTime(kSince - std::chrono::minutes(30)));
  event["metadata"] = {{"name", "failed"}, {"namespace", kNs}};
  const ResourceType events{"events.k8s.io", "v1", "events", "Event", true};
  world_.cluster.Create(events, event);
  EXPECT_THAT(Replace(), ElementsAre(name_ + "-0")) << "Kubernetes retries a creation within 20 minutes";
  world_.cluster.Edit(events, {kNs, "failed"}, [](Json& e) { e["deprecatedLastTimestamp"] = FormatTime(kSince); });
  for (const int ordinal : {0, 1, 2}) AddPod(ordinal, "old", false);
  EXPECT_THAT(Replace(), ElementsAre(name_ + "-0")) << "no pod is missing";
}

TEST_F(StuckPodsTest, IgnoresPodsOfAnotherOwnerThatAreNotReady) {
  AddPod(0, "old", false);
  AddPod(1, "new", false, "another owner");
  EXPECT_THAT(Replace(), ElementsAre(name_ + "-0"));
}

// A namespace may contain the pods of many other YurtAppDaemons in the same pool.
TEST_F(StuckPodsTest, ReadsOnlyPodsThatTheStatefulSetSelects) {
  AddPod(0, "old", false);
  Json unselected = PodJson(1, "new", false);
  unselected["metadata"]["labels"]["app"] = "another";
  world_.cluster.Create(kPodType, unselected);
  EXPECT_THAT(Replace(), ElementsAre(name_ + "-0")) << "pod 1 would block the deletion";
}

TEST_F(StuckPodsTest, KeepsOldPodsWhileTheStatefulSetReplacesAnotherPod) {
  AddPod(0, "old", false);
  Json ending = PodJson(1, "old", true);
  ending["metadata"]["deletionTimestamp"] = FormatTime(kSince + std::chrono::seconds(30));
  world_.cluster.Create(kPodType, ending);
  EXPECT_THAT(Replace(), IsEmpty());
  world_.cluster.Delete(kPodType, {kNs, name_ + "-1"});
  ending["metadata"]["deletionTimestamp"] = FormatTime(kSince - std::chrono::hours(1));
  world_.cluster.Create(kPodType, ending);
  EXPECT_THAT(Replace(), ElementsAre(name_ + "-0")) << "the grace period is over: the node of pod 1 is gone";
}

TEST_F(StuckPodsTest, KeepsAPodThatWasReadyJustNow) {
  AddPod(0, "old", false, "", std::chrono::seconds(0));
  AddPod(1, "old", false, "", std::chrono::seconds(-1));
  AddPod(2, "new", true);
  EXPECT_THAT(Replace(), ElementsAre(name_ + "-0"));
  world_.cluster.Edit(kPodType, {kNs, name_ + "-1"}, [](Json& pod) { pod["status"] = Json::object(); });
  world_.cluster.SetCreated(kPodType, {kNs, name_ + "-1"}, FormatTime(kSince + std::chrono::seconds(1)));
  EXPECT_THAT(Replace(), IsEmpty()) << "the pod was just created, and no kubelet has observed it";
  world_.cluster.SetCreated(kPodType, {kNs, name_ + "-1"}, FormatTime(kSince));
  EXPECT_THAT(Replace(), ElementsAre(name_ + "-1"));
}

// The node lifecycle controller makes the pods of a node that no longer reports unready. Their containers may run.
TEST_F(StuckPodsTest, KeepsPodsWhoseNodeIsLost) {
  Json lost = PodJson(0, "old", false);
  lost["status"]["containerStatuses"] = {{{"name", "app"}, {"ready", true}}};
  world_.cluster.Create(kPodType, lost);
  AddPod(1, "old", false);
  AddPod(2, "new", true);
  EXPECT_THAT(Replace(), ElementsAre(name_ + "-1"));
  EditPod(0, [](Json& pod) {
    pod["status"]["containerStatuses"][0]["ready"] = false;
    pod["status"]["conditions"][0]["reason"] = "ContainersNotReady";
  });
  EXPECT_THAT(Replace(), ElementsAre(name_ + "-0")) << "the node reports again, and the pod is not ready";
}

TEST_F(StuckPodsTest, DeletesAPodWhoseNodesClockIsFarAhead) {
  AddPod(0, "old", false, "", std::chrono::seconds(-20));
  AddPod(1, "old", false, "", std::chrono::hours(-2));
  AddPod(2, "new", true);
  EXPECT_THAT(Replace(), ElementsAre(name_ + "-1"));
}

TEST_F(StuckPodsTest, KeepsPodsBelowTheStatefulSetsPartition) {
  world_.EditWorkload("a", [](Json& set) { set["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = 1; });
  world_.EditWorkload("a", [](Json& set) { set["status"]["observedGeneration"] = set["metadata"]["generation"]; });
  AddPod(0, "old", false);
  AddPod(1, "old", false);
  AddPod(2, "new", true);
  EXPECT_THAT(Replace(), ElementsAre(name_ + "-1"));
}

TEST_F(StuckPodsTest, PartitionCountsFromTheFirstOrdinal) {
  world_.EditWorkload("a", [](Json& set) {
    set["spec"]["ordinals"]["start"] = 5;
    set["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = 2;
  });
  world_.EditWorkload("a", [](Json& set) { set["status"]["observedGeneration"] = set["metadata"]["generation"]; });
  for (const int ordinal : {5, 6, 7}) AddPod(ordinal, "old", false);
  AddPod(8, "new", true);
  EXPECT_THAT(Replace(), ElementsAre(name_ + "-7"));
}

TEST_F(StuckPodsTest, KeepsPodsWhileStatusIsOfAnotherTemplateOrStatefulSet) {
  AddPod(0, "old", false);
  world_.EditWorkload("a", [](Json& set) { set["status"]["observedGeneration"] = 0; });
  EXPECT_THAT(Replace(), IsEmpty());
  world_.EditWorkload("a", [](Json& set) { set["status"]["observedGeneration"] = 1; });
  uid_ = "another";
  EXPECT_THAT(Replace(), IsEmpty());
  EXPECT_EQ(world_.cluster.List(kPodType).size(), 1U);
}

// For example, after `kubectl delete --cascade=orphan`. The cache may still show the owner.
TEST_F(StuckPodsTest, KeepsPodsOfAStatefulSetThatTheDaemonHasReleased) {
  AddPod(0, "old", false);
  world_.EditWorkload("a", [](Json& set) { set["metadata"].erase("ownerReferences"); });
  EXPECT_THAT(Replace(), IsEmpty());
  EXPECT_EQ(world_.cluster.List(kPodType).size(), 1U);
}

std::vector<std::string> NamesOf(const std::vector<const PoolPlan*>& pools) {
  std::vector<std::string> names;
  for (const PoolPlan* pool : pools) names.push_back(pool->pool);
  return names;
}

class NextStuckPoolsTest : public ::testing::Test {
 protected:
  void SetPools(int count) {
    plan_.pools.resize(count);
    for (int i = 0; i < count; ++i) {
      plan_.pools[i].pool = "p" + std::to_string(i);
      plan_.pools[i].may_be_stuck = true;
    }
  }
  std::vector<std::string> Next() { return NamesOf(NextStuckPools(plan_, looks_, reads_, clock_.Now())); }

  FakeClock clock_;
  RateLimiter reads_{10, 20, clock_};
  Plan plan_;
  ExaminedPools looks_;
};

TEST_F(NextStuckPoolsTest, SelectsOnlyStuckPoolsWithoutAPendingWrite) {
  SetPools(3);
  plan_.pools[1].may_be_stuck = false;
  plan_.pools[2].action = WorkloadAction::kUpdate;
  EXPECT_THAT(Next(), ElementsAre("p0"));
  plan_.pools[0].may_be_stuck = false;
  EXPECT_THAT(Next(), IsEmpty());
  EXPECT_TRUE(looks_.empty());
}

TEST_F(NextStuckPoolsTest, SelectsAPoolAgainOnlyAfterAWhile) {
  SetPools(2);
  EXPECT_THAT(Next(), ElementsAre("p0", "p1"));
  clock_.Advance(kStuckAfter - std::chrono::seconds(1));
  EXPECT_THAT(Next(), IsEmpty());
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_THAT(Next(), ElementsAre("p0", "p1"));
}

TEST_F(NextStuckPoolsTest, SelectsAllPoolsInTurnAtALimitedRate) {
  SetPools(50);
  std::set<std::string> seen;
  for (const std::size_t expected : {20U, 0U, 10U, 20U}) {
    const auto names = Next();
    EXPECT_EQ(names.size(), expected);
    seen.insert(names.begin(), names.end());
    if (names.size() != 20) clock_.Advance(std::chrono::seconds(expected == 0 ? 1 : 2));
  }
  EXPECT_EQ(seen.size(), 50U);
  clock_.Advance(kStuckAfter);
  EXPECT_EQ(Next().front(), "p0") << "the pods of p0 were read first";
}

TEST(StuckPodsPaceTest, EventsOfANormalUpdateDoNotReadThePodsOfAllPoolsAgain) {
  World world;
  for (int i = 0; i < 50; ++i) world.AddPool("p" + std::to_string(i));
  Json daemon = DaemonJson("app:1", WorkloadKind::kStatefulSet);
  daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}, {"rollingUpdate", {{"maxUnavailable", "100%"}}}};
  world.CreateDaemon(daemon);
  world.Converge();
  world.SetImage("app:2");
  world.Wait(std::chrono::seconds(2));
  for (const Json& set : world.Workloads()) {
    world.cluster.Edit(kStatefulSetType, {kNs, StringAt(set, {"metadata", "name"})}, [](Json& object) {
      object["status"]["observedGeneration"] = object["metadata"]["generation"];
      object["status"]["updateRevision"] = "new";
      object["status"]["updatedReplicas"] = 0;
    });
  }
  int reads = 0;
  world.cluster.SetFaults([&](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
    if (request.method == "GET" && request.resource == "statefulsets" && !request.key.name.empty()) ++reads;
    return std::nullopt;
  });
  world.Wait(std::chrono::seconds(11));
  for (int event = 0; event < 25; ++event) {
    EXPECT_TRUE(world.Reconcile());
    world.clock.Advance(std::chrono::milliseconds(200));
  }
  EXPECT_GE(reads, 50) << "the pods of each pool are read once";
  EXPECT_LE(reads, 70);
}

}  // namespace
}  // namespace yad
