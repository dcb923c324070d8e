// A freeze of the fleet: ConfigMap yurtappdaemon-freeze in the operator's namespace. The tests begin on 2026-01-02,
// after 03:00.
#include "tests/unit/yurtappdaemon/rolling_update_fixture.h"

namespace yad::testing {
namespace {

using Next = ReconcileResult::Next;

class FreezeTest : public RollingUpdateTest {
 protected:
  void WatchFreeze() {
    world_.watches_freeze = true;
    world_.Restart();
  }
  void DeployedWithFreeze(const std::vector<std::string>& pools, Json rolling = Json::object()) {
    WatchFreeze();
    Deployed(pools, std::move(rolling));
  }
  // Creates a daemon of the strategy All or OnDelete, with pools a and b.
  void DeployedAs(const char* strategy) {
    WatchFreeze();
    world_.AddPools({"a", "b"});
    Json daemon = DaemonJson("app:1", GetParam());
    daemon["spec"]["updateStrategy"] = {{"type", strategy}};
    world_.CreateDaemon(daemon);
    world_.Converge();
    Wait(seconds(1000));
  }
  void FreezeUpdates(Json data = Json::object()) {
    Json object = {{"metadata", {{"namespace", kFreezeNs}, {"name", kFreezeName}}}};
    object["data"] = std::move(data);
    world_.cluster.Create(kConfigMapType, std::move(object));
  }
  void Unfreeze() { world_.cluster.Delete(kConfigMapType, {kFreezeNs, kFreezeName}); }
  // Deploys pools a and b, and begins an update that a freeze and a closed window delay. Pool a is also held.
  void UpdateBehindEveryGate() {
    const Json window = {{"start", "06:00"}, {"duration", "1h"}};
    DeployedWithFreeze({"a", "b"}, {{"windows", Json::array({window})}});
    FreezeUpdates();
    AnnotatePool("a", kHoldAnnotation, "stocktaking");
    world_.SetImage("app:2");
    Step();
  }
  // Starts a new process, whose first list of the ConfigMap fails with this response.
  void RestartUnableToRead(const HttpResponse& answer) {
    world_.freeze_readable = false;
    world_.Restart();
    world_.FailToReadFreeze(answer);
  }

