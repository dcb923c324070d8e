#include "operator/yurtappdaemon/diagnose/pod_diagnoser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/yurtappdaemon/observe/pods.h"
#include "tests/unit/yurtappdaemon/pods.h"
#include "tests/unit/yurtappdaemon/world.h"

namespace yad {
namespace {

using namespace testing;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const ResourceType kEvents{"events.k8s.io", "v1", "events", "Event", true};

class PodDiagnoserTest : public ::testing::Test {
 protected:
  // Creates pools with healthy workloads.
  void Deployed(const std::vector<std::string>& pools, WorkloadKind kind = WorkloadKind::kDeployment) {
    world_.AddPools(pools);
    world_.CreateDaemon(DaemonJson("app:1", kind));
    world_.Converge();
    world_.cluster.ClearWrites();
    world_.cluster.SetFaults([this](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
      if (request.method != "GET") return std::nullopt;
      pod_lists_ += request.resource == "pods";
      if (request.resource == "pods") world_.clock.Advance(time_of_a_list_);
      event_lists_ += request.resource == "events";
      if (request.resource != rejected_) return std::nullopt;
      return FakeCluster::Fault{StatusResponse(403, "Forbidden", "no"), false};
    });
  }
  void Break(const std::string& pool) {
    world_.EditWorkload(pool, [](Json& w) { w["status"]["readyReplicas"] = w["status"]["availableReplicas"] = 0; });
  }
  // Adds a pod that the pool's workload owns.
  void AddPod(const std::string& pool, Json pod) {
    const std::string workload = world_.NameOf(pool);
    const bool deployment = world_.kind == WorkloadKind::kDeployment;
    const std::string hash = StringAt(pod, {"metadata", "labels", kPodTemplateHashLabel});
    pod["metadata"]["namespace"] = kNs;
    pod["metadata"]["name"] = workload + "-" + StringAt(pod, {"metadata", "name"});
    pod["metadata"]["labels"].update({{"app", "web"}, {kPoolNameLabel, pool}});
    pod["metadata"]["ownerReferences"] = {
        {{"apiVersion", "apps/v1"},
         {"kind", deployment ? "ReplicaSet" : "StatefulSet"},
         {"name", deployment ? workload + "-" + hash : workload},
         {"uid", deployment ? "uid-of-the-set" : StringAt(world_.Workload(pool), {"metadata", "uid"})},
         {"controller", true}}};
    world_.cluster.Create(kPodType, pod);
  }
  // Advances the clock, and reconciles as often as the results request it.
  void Wait(seconds time) {
    const SteadyTime end = world_.clock.Now() + time;
    while (world_.clock.Now() < end) {
      const auto result = world_.Reconcile();
      ASSERT_TRUE(result);
      const Duration left = end - world_.clock.Now();
      world_.clock.Advance(result->next == ReconcileResult::Next::kAfter ? std::min(left, result->after) : left);
    }
    ASSERT_TRUE(world_.Reconcile());
  }
  Json Pool(const std::string& name) { return PoolStatus(world_.Status(), name); }
  std::string Reason(const std::string& pool) { return StringAt(Pool(pool), {"reason"}); }
  std::string State(const std::string& pool) { return StringAt(Pool(pool), {"state"}); }

