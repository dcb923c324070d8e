// The pull of images before updates, by a DaemonSet for each pool. Group "first" has pool a.
#include <gmock/gmock.h>

#include "operator/workload/prefetch.h"
#include "tests/unit/yurtappdaemon/check_scene.h"
#include "tests/unit/yurtappdaemon/rolling_update_fixture.h"

namespace yad::testing {
namespace {

using ::testing::HasSubstr;

class PrefetchGateTest : public RollingUpdateTest {
 protected:
  // Creates a daemon whose pools are healthy, and updates the first group.
  void FirstGroupIsUpdated(const std::vector<std::string>& pools, Json prefetch = Json::object(),
                           Json rolling = Json::object()) {
    const Json first = {{"name", "first"}, {"pools", Json::array({"a"})}};
    rolling["groups"] = Json::array({first});
    rolling["prefetch"] = std::move(prefetch);
    Deployed(pools, std::move(rolling));
    // The server has the same clock as the operator.
    world_.cluster.SetAfterwards([this](const WriteRecord& write) {
      if (write.method == "POST" && write.changed && write.resource == kDaemonSetType.resource)
        world_.cluster.SetCreated(kDaemonSetType, write.key, FormatTime(world_.clock.WallNow()));
    });
    world_.SetImage("app:2");
    Step();
    EXPECT_EQ(Images().substr(0, 3), "a=2");
    EXPECT_EQ(Pulling(), "");
    EXPECT_EQ(WaitingFor("b"), "Group");
    Heal("a");
  }
  // Updates the first group of the pools "a", "b" and "c", and completes its check by a Job. The other pools then pull.
  void StartPullsAfterACheck() {
    FirstGroupIsUpdated({"a", "b", "c"}, Json::object(), {{"checks", Json::array({JobCheckJson()})}});
    Step();
    for (const Json& job : world_.cluster.List(kJobType)) {
      world_.cluster.Edit(kJobType, {kNs, StringAt(job, {"metadata", "name"})},
                          [](Json& object) { object["status"] = EndedJob("Complete"); });
    }
    Step();
  }
  ObjectKey KeyOf(const std::string& pool) { return {kNs, PrefetchName(world_.NameOf(pool))}; }
  // Sets the counts of the pool's DaemonSet, as its controller does.
  void SetNodesOf(const std::string& pool, int with_images, int nodes) {
    ASSERT_TRUE(world_.cluster.Edit(kDaemonSetType, KeyOf(pool), [&](Json& object) {
      object["status"] = {{"observedGeneration", object["metadata"]["generation"]},
                          {"desiredNumberScheduled", nodes},
                          {"numberReady", with_images}};
    }));
  }
  // Returns the pools that have a DaemonSet.
  std::string Pulling() {
    std::string pools;
    for (const Json& object : world_.cluster.List(kDaemonSetType, kPrefetchLabel))
      pools += (pools.empty() ? "" : " ") + StringAt(object, {"metadata", "labels", kPoolNameLabel});
    return pools;
  }
  std::string PulledBy(const std::string& pool) {
    const Json object = world_.cluster.Get(kDaemonSetType, KeyOf(pool)).value_or(Json());
    std::string images;
    for (const Json& volume : object.at("/spec/template/spec/volumes"_json_pointer))
      images += (images.empty() ? "" : " ") + StringAt(volume, {"image", "reference"});
    return images;
  }
  std::size_t Created(const std::string& pool) {
    std::size_t count = 0;
    for (const WriteRecord& write : world_.cluster.writes())
      count += write.method == "POST" && write.subresource.empty() && write.changed && write.key == KeyOf(pool);
    return count;
  }
  // Rejects each DaemonSet, until world_.cluster.SetFaults(nullptr).
  void RejectDaemonSets() {
    world_.cluster.SetFaults([](const WriteRecord& write, const Json&) -> std::optional<FakeCluster::Fault> {
      if (write.resource != kDaemonSetType.resource) return std::nullopt;
      return FakeCluster::Fault{StatusResponse(403, "Forbidden", "no image from registry.k8s.io"), false};
    });
  }
  // Reconciles every four seconds, although the server rejects writes.
  void WaitDespiteErrors(int time) {
    for (int i = 0; i < time; i += 4) {
      static_cast<void>(world_.Reconcile());
      world_.clock.Advance(seconds(4));
    }
  }
  std::string Unavailable() { return ConditionReason(world_.Status(), "PrefetchUnavailable"); }
  // Lets the server drop image volumes, as a server does if the feature is disabled.
  void DropImageVolumes() {
    world_.cluster.SetMutation([](const ResourceType& type, const Json&, Json& object) {
      if (type.resource != kDaemonSetType.resource) return;
      for (Json& volume : object["spec"]["template"]["spec"]["volumes"]) volume.erase("image");
    });
  }
};

TEST_P(PrefetchGateTest, PoolIsUpdatedWhenAllOfItsNodesHaveTheImages) {
  Play([&] {
    FirstGroupIsUpdated({"a", "b", "c", "d"});
    Step();
    EXPECT_EQ(Images(), "a=2 b=1 c=1 d=1");
    EXPECT_EQ(Pulling(), "b c") << "two pools pull ahead";
    EXPECT_EQ(PulledBy("b"), "app:2");
    EXPECT_EQ(WaitingFor("b"), "Prefetch");
    EXPECT_EQ(MessageOf("b"), "the pool's nodes pull the new images before the update");
    EXPECT_EQ(Phase("b"), "Ready");
    EXPECT_EQ(Progressing(), "True RollingOut");
    EXPECT_EQ(Message(),
              "group \"default\" (2 of 2): 0 of 3 pools are updated; 3 wait until their nodes have the new images");
    EXPECT_EQ(ConditionReason(world_.Status(), "Reconciling"), "True RollingOut");
    SetNodesOf("b", 1, 2);
    Step();
    EXPECT_EQ(MessageOf("b"), "the pool's nodes pull the new images before the update: 1 of 2 nodes have them");
    EXPECT_EQ(Images(), "a=2 b=1 c=1 d=1");
    SetNodesOf("b", 2, 2);
    Step();
    EXPECT_EQ(Images(), "a=2 b=2 c=1 d=1");
    Step();
    EXPECT_EQ(Pulling(), "c d") << "the DaemonSet is gone after the update";
    SetNodesOf("c", 1, 1);
    Step();
    EXPECT_EQ(WaitingFor("c"), "Slot");
    EXPECT_EQ(Pulling(), "c d") << "the images stay until the update";
    Heal("b");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2 c=2 d=1");
    Heal("c");
    SetNodesOf("d", 3, 3);
    Step();
    Heal("d");
    Step();
    EXPECT_EQ(Complete(), "True RolloutComplete");
    EXPECT_EQ(Pulling(), "");
    EXPECT_EQ(Unavailable(), "False ImageVolumesKept");
    for (const char* pool : {"b", "c", "d"}) EXPECT_EQ(Created(pool), 1U) << pool;
  });
}

TEST_P(PrefetchGateTest, UpdateStartsAfterTheTimeout) {
  FirstGroupIsUpdated({"a", "b"}, {{"timeoutSeconds", 60}});
  Step();
  EXPECT_EQ(Pulling(), "b");
  SetNodesOf("b", 1, 2);
  Wait(seconds(55));
  EXPECT_EQ(Images(), "a=2 b=1");
  Wait(seconds(5));
  EXPECT_EQ(Images(), "a=2 b=2") << "the operator reconciles without an event";
}

TEST_P(PrefetchGateTest, TimeoutWithWaitIsReportedAndOtherPoolsContinue) {
  Play([&] {
    FirstGroupIsUpdated({"a", "b", "c"}, {{"ahead", 1}, {"timeoutSeconds", 60}, {"onTimeout", "Wait"}});
    Step();
    EXPECT_EQ(Pulling(), "b");
    SetNodesOf("b", 1, 2);
    Wait(seconds(61));
    Step();
    EXPECT_EQ(WaitingFor("b"), "Prefetch");
    EXPECT_EQ(MessageOf("b"),
              "the pool's nodes pull the new images before the update: 1 of 2 nodes have them; timeoutSeconds (60) "
              "has passed, but onTimeout is Wait");
    EXPECT_EQ(Pulling(), "b c");
    SetNodesOf("c", 1, 1);
    Step();
    EXPECT_EQ(Images(), "a=2 b=1 c=2");
    Heal("c");
    SetNodesOf("b", 2, 2);
    Step();
    EXPECT_EQ(Images(), "a=2 b=2 c=2");
  });
}

TEST_P(PrefetchGateTest, PoolWithoutAFittingNodeIsUpdatedAfterAShortDelay) {
  FirstGroupIsUpdated({"a", "b"});
  Step();
  SetNodesOf("b", 0, 0);
  Step();
  EXPECT_EQ(Images(), "a=2 b=1") << "the DaemonSet controller might not have counted the nodes yet";
  Wait(kNoNodeAfter);
  EXPECT_EQ(Images(), "a=2 b=2");
}

TEST_P(PrefetchGateTest, NewRevisionReplacesThePull) {
  Play([&] {
    FirstGroupIsUpdated({"a", "b"});
    Step();
    SetNodesOf("b", 0, 1);
    world_.SetImage("app:3");
    Step();
    EXPECT_EQ(Pulling(), "") << "the first group must prove the new revision before other pools pull";
    Heal("a");
    Step();
    EXPECT_EQ(PulledBy("b"), "app:3");
    EXPECT_EQ(Images(), "a=3 b=1");
  });
}

TEST_P(PrefetchGateTest, PullForOtherImagesIsReplaced) {
  FirstGroupIsUpdated({"a", "b"});
  Step();
  SetNodesOf("b", 1, 1);
  world_.cluster.Edit(kDaemonSetType, KeyOf("b"),
                      [](Json& object) { object["metadata"]["annotations"][kPrefetchDigestAnnotation] = "another"; });
  Step();
  Step();
  EXPECT_EQ(Images(), "a=2 b=1");
  EXPECT_EQ(Pulling(), "b");
  EXPECT_EQ(Created("b"), 2U);
}

TEST_P(PrefetchGateTest, UpdateWithoutNewImagesDoesNotWait) {
  FirstGroupIsUpdated({"a", "b"});
  Step();
  SetNodesOf("b", 1, 1);
  Step();
  Heal("b");
  Step();
  ASSERT_EQ(Complete(), "True RolloutComplete");
  world_.EditDaemon([](Json& daemon) { PodSpecOf(TemplateOf(daemon))["hostNetwork"] = true; });
  Step();
  Heal("a");
  Step();
  EXPECT_TRUE(world_.Workload("b").contains("/spec/template/spec/hostNetwork"_json_pointer));
  EXPECT_EQ(Created("b"), 1U);
}

TEST_P(PrefetchGateTest, UndoAndOfflinePoolsDoNotWaitForImages) {
  Play([&] {
    FirstGroupIsUpdated({"a", "b", "c"});
    Step();
    EXPECT_EQ(Pulling(), "b c");
    GoOffline("c");
    Step();
    EXPECT_EQ(Pulling(), "b");
    SetNodesOf("b", 1, 1);
    Step();
    Heal("b");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2 c=2");
    world_.SetImage("app:1");
    Step();
    EXPECT_EQ(Images().substr(0, 3), "a=1");
    EXPECT_EQ(Pulling(), "");
  });
}

TEST_P(PrefetchGateTest, PoolPullsOutsideItsWindow) {
  Play([&] {
    const Json window = {{"start", "06:00"}, {"duration", "1h"}};
    FirstGroupIsUpdated({"a", "b"});
    world_.cluster.Edit(kNodePoolType, {"", "b"}, [&](Json& pool) {
      pool["metadata"]["annotations"][kUpdateWindowsAnnotation] = Json::array({window}).dump();
    });
    Step();
    EXPECT_EQ(Pulling(), "b");
    EXPECT_EQ(WaitingFor("b"), "Window");
    SetNodesOf("b", 1, 1);
    Step();
    EXPECT_EQ(Pulling(), "b");
    EXPECT_EQ(Progressing(), "True WaitingForWindow");
    WaitUntil("2026-01-02T06:00:01Z");
    EXPECT_EQ(Images(), "a=2 b=2");
  });
}

TEST_P(PrefetchGateTest, PullDelaysNoCreationRepairOrRemoval) {
  FirstGroupIsUpdated({"a", "b", "c"});
  Step();
  ASSERT_EQ(WaitingFor("b"), "Prefetch");
  world_.AddPool("d");
  world_.EditWorkload("b", [](Json& workload) { workload["metadata"]["labels"].erase("app"); });
  Step();
  EXPECT_FALSE(world_.Workload("d").is_null());
  EXPECT_EQ(world_.Workload("b")["metadata"]["labels"]["app"], "web");
  world_.EditDaemon([](Json& daemon) { daemon["spec"]["nodePools"] = {{"exclude", {"c"}}}; });
  Step();
  Step();
  EXPECT_TRUE(world_.Workload("c").is_null());
  EXPECT_EQ(ImageOf(world_.Workload("b")), "app:1");
}

TEST_P(PrefetchGateTest, ServerThatDropsImageVolumesIsReportedAndNoUpdateWaits) {
  Play([&] {
    FirstGroupIsUpdated({"a", "b"});
    DropImageVolumes();
    Step();
    Step();
    EXPECT_EQ(Images(), "a=2 b=2");
    EXPECT_EQ(Pulling(), "");
    EXPECT_EQ(Created("b"), 0U) << "the dry run showed that the server drops the field";
    EXPECT_EQ(Unavailable(), "True NoImageVolumes");
    Heal("b");
    Step();
    EXPECT_EQ(Complete(), "True RolloutComplete");
  });
}

TEST_P(PrefetchGateTest, RejectionOfAVolumeWithoutASourceCountsAsMissingImageVolumes) {
  FirstGroupIsUpdated({"a", "b"});
  world_.cluster.SetFaults([](const WriteRecord& write, const Json&) -> std::optional<FakeCluster::Fault> {
    if (write.resource != kDaemonSetType.resource) return std::nullopt;
    HttpResponse answer = StatusResponse(422, "Invalid", "spec.template.spec.volumes[0]: Required value");
    Json body = Json::parse(answer.body);
    body["details"]["causes"] = {{{"reason", "FieldValueRequired"},
                                  {"message", "Required value: must specify a volume type"},
                                  {"field", "spec.template.spec.volumes[0]"}}};
    answer.body = body.dump();
    return FakeCluster::Fault{answer, false};
  });
  Step();
  Step();
  EXPECT_EQ(Images(), "a=2 b=2");
  EXPECT_EQ(Unavailable(), "True NoImageVolumes");
}

TEST_P(PrefetchGateTest, DaemonSetThatIsRejectedBlocksItsPoolAndIsRetried) {
  FirstGroupIsUpdated({"a", "b"});
  RejectDaemonSets();
  StepDespiteErrors();
  EXPECT_EQ(Images(), "a=2 b=1");
  EXPECT_THAT(MessageOf("b"), HasSubstr("can't be created: no image from registry.k8s.io"));
  EXPECT_EQ(Unavailable(), "absent");
  world_.cluster.SetFaults(nullptr);
  Step();
  EXPECT_EQ(Pulling(), "b");
}

TEST_P(PrefetchGateTest, UpdateStartsAfterTheTimeoutIfTheDaemonSetIsRejected) {
  FirstGroupIsUpdated({"a", "b"}, {{"timeoutSeconds", 60}});
  RejectDaemonSets();
  WaitDespiteErrors(56);
  EXPECT_EQ(Images(), "a=2 b=1");
  WaitDespiteErrors(16);
  EXPECT_EQ(Images(), "a=2 b=2");
}

TEST_P(PrefetchGateTest, TimeoutOfARejectedDaemonSetWithWaitIsReportedAndOtherPoolsContinue) {
  FirstGroupIsUpdated({"a", "b", "c"}, {{"ahead", 1}, {"timeoutSeconds", 60}, {"onTimeout", "Wait"}});
  world_.cluster.Create(kDaemonSetType, {{"metadata", {{"namespace", kNs}, {"name", KeyOf("b").name}}}});
  WaitDespiteErrors(56);
  EXPECT_EQ(Pulling(), "");
  WaitDespiteErrors(16);
  EXPECT_EQ(WaitingFor("b"), "Prefetch");
  EXPECT_THAT(MessageOf("b"), HasSubstr("already exists"));
  EXPECT_THAT(MessageOf("b"), HasSubstr("; timeoutSeconds (60) has passed, but onTimeout is Wait"));
  EXPECT_EQ(Pulling(), "c");
}

TEST_P(PrefetchGateTest, TimeoutOfARejectedDaemonSetRestartsWithOtherImages) {
  FirstGroupIsUpdated({"a", "b"}, {{"timeoutSeconds", 60}});
  RejectDaemonSets();
  WaitDespiteErrors(56);
  Override("b", "app:3");
  WaitDespiteErrors(56);
  EXPECT_EQ(Images(), "a=2 b=1");
  WaitDespiteErrors(16);
  EXPECT_EQ(Images(), "a=2 b=3");
}

TEST_P(PrefetchGateTest, ClockThatIsSetNeitherEndsNorProlongsTheTimeout) {
  for (const bool rejected : {false, true}) {
    for (const seconds leap : {seconds(86400), seconds(-86400)}) {
      SCOPED_TRACE((rejected ? "rejected, " : "") + std::to_string(leap.count()));
      StartOver();
      FirstGroupIsUpdated({"a", "b"}, {{"timeoutSeconds", 60}});
      if (rejected) RejectDaemonSets();
      WaitDespiteErrors(12);
      if (!rejected) SetNodesOf("b", 1, 2);
      world_.clock.SetWall(world_.clock.WallNow() + leap);
      WaitDespiteErrors(12);
      EXPECT_EQ(Images(), "a=2 b=1");
      world_.clock.Advance(seconds(50));
      WaitDespiteErrors(12);
      EXPECT_EQ(Images(), "a=2 b=2");
    }
  }
}

TEST_P(PrefetchGateTest, DaemonSetOfAnotherOwnerIsNotChangedAndIsReported) {
  FirstGroupIsUpdated({"a", "b"});
  const Json labels = {{kPrefetchLabel, "x"}};
  world_.cluster.Create(kDaemonSetType,
                        {{"metadata", {{"namespace", kNs}, {"name", KeyOf("b").name}, {"labels", labels}}}});
  StepDespiteErrors();
  EXPECT_EQ(Images(), "a=2 b=1");
  EXPECT_THAT(MessageOf("b"), HasSubstr("already exists"));
  EXPECT_TRUE(world_.cluster.Get(kDaemonSetType, KeyOf("b")));
}

TEST_P(PrefetchGateTest, DaemonSetOfAnotherOwnerBlocksOnlyItsPool) {
  FirstGroupIsUpdated({"a", "b", "c"});
  world_.cluster.Create(kDaemonSetType, {{"metadata", {{"namespace", kNs}, {"name", KeyOf("b").name}}}});
  const auto steps = [&] {
    for (int i = 0; i < 3; ++i) {
      world_.Reconcile();  // It may be an error, because the DaemonSet of pool b can't be created.
      world_.clock.Advance(seconds(2));
    }
  };
  steps();
  EXPECT_THAT(MessageOf("b"), HasSubstr("already exists"));
  EXPECT_EQ(Pulling(), "c");
  SetNodesOf("c", 1, 1);
  steps();
  EXPECT_EQ(Images(), "a=2 b=1 c=2");
}

TEST_P(PrefetchGateTest, NoUpdateStartsWhileDaemonSetsCannotBeRead) {
  FirstGroupIsUpdated({"a", "b"});
  world_.prefetches_readable = false;
  world_.Restart();
  world_.FailToReadPrefetches(StatusResponse(403, "Forbidden", "daemonsets.apps is forbidden"));
  Step();
  EXPECT_EQ(Images(), "a=2 b=1");
  EXPECT_EQ(Progressing(), "False DaemonSetsUnreadable");
  EXPECT_THAT(Message(), HasSubstr("set prefetch.enabled=true in the values of the Helm chart"));
  EXPECT_EQ(WaitingFor("b"), "Freeze");
  world_.SetImage("app:1");
  Step();
  EXPECT_EQ(Images(), "a=1 b=1") << "a rollback needs no new images";
}

TEST_P(PrefetchGateTest, PullsContinueWhileANewLeaderCannotReadJobsOrTheFreeze) {
  const HttpResponse broken = StatusResponse(500, "InternalError", "etcdserver: leader changed");
  for (const bool reads_jobs : {false, true}) {
    SCOPED_TRACE(reads_jobs);
    StartOver();
    world_.watches_freeze = true;
    world_.Restart();
    StartPullsAfterACheck();
    ASSERT_EQ(Pulling(), "b c");
    (reads_jobs ? world_.freeze_readable : world_.jobs_readable) = false;
    world_.Restart();
    reads_jobs ? world_.FailToReadFreeze(broken) : world_.FailToReadJobs(broken);
    Step();
    EXPECT_EQ(Pulling(), "b c");
    SetNodesOf("b", 1, 1);
    Step();
    EXPECT_EQ(Images(), "a=2 b=1 c=1");
    world_.freeze_readable = world_.jobs_readable = true;
    Step(10);
    EXPECT_EQ(Images(), "a=2 b=2 c=1");
    for (const char* pool : {"b", "c"}) EXPECT_EQ(Created(pool), 1U) << pool;
  }
}

TEST_P(PrefetchGateTest, PauseEndsPullsEvenIfJobsCannotBeRead) {
  StartPullsAfterACheck();
  world_.jobs_readable = false;
  world_.Restart();
  world_.FailToReadJobs(StatusResponse(500, "InternalError", "etcdserver: leader changed"));
  Step();
  ASSERT_EQ(Pulling(), "b c");
  world_.EditDaemon([](Json& daemon) { daemon["spec"]["paused"] = true; });
  Step();
  EXPECT_EQ(Pulling(), "");
}

TEST_P(PrefetchGateTest, PullsEndWhenTheSpecNoLongerHasPrefetchEvenWithANewLeader) {
  Play([&] {
    FirstGroupIsUpdated({"a", "b", "c"});
    Step();
    ASSERT_EQ(Pulling(), "b c");
    world_.EditDaemon([](Json& daemon) { daemon["spec"]["updateStrategy"]["rollingUpdate"].erase("prefetch"); });
    Step();
    EXPECT_EQ(Pulling(), "");
    EXPECT_EQ(Images(), "a=2 b=2 c=1");
    Step();
    EXPECT_EQ(Unavailable(), "absent");
  });
}

TEST_P(PrefetchGateTest, DaemonSetThatCannotBeDeletedIsRetriedWithBackoff) {
  FirstGroupIsUpdated({"a", "b", "c"});
  Step();
  ASSERT_EQ(Pulling(), "b c");
  DropImageVolumes();
  world_.Restart();
  world_.cluster.Delete(kDaemonSetType, KeyOf("c"));
  world_.cluster.SetFaults([](const WriteRecord& write, const Json&) -> std::optional<FakeCluster::Fault> {
    if (write.method != "DELETE") return std::nullopt;
    return FakeCluster::Fault{StatusResponse(403, "Forbidden", "denied by policy"), false};
  });
  WaitDespiteErrors(16);
  EXPECT_EQ(Pulling(), "b");
  const auto result = world_.Reconcile();
  EXPECT_TRUE(!result || result->after > seconds(1)) << "the delete is retried with backoff";
}

INSTANTIATE_TEST_SUITE_P(Kind, PrefetchGateTest,
                         ::testing::Values(WorkloadKind::kDeployment, WorkloadKind::kStatefulSet));

}  // namespace
}  // namespace yad::testing