  static inline const HttpResponse kForbidden =
      StatusResponse(403, "Forbidden", "configmaps \"yurtappdaemon-freeze\" is forbidden");
  static inline const HttpResponse kBroken = StatusResponse(500, "InternalError", "etcdserver: leader changed");
};

TEST_P(FreezeTest, AFreezeStopsTheRemainingUpdatesOfABatch) {
  world_.parallel_writes = 1;
  DeployedAs("All");
  world_.cluster.SetAfterwards([this](const WriteRecord& request) {
    if (request.method != "PUT" || request.resource != TypeOf(GetParam()).resource) return;
    world_.cluster.SetAfterwards(nullptr);
    FreezeUpdates();
    world_.SyncAllButDeployments();
  });
  world_.SetImage("app:2");
  StepDespiteErrors();  // The reconcile in which the freeze begins fails with a conflict.
  EXPECT_EQ(Images(), "a=2 b=1");
  Unfreeze();
  Step();
  EXPECT_EQ(Images(), "a=2 b=2");
}

TEST_P(FreezeTest, NoUpdateStartsUntilTheFreezeIsRemoved) {
  Play([&] {
    DeployedWithFreeze({"a", "b"});
    FreezeUpdates({{"reason", "Christmas"}});
    world_.SetImage("app:2");
    Step();
    EXPECT_EQ(Images(), "a=1 b=1");
    EXPECT_EQ(WaitingFor("a"), "Freeze");
    EXPECT_EQ(MessageOf("a"), "updates of all YurtAppDaemons are frozen: Christmas (kubectl yad unfreeze)");
    EXPECT_EQ(Phase("a"), "Ready");
    EXPECT_EQ(Progressing(), "True Frozen");
    EXPECT_EQ(Message(),
              "0 of 2 pools are updated; updates of all YurtAppDaemons are frozen: Christmas (kubectl yad unfreeze)");
    EXPECT_EQ(Complete(), "False Frozen");
    EXPECT_EQ(Ready(), "True PoolsReady");
    EXPECT_EQ(ConditionReason(world_.Status(), "Reconciling"), "absent")
        << "a tool must not wait until the freeze ends";
    EXPECT_EQ(ConditionReason(world_.Status(), "Stalled"), "absent");
    EXPECT_EQ(world_.Status()["failedPools"], 0);
    Step(1000);
    EXPECT_EQ(Images(), "a=1 b=1");
    Unfreeze();
    Step();
    EXPECT_EQ(Images(), "a=2 b=1");
    Heal("a");
    Step();
    Heal("b");
    Step();
    EXPECT_EQ(Complete(), "True RolloutComplete");
  });
}

TEST_P(FreezeTest, FreezeStopsTheUpdatesOfEachYurtAppDaemon) {
  DeployedWithFreeze({"a"});
  Json other = DaemonJson("app:1", GetParam());
  other["metadata"]["name"] = "other";
  other["metadata"]["uid"] = "uid-of-other";
  world_.cluster.Create(kYurtAppDaemonType, other);
  world_.ConvergeOther("other");
  ASSERT_EQ(Images(), "a=1 a=1");
  FreezeUpdates();
  for (const char* name : {"web", "other"}) {
    world_.cluster.Edit(kYurtAppDaemonType, {kNs, name},
                        [](Json& daemon) { PodSpecOf(TemplateOf(daemon))["containers"][0]["image"] = "app:2"; });
  }
  Step();
  world_.ConvergeOther("other");
  EXPECT_EQ(Images(), "a=1 a=1");
  EXPECT_EQ(WaitingFor("a"), "Freeze");
  const Json status = world_.cluster.Get(kYurtAppDaemonType, {kNs, "other"}).value_or(Json()).value("status", Json());
  EXPECT_EQ(PoolStatus(status, "a")["waitingFor"], "Freeze");
  Unfreeze();
  Step();
  world_.ConvergeOther("other");
  EXPECT_EQ(Images(), "a=2 a=2");
}

TEST_P(FreezeTest, RunningUpdateContinuesDuringAFreeze) {
  Play([&] {
    DeployedWithFreeze({"a", "b"});
    world_.SetImage("app:2");
    Step();
    FreezeUpdates();
    Step();
    EXPECT_EQ(Progressing(), "True RollingOut") << "pool a is not healthy yet";
    EXPECT_EQ(WaitingFor("b"), "Freeze");
    EXPECT_EQ(MessageOf("b"), "updates of all YurtAppDaemons are frozen (kubectl yad unfreeze)");
    Heal("a");
    Step();
    EXPECT_EQ(Images(), "a=2 b=1");
    EXPECT_EQ(Progressing(), "True Frozen");
  });
}

TEST_P(FreezeTest, FreezeIsNotReportedIfItDelaysNoUpdate) {
  Play([&] {
    DeployedWithFreeze({"a", "b"});
    FreezeUpdates({{"reason", "Christmas"}});
    Step();
    EXPECT_EQ(Progressing(), "True RolloutComplete");
    EXPECT_EQ(Complete(), "True RolloutComplete");
    EXPECT_EQ(WaitingFor("a"), "");
  });
}

TEST_P(FreezeTest, FreezeEndsAtTheTimeInUntil) {
  DeployedWithFreeze({"a"});
  FreezeUpdates({{"until", "2026-01-02T06:00:00Z"}, {"reason", "night"}});
  world_.SetImage("app:2");
  Step();
  EXPECT_EQ(MessageOf("a"),
            "updates of all YurtAppDaemons are frozen until 2026-01-02T06:00:00Z: night (kubectl yad unfreeze)");
  WaitUntil("2026-01-02T05:59:30Z");
  const auto last = world_.Reconcile();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->next, Next::kAfter);
  EXPECT_EQ(last->after, Duration(seconds(30)));
  EXPECT_EQ(Images(), "a=1");
  WaitUntil("2026-01-02T06:00:01Z");
  EXPECT_EQ(Images(), "a=2") << "the last reconcile has requested this reconcile";
}

TEST_P(FreezeTest, WallClockThatJumpsPastTheEndOfAFreezeIsDetectedWithinAMinute) {
  DeployedWithFreeze({"a"});
  FreezeUpdates({{"until", "2026-01-02T06:00:00Z"}});
  world_.SetImage("app:2");
  Step();
  const auto frozen = world_.Reconcile();
  ASSERT_TRUE(frozen);
  ASSERT_EQ(frozen->next, Next::kAfter);
  EXPECT_LE(frozen->after, Duration(seconds(60)));
  world_.clock.SetWall(ParseTime("2026-01-02T06:10:00Z"));
  world_.clock.Advance(frozen->after);
  Step();
  EXPECT_EQ(Images(), "a=2");
}

TEST_P(FreezeTest, PassedTimeInUntilEndsAFreezeAndAnInvalidTimeIsIgnored) {
  Play([&] {
    DeployedWithFreeze({"a"});
    FreezeUpdates({{"until", "2026-01-01T00:00:00Z"}});
    world_.SetImage("app:2");
    Step();
    EXPECT_EQ(Images(), "a=2");
    Heal("a");
    Step();
    Unfreeze();
    FreezeUpdates({{"until", "soon"}, {"reason", "night"}});
    world_.SetImage("app:3");
    Step(1000);
    EXPECT_EQ(Images(), "a=2");
    EXPECT_EQ(MessageOf("a"),
              "updates of all YurtAppDaemons are frozen: night; `until` is not a valid RFC 3339 time, so it is ignored "
              "(kubectl yad unfreeze)");
  });
}

TEST_P(FreezeTest, ConfigMapWithoutDataIsAFreezeAndALongReasonIsTruncated) {
  DeployedWithFreeze({"a"});
  world_.cluster.Create(kConfigMapType, {{"metadata", {{"namespace", kFreezeNs}, {"name", kFreezeName}}}});
  world_.SetImage("app:2");
  Step();
  EXPECT_EQ(WaitingFor("a"), "Freeze");
  Unfreeze();
  FreezeUpdates({{"reason", std::string(100'000, 'x')}});
  Step();
  EXPECT_EQ(WaitingFor("a"), "Freeze");
  EXPECT_LT(MessageOf("a").size(), 400U);
}

TEST_P(FreezeTest, OtherConfigMapsAreNotAFreeze) {
  DeployedWithFreeze({"a"});
  world_.cluster.Create(kConfigMapType, {{"metadata", {{"namespace", kFreezeNs}, {"name", "other"}}}});
  world_.SetImage("app:2");
  Step();
  EXPECT_EQ(Images(), "a=2");
}

TEST_P(FreezeTest, FreezeDoesNotDelayARollback) {
  Play([&] {
    DeployedWithFreeze({"a", "b", "c"}, {{"progressDeadlineSeconds", 30}, {"onFailure", "Rollback"}});
    world_.SetImage("app:2");
    Step();
    Heal("a");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2 c=1");
    FreezeUpdates();
    Step(35);
    Step();
    EXPECT_EQ(Progressing(), "True RollingBack");
    EXPECT_EQ(Images(), "a=2 b=1 c=1");
    Heal("b");
    Step();
    EXPECT_EQ(Images(), "a=1 b=1 c=1");
    Heal("a");
    Step();
    EXPECT_EQ(Progressing(), "False RolledBack");
    Taint("a", "gpu");
    Step();
    EXPECT_EQ(Progressing(), "True Frozen");
    EXPECT_NE(Message().find("; 2 of 3 pools are back on "), std::string::npos) << Message();
  });
}

TEST_P(FreezeTest, RecreatedWorkloadStaysOnTheCurrentRevision) {
  Play([&] {
    DeployedWithFreeze({"a", "b"});
    FreezeUpdates();
    world_.SetImage("app:2");
    Step();
    DeleteWorkload("a");
    world_.AddPool("c");
    Step();
    EXPECT_EQ(Images(), "a=1 b=1 c=1");
    Heal("a");
    Heal("c");
    Step();
    EXPECT_EQ(WaitingFor("a"), "Freeze");
    Unfreeze();
    Step();
    EXPECT_EQ(Images(), "a=2 b=1 c=1");
  });
}

TEST_P(FreezeTest, FreezeDelaysNoCreationRepairOrScaling) {
  Play([&] {
    WatchFreeze();
    FreezeUpdates();
    Deployed({"a", "b"});
    EXPECT_EQ(Images(), "a=1 b=1") << "the first workloads are created";
    world_.EditWorkload(
        "a", [](Json& workload) { workload["spec"]["template"]["spec"]["containers"][0]["image"] = "app:9"; });
    Step();
    EXPECT_EQ(Images(), "a=1 b=1") << "the repair keeps the old image";
    Heal("a");
    world_.EditDaemon([](Json& daemon) { TemplateOf(daemon)["spec"]["replicas"] = 4; });
    Step();
    EXPECT_EQ(world_.Workload("b")["spec"]["replicas"], 4);
    EXPECT_EQ(WaitingFor("b"), "");
  });
}

TEST_P(FreezeTest, GatesDelayNoRemoval) {
  UpdateBehindEveryGate();
  ASSERT_EQ(WaitingFor("a"), "Hold");
  ASSERT_EQ(WaitingFor("b"), "Freeze");
  world_.EditDaemon([](Json& daemon) { daemon["spec"]["nodePools"] = {{"exclude", {"a"}}}; });
  Step();
  Step();
  EXPECT_EQ(Images(), "b=1");
}

TEST_P(FreezeTest, NewTaintOfAPoolWaitsForTheEndOfAFreeze) {
  Play([&] {
    DeployedWithFreeze({"a", "b"});
    FreezeUpdates();
    Taint("a", "gpu");
    Step();
    EXPECT_FALSE(Tolerates("a"));
    EXPECT_EQ(WaitingFor("a"), "Freeze");
    Unfreeze();
    Step();
    EXPECT_TRUE(Tolerates("a"));
  });
}

TEST_P(FreezeTest, HoldIsReportedBeforeTheFreezeAndTheFreezeBeforeTheWindow) {
  UpdateBehindEveryGate();
  EXPECT_EQ(WaitingFor("a"), "Hold");
  EXPECT_EQ(WaitingFor("b"), "Freeze");
  Unfreeze();
  Step();
  EXPECT_EQ(WaitingFor("b"), "Window");
}

TEST_P(FreezeTest, StrategyAllWaitsForTheEndOfAFreezeToo) {
  Play([&] {
    DeployedAs("All");
    FreezeUpdates({{"reason", "Christmas"}});
    world_.SetImage("app:2");
    Step();
    EXPECT_EQ(Images(), "a=1 b=1");
    EXPECT_EQ(WaitingFor("a"), "Freeze");
    EXPECT_EQ(Progressing(), "True Frozen");
    EXPECT_EQ(Complete(), "False Frozen");
    EXPECT_EQ(Ready(), "True PoolsReady");
    EXPECT_EQ(ConditionReason(world_.Status(), "Reconciling"), "absent");
    EXPECT_EQ(Message(),
              "0 of 2 pools are updated; updates of all YurtAppDaemons are frozen: Christmas (kubectl yad unfreeze)");
    DeleteWorkload("a");
    Step();
    EXPECT_EQ(Images(), "a=1 b=1") << "the workload is created from the current revision";
    Heal("a");
    Unfreeze();
    Step();
    EXPECT_EQ(Images(), "a=2 b=2");
  });
}

TEST_P(FreezeTest, StrategyOnDeleteWaitsForTheEndOfAFreezeToo) {
  Play([&] {
    DeployedAs("OnDelete");
    FreezeUpdates();
    world_.SetImage("app:2");
    Step();
    EXPECT_EQ(WaitingFor("a"), "Freeze");
    EXPECT_EQ(Progressing(), "True Frozen");
    DeleteWorkload("a");
    Step();
    EXPECT_EQ(Images(), "a=1 b=1") << "the workload is created from the current revision";
    Heal("a");
    Unfreeze();
    Step();
    EXPECT_EQ(WaitingFor("a"), "Deletion");
    DeleteWorkload("a");
    Step();
    EXPECT_EQ(Images(), "a=2 b=1");
  });
}

TEST_P(FreezeTest, NoUpdateStartsBeforeTheFreezeIsKnown) {
  DeployedWithFreeze({"a"});
  world_.freeze_readable = false;
  world_.Restart();
  world_.SetImage("app:2");
  const auto result = world_.Reconcile();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->next, Next::kAfter);
  EXPECT_EQ(Images(), "a=1");
  world_.freeze_readable = true;
  Step();
  EXPECT_EQ(Images(), "a=2");
}

TEST_P(FreezeTest, ForbiddenReadOfTheFreezeDoesNotDelayUpdatesForever) {
  DeployedWithFreeze({"a"});
  FreezeUpdates();
  RestartUnableToRead(kForbidden);
  world_.SetImage("app:2");
  Step(40);
  EXPECT_EQ(Images(), "a=2");
}

// During an installation, the role may be created after the Deployment.
TEST_P(FreezeTest, ForbiddenReadDelaysUpdatesForHalfAMinute) {
  DeployedWithFreeze({"a"});
  RestartUnableToRead(kForbidden);
  world_.SetImage("app:2");
  Step(29);
  EXPECT_EQ(Images(), "a=1");
  EXPECT_EQ(WaitingFor("a"), "Freeze");
  EXPECT_NE(MessageOf("a").find("no update starts, because the operator can't check whether updates are frozen: "
                                "ConfigMap yurtappdaemon-freeze can't be read: cannot list configmaps: Forbidden: "),
            std::string::npos)
      << MessageOf("a");
  Step(7);
  EXPECT_EQ(Images(), "a=2") << "the last reconcile has requested this reconcile";
}

TEST_P(FreezeTest, FreezeThatBecomesReadableWithinHalfAMinuteDelaysUpdates) {
  DeployedWithFreeze({"a"});
  FreezeUpdates({{"reason", "Christmas"}});
  RestartUnableToRead(kForbidden);
  world_.SetImage("app:2");
  Step(20);
  EXPECT_EQ(Images(), "a=1");
  world_.freeze_readable = true;
  Step(40);
  EXPECT_EQ(Images(), "a=1");
  EXPECT_EQ(MessageOf("a"), "updates of all YurtAppDaemons are frozen: Christmas (kubectl yad unfreeze)");
}

TEST(ForbiddenReadsTest, CountsAndIsLoggedOnceAfterHalfAMinuteWithoutOtherErrors) {
  const std::string forbidden = "cannot list configmaps: Forbidden: no";
  const SteadyTime start{};
  ForbiddenReads reads("no permission");
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(reads.IsPermanentlyForbidden(forbidden, start));
  EXPECT_FALSE(reads.IsPermanentlyForbidden(forbidden, start + seconds(29)));
  EXPECT_FALSE(reads.IsPermanentlyForbidden("cannot list configmaps: InternalError: etcd", start + seconds(30)));
  EXPECT_FALSE(reads.IsPermanentlyForbidden(forbidden, start + seconds(31)));
  EXPECT_FALSE(reads.IsPermanentlyForbidden(forbidden, start + seconds(60)));
  EXPECT_TRUE(reads.IsPermanentlyForbidden(forbidden, start + seconds(61)));
  EXPECT_TRUE(reads.IsPermanentlyForbidden(forbidden, start + seconds(100)));
  EXPECT_FALSE(reads.IsPermanentlyForbidden("", start + seconds(101)));
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("WARN  no permission error="), std::string::npos) << log;
  EXPECT_EQ(log.find("no permission"), log.rfind("no permission")) << log;
}

TEST_P(FreezeTest, NoUpdateStartsWhileTheFirstReadFails) {
  DeployedWithFreeze({"a"});
  RestartUnableToRead(kBroken);
  world_.SetImage("app:2");
  Step();
  EXPECT_EQ(Images(), "a=1");
  EXPECT_EQ(WaitingFor("a"), "Freeze");
  EXPECT_NE(MessageOf("a").find("ConfigMap yurtappdaemon-freeze can't be read: "), std::string::npos) << MessageOf("a");
  EXPECT_EQ(Progressing(), "True Frozen");
  world_.freeze_readable = true;
  Step();
  EXPECT_EQ(Images(), "a=2") << "there is no ConfigMap";
}

TEST_P(FreezeTest, FailedFirstReadDelaysNoScaling) {
  DeployedWithFreeze({"a"});
  RestartUnableToRead(kBroken);
  world_.EditDaemon([](Json& daemon) { TemplateOf(daemon)["spec"]["replicas"] = 4; });
  world_.SetImage("app:2");
  Step();
  EXPECT_EQ(Images(), "a=1");
  EXPECT_EQ(world_.Workload("a")["spec"]["replicas"], 4);
}

// A list without the ConfigMap does not cause an event.
TEST_P(FreezeTest, ReconcileIsRequeuedWhileTheFirstReadFails) {
  DeployedWithFreeze({"a"});
  RestartUnableToRead(kBroken);
  world_.SetImage("app:2");
  Step();
  const auto result = world_.Reconcile();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->next, Next::kAfter);
}

TEST_P(FreezeTest, LaterFailedReadKeepsTheLastKnownState) {
  for (const bool frozen : {false, true}) {
    for (const HttpResponse& answer : {kForbidden, kBroken}) {
      StartOver();
      DeployedWithFreeze({"a"});
      if (frozen) FreezeUpdates();
      Step();
      world_.freeze_readable = false;
      world_.FailToReadFreeze(answer);
      if (frozen) Unfreeze();
      world_.SetImage("app:2");
      Step();
      EXPECT_EQ(Images(), frozen ? "a=1" : "a=2") << answer.status;
      EXPECT_EQ(WaitingFor("a"), frozen ? "Freeze" : "") << answer.status;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kind, FreezeTest, ::testing::Values(WorkloadKind::kDeployment, WorkloadKind::kStatefulSet));

}  // namespace
}  // namespace yad::testing