  World world_;
  int pod_lists_ = 0, event_lists_ = 0;
  std::string rejected_;
  Duration time_of_a_list_{0};
};

TEST_F(PodDiagnoserTest, PodsOfAHealthyPoolAreNotListed) {
  Deployed({"a", "b"});
  Wait(seconds(600));
  EXPECT_EQ(pod_lists_, 0);
  EXPECT_EQ(State("a"), "Ready");
}

TEST_F(PodDiagnoserTest, ReportsAProblemWithoutAnEventOfTheWorkload) {
  Deployed({"a", "b"});
  Break("a");
  AddPod("a", CrashingPod(3));
  const auto first = world_.Reconcile();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->next, ReconcileResult::Next::kAfter) << "the reconcile requests another one";
  EXPECT_EQ(Reason("a"), "") << "pods of a pool that has just become unhealthy are not read";
  Wait(seconds(2));
  EXPECT_EQ(Pool("a")["phase"], "Unhealthy");
  EXPECT_EQ(Reason("a"), "CrashLoopBackOff");
  EXPECT_EQ(Pool("a")["message"], "container \"main\" ended with exit code 3");
  EXPECT_EQ(State("a"), "Error");
  EXPECT_EQ(State("b"), "Ready");
  EXPECT_EQ(event_lists_, 0);
  world_.RunWorkloadControllers();
  Wait(seconds(2));
  EXPECT_EQ(Reason("a"), "");
  EXPECT_EQ(State("a"), "Ready");
}

TEST_F(PodDiagnoserTest, BacksOffBetweenPodListsOfOnePool) {
  Deployed({"a"});
  Break("a");
  Wait(seconds(16));
  EXPECT_EQ(pod_lists_, 4) << "after 1, 3, 7 and 15 s";
  Wait(seconds(600));
  EXPECT_LE(pod_lists_, 4 + 2 + 10) << "the interval grows to a minute";
  EXPECT_GE(pod_lists_, 4 + 9);
}

TEST_F(PodDiagnoserTest, AnUnchangedProblemIsWrittenOnce) {
  Deployed({"a"});
  Break("a");
  AddPod("a", CrashingPod(3));
  Wait(seconds(2));
  world_.cluster.ClearWrites();
  world_.cluster.Edit(kPodType, {kNs, world_.NameOf("a") + "-p"}, [](Json& pod) {
    pod["status"]["containerStatuses"][0]["state"]["waiting"]["message"] = "back-off 2m40s restarting";
    pod["status"]["containerStatuses"][0]["restartCount"] = 12;
  });
  AddPod("a", CrashingPod(3, "another"));
  Wait(seconds(300));
  EXPECT_GT(pod_lists_, 5);
  EXPECT_THAT(world_.Writes(), IsEmpty());
}

TEST_F(PodDiagnoserTest, KeepsTheErrorMessageWhileTheKubeletBacksOff) {
  Deployed({"a"});
  Break("a");
  AddPod("a", WaitingIn("ErrImagePull", "no such tag"));
  Wait(seconds(2));
  world_.cluster.ClearWrites();
  world_.cluster.Edit(kPodType, {kNs, world_.NameOf("a") + "-p"}, [](Json& pod) {
    pod["status"]["containerStatuses"][0]["state"]["waiting"] = {{"reason", "ImagePullBackOff"},
                                                                 {"message", "Back-off pulling image \"app:1\""}};
  });
  Wait(seconds(60));
  EXPECT_THAT(StringAt(Pool("a"), {"message"}), HasSubstr("no such tag"));
  EXPECT_THAT(world_.Writes(), IsEmpty());
}

TEST_F(PodDiagnoserTest, NewProcessKeepsTheReportedProblemUntilItListsThePods) {
  Deployed({"a"});
  Break("a");
  AddPod("a", CrashingPod(3));
  Wait(seconds(2));
  const Json before = world_.Status();
  world_.cluster.ClearWrites();
  world_.Restart();
  pod_lists_ = 0;
  ASSERT_TRUE(world_.Reconcile());
  EXPECT_EQ(pod_lists_, 0);
  EXPECT_EQ(world_.Status(), before);
  Wait(seconds(5));
  EXPECT_GT(pod_lists_, 0);
  EXPECT_EQ(world_.Status(), before);
  EXPECT_THAT(world_.Writes(), IsEmpty());
}

// The workload's status does not count the second pod yet.
TEST_F(PodDiagnoserTest, NewProcessKeepsTheStateOfAnUpdatedPoolUntilItListsThePods) {
  Deployed({"a"});
  world_.EditWorkload("a", [](Json& w) { w["status"]["availableReplicas"] = 0; });
  AddPod("a", ReadyPod("old"));
  AddPod("a", PodOf("new"));
  Wait(seconds(5));
  ASSERT_EQ(State("a"), "Provision");
  world_.Restart();
  ASSERT_TRUE(world_.Reconcile());
  EXPECT_EQ(State("a"), "Provision");
  Wait(seconds(5));
  EXPECT_EQ(State("a"), "Provision");
}

TEST_F(PodDiagnoserTest, ChangedWorkloadIsDiagnosedImmediately) {
  Deployed({"a"});
  Break("a");
  Wait(seconds(600));
  const int before = pod_lists_;
  AddPod("a", CrashingPod(3));
  world_.EditWorkload("a", [](Json& w) { w["status"]["replicas"] = 2; });
  Wait(seconds(1));
  EXPECT_EQ(pod_lists_, before + 1);
  EXPECT_EQ(Reason("a"), "CrashLoopBackOff");
}

TEST_F(PodDiagnoserTest, ManyPoolsAreDiagnosedAtALimitedRate) {
  std::vector<std::string> pools;
  for (int i = 0; i < 60; ++i) pools.push_back("p" + std::to_string(100 + i));
  Deployed(pools);
  for (const std::string& pool : pools) {
    Break(pool);
    AddPod(pool, CrashingPod(3));
  }
  Wait(seconds(6));
  EXPECT_GE(pod_lists_, 20);
  EXPECT_LE(pod_lists_, 10 + 6 * 5);
  Wait(seconds(14));
  for (const std::string& pool : pools) EXPECT_EQ(Reason(pool), "CrashLoopBackOff") << pool;
  EXPECT_LE(pod_lists_, 10 + 20 * 5);
}

TEST_F(PodDiagnoserTest, SlowListsOfManyPoolsDoNotDelayTheStatus) {
  std::vector<std::string> pools;
  for (int i = 0; i < 10; ++i) pools.push_back("p" + std::to_string(i));
  Deployed(pools);
  for (const std::string& pool : pools) {
    Break(pool);
    AddPod(pool, CrashingPod(3));
  }
  ASSERT_TRUE(world_.Reconcile());
  world_.clock.Advance(seconds(2));
  time_of_a_list_ = seconds(1);
  const auto result = world_.Reconcile();
  ASSERT_TRUE(result);
  EXPECT_EQ(pod_lists_, 2);
  EXPECT_EQ(Reason("p0"), "CrashLoopBackOff");
  EXPECT_EQ(Reason("p9"), "");
  EXPECT_EQ(result->after, Duration(seconds(30)));
  Wait(seconds(200));
  EXPECT_EQ(Reason("p9"), "CrashLoopBackOff");
}

TEST_F(PodDiagnoserTest, SlowPagesOfOnePoolDoNotDelayTheStatus) {
  Deployed({"a"});
  Break("a");
  for (int i = 0; i < 350; ++i) AddPod("a", CrashingPod(3, "p" + std::to_string(i)));
  ASSERT_TRUE(world_.Reconcile());
  world_.clock.Advance(seconds(2));
  time_of_a_list_ = seconds(1);
  ASSERT_TRUE(world_.Reconcile());
  EXPECT_EQ(pod_lists_, 2);
  EXPECT_EQ(Reason("a"), "CrashLoopBackOff");
}

TEST_F(PodDiagnoserTest, StatusHasNoReasonAndUpdatesContinueIfPodsMayNotBeRead) {
  Deployed({"a", "b"});
  rejected_ = "pods";
  Break("a");
  AddPod("a", CrashingPod(3));
  Wait(seconds(600));
  EXPECT_EQ(Pool("a")["phase"], "Unhealthy");
  EXPECT_EQ(Reason("a"), "");
  EXPECT_EQ(State("a"), "Provision");
  EXPECT_LE(pod_lists_, 21) << "forbidden lists are retried rarely";
  world_.SetImage("app:2");
  Wait(seconds(1));
  EXPECT_EQ(ImageOf(world_.Workload("a")), "app:2");
  EXPECT_EQ(ImageOf(world_.Workload("b")), "app:2");
  rejected_.clear();
  world_.RunWorkloadControllers();
  Break("a");
  Wait(seconds(61));
  EXPECT_EQ(Reason("a"), "CrashLoopBackOff");
}

TEST_F(PodDiagnoserTest, PodsOfAnOfflinePoolAreNotListed) {
  Deployed({"a"});
  world_.cluster.Edit(kNodePoolType, {"", "a"}, [](Json& pool) {
    pool["status"] = {{"readyNodeNum", 0}, {"unreadyNodeNum", 1}};
  });
  Break("a");
  AddPod("a", LostPod());
  Wait(seconds(600));
  EXPECT_EQ(pod_lists_, 0);
  EXPECT_EQ(Reason("a"), "NoReadyNode");
  EXPECT_EQ(State("a"), "Degraded");
}

TEST_F(PodDiagnoserTest, SkipsPoolsWithAnInvalidOverride) {
  Deployed({"a"});
  Break("a");
  AddPod("a", CrashingPod(3));
  Wait(seconds(2));
  world_.EditDaemon([](Json& daemon) {
    daemon["spec"]["overrides"] = R"([{"pools": ["a"], "images": [{"name": "absent", "image": "x"}]}])"_json;
  });
  pod_lists_ = 0;
  Wait(seconds(60));
  EXPECT_EQ(pod_lists_, 0);
  EXPECT_EQ(Reason("a"), "InvalidOverride");
}

TEST_F(PodDiagnoserTest, PodsOfOtherControllersAreIgnored) {
  Deployed({"a"});
  Break("a");
  Json stranger = CrashingPod(3);
  stranger["metadata"].update({{"namespace", kNs}, {"labels", {{"app", "web"}, {kPoolNameLabel, "a"}}}});
  stranger["metadata"]["ownerReferences"] = {
      {{"apiVersion", "apps/v1"}, {"kind", "ReplicaSet"}, {"name", "other-r1"}, {"uid", "u"}, {"controller", true}}};
  world_.cluster.Create(kPodType, stranger);
  Wait(seconds(2));
  EXPECT_EQ(pod_lists_, 1);
  EXPECT_EQ(Reason("a"), "");
}

TEST_F(PodDiagnoserTest, ProblemOfAPodThatWaitsForItsContainersIsReadFromEvents) {
  Deployed({"a"});
  Break("a");
  AddPod("a", CreatingPod());
  Json event = WarningEvent("FailedMount", "MountVolume.SetUp failed for volume \"cfg\" : configmap \"x\" not found");
  event["metadata"] = {{"name", "e"}, {"namespace", kNs}};
  world_.cluster.Create(kEvents, event);
  Wait(seconds(2));
  EXPECT_EQ(event_lists_, 1);
  EXPECT_EQ(Reason("a"), "FailedMount");
  EXPECT_EQ(State("a"), "Waiting");
  rejected_ = "events";
  Wait(seconds(60));
  EXPECT_EQ(Reason("a"), "") << "the reason comes from the pods only";
}

TEST_F(PodDiagnoserTest, ReadsRejectedPodsOfAStatefulSetFromEvents) {
  Deployed({"a"}, WorkloadKind::kStatefulSet);
  world_.EditWorkload("a", [](Json& w) {
    w["status"]["replicas"] = w["status"]["readyReplicas"] = w["status"]["availableReplicas"] = 0;
  });
  Json event = WarningEvent("FailedCreate",
                            "create Pod web-0 in StatefulSet web failed error: pods \"web-0\" is "
                            "forbidden: exceeded quota: small, requested: pods=1, used: pods=0, "
                            "limited: pods=0");
  event["metadata"] = {{"name", "e"}, {"namespace", kNs}};
  world_.cluster.Create(kEvents, event);
  Wait(seconds(2));
  EXPECT_EQ(Reason("a"), "QuotaExceeded");
  EXPECT_EQ(State("a"), "Provision");
}

TEST_F(PodDiagnoserTest, ReadsRejectedPodsOfADeploymentFromItsStatus) {
  Deployed({"a"});
  world_.EditWorkload("a", [](Json& w) {
    w["status"]["replicas"] = w["status"]["readyReplicas"] = w["status"]["availableReplicas"] = 0;
    w["status"]["conditions"].push_back(
        {{"type", "ReplicaFailure"},
         {"status", "True"},
         {"reason", "FailedCreate"},
         {"message",
          "pods \"web-5d4f-x7k2p\" is forbidden: exceeded quota: small, requested: pods=1, used: pods=0, "
          "limited: pods=0"}});
  });
  Wait(seconds(2));
  EXPECT_EQ(Reason("a"), "QuotaExceeded");
  EXPECT_EQ(Pool("a")["message"], "exceeded quota: small, requested: pods=1, limited: pods=0");
  EXPECT_EQ(event_lists_, 0);
}

}  // namespace
}  // namespace yad
