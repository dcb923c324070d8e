// The status that BuildStatus returns.
#include "operator/yurtappdaemon/report/status.h"

#include <gtest/gtest.h>

#include "tests/unit/yurtappdaemon/builders.h"
#include "tests/unit/yurtappdaemon/status_scene.h"

namespace yad::testing {
namespace {

TEST(StatusTest, EveryFieldIsSetAfterARollout) {
  const Scene scene = Deployed({PoolJson("b"), PoolJson("a")});
  const std::string revision = scene.objects.update()->name;
  const Json status = scene.Status();
  EXPECT_EQ(status["observedGeneration"], 1);
  EXPECT_EQ(status["collisionCount"], 0);
  EXPECT_EQ(status["currentRevision"], revision);
  EXPECT_EQ(status["updateRevision"], revision);
  EXPECT_EQ(status["templateType"], "Deployment");
  EXPECT_EQ(status["nodepools"], R"(["a", "b"])"_json);
  EXPECT_EQ(status["desiredPools"], 2);
  EXPECT_EQ(status["updatedPools"], 2);
  EXPECT_EQ(status["readyPools"], 2);
  EXPECT_EQ(status["failedPools"], 0);
  EXPECT_EQ(status["offlinePools"], 0);
  EXPECT_EQ(status["replicas"], 2);
  EXPECT_EQ(status["readyReplicas"], 2);
  EXPECT_EQ(status["images"], "app:1");
  EXPECT_FALSE(status.contains("poolsTruncated"));
  const std::string name = WorkloadName("web", kDaemonUid, "a", WorkloadKind::kDeployment);
  EXPECT_EQ(status["workloadSummary"][0],
            (Json{{"availableCondition", "True"}, {"replicas", 1}, {"readyReplicas", 1}, {"workloadName", name}}));
  EXPECT_EQ(status["pools"][0], (Json{{"name", "a"},
                                      {"workload", name},
                                      {"revision", revision},
                                      {"phase", "Ready"},
                                      {"state", "Ready"},
                                      {"replicas", 1},
                                      {"readyReplicas", 1},
                                      {"lastTransitionTime", "2026-05-01T10:00:00Z"}}));
  EXPECT_EQ(ConditionReason(status, "WorkLoadProvisioned"), "True ");
  EXPECT_EQ(ConditionReason(status, "WorkLoadUpdated"), "True ");
  EXPECT_EQ(ConditionReason(status, "WorkLoadFailure"), "absent");
  EXPECT_EQ(ConditionReason(status, "Ready"), "True PoolsReady");
  EXPECT_EQ(ConditionReason(status, "Progressing"), "True RolloutComplete");
  EXPECT_EQ(ConditionReason(status, "Degraded"), "False NoFailures");
  EXPECT_EQ(ConditionReason(status, "Paused"), "False NotPaused");
  EXPECT_EQ(ConditionOf(status, "Ready")["observedGeneration"], 1);
  EXPECT_FALSE(ConditionOf(status, "WorkLoadUpdated").contains("observedGeneration"))
      << "OpenYurt's conditions must not change";
}

struct PhaseCase {
  const char* what;
  Scene scene;  // of one pool "a"
  const char* phase;
  const char* reason;
  int updated, ready, failed, offline;
  const char* ready_condition;
  const char* progressing;
  bool current_advances;  // from "" to the update revision
};

void ExpectPhase(PhaseCase c) {
  SCOPED_TRACE(c.what);
  c.scene.objects.current = MakeRevision(DaemonJson("app:0"));
  const std::string before = c.scene.objects.current->name, update = c.scene.objects.update()->name;
  const Json status = c.scene.Status();
  const Json pool = status["pools"][0];
  EXPECT_EQ(pool["phase"], c.phase);
  EXPECT_EQ(StringAt(pool, {"reason"}), c.reason);
  EXPECT_EQ(status["updatedPools"], c.updated);
  EXPECT_EQ(status["readyPools"], c.ready);
  EXPECT_EQ(status["failedPools"], c.failed);
  EXPECT_EQ(status["offlinePools"], c.offline);
  EXPECT_EQ(ConditionReason(status, "Ready"), c.ready_condition);
  EXPECT_EQ(ConditionReason(status, "Progressing"), c.progressing);
  EXPECT_EQ(ConditionReason(status, "WorkLoadUpdated"), c.updated == 1 ? "True " : "False ");
  EXPECT_EQ(ConditionReason(status, "Degraded"), c.failed > 0 ? "True PoolsFailed" : "False NoFailures");
  EXPECT_EQ(ConditionReason(status, "WorkLoadFailure"), c.failed > 0 ? std::string("True ") + c.reason : "absent");
  EXPECT_EQ(status["currentRevision"], c.current_advances ? update : before);
}

TEST(StatusTest, EachStateOfAPoolHasItsPhaseAndCounters) {
  const Json on = PoolJson("a"), off = OfflinePoolJson("a"), bad = PoolJson(std::string(64, 'a'));
  Scene none{.objects = {.pools = {on}}};
  Scene unhealthy = Deployed({on}), late = Deployed({on}), terminating = Deployed({on}), offline = Deployed({off});
  MakeUnhealthy(unhealthy.objects.workloads[0]);
  ExceedDeadline(late.objects.workloads[0]);
  terminating.objects.workloads[0]["metadata"]["deletionTimestamp"] = "2026-01-02T00:00:00Z";
  MakeUnhealthy(offline.objects.workloads[0]);
  Scene outstanding = Deployed({on}), rejected = Deployed({on}), conflict = none, quota = none, webhook = none;
  outstanding.adjust = [](PoolOutcome& r) { r.outstanding = true; };
  rejected.adjust = [](PoolOutcome& r) { Fail(r, "Invalid"); };
  conflict.adjust = [](PoolOutcome& r) { Fail(r, "WorkloadConflict"); };
  quota.adjust = [](PoolOutcome& r) { Fail(r, "QuotaExceeded"); };
  webhook.adjust = [](PoolOutcome& r) { Fail(r, "WebhookFailed"); };
  Scene offline_none{.objects = {.pools = {off}}}, offline_late = Deployed({off}), offline_conflict = offline_none;
  ExceedDeadline(offline_late.objects.workloads[0]);
  offline_conflict.adjust = conflict.adjust;
  Scene bad_name{.objects = {.pools = {bad}}};
  Scene override_fault = Deployed({on});
  override_fault.objects.daemon["spec"]["overrides"] =
      R"([{"pools": ["a"], "images": [{"name": "absent", "image": "x"}]}])"_json;

  const char* going = "True RollingOut";
  const PhaseCase cases[] = {
      {"healthy", Deployed({on}), "Ready", "", 1, 1, 0, 0, "True PoolsReady", "True RolloutComplete", true},
      {"no workload yet", none, "Pending", "", 0, 0, 0, 0, "False PoolsNotReady", going, false},
      {"not healthy yet", unhealthy, "Updating", "", 0, 0, 0, 0, "False PoolsNotReady", going, false},
      {"written, not confirmed", outstanding, "Updating", "", 0, 0, 0, 0, "False PoolsNotReady", going, false},
      {"being deleted", terminating, "Updating", "WorkloadTerminating", 0, 0, 0, 0, "False PoolsNotReady", going,
       false},
      {"past its deadline", late, "Failed", "ProgressDeadlineExceeded", 0, 0, 1, 0, "False PoolsNotReady",
       "False ProgressDeadlineExceeded", false},
      {"rejected by the server", rejected, "Failed", "Invalid", 0, 1, 1, 0, "False PoolsNotReady",
       "False FailureBudgetExceeded", false},
      {"rejected by a webhook", webhook, "Failed", "WebhookFailed", 0, 0, 1, 0, "False PoolsNotReady",
       "False FailureBudgetExceeded", false},
      {"override does not apply", override_fault, "Failed", "InvalidOverride", 0, 1, 1, 0, "False PoolsNotReady",
       "False FailureBudgetExceeded", false},
      // The revision does not cause these failures.
      {"the workload of another owner", conflict, "Failed", "WorkloadConflict", 0, 0, 1, 0, "False PoolsNotReady",
       "True RolloutComplete", true},
      {"quota", quota, "Failed", "QuotaExceeded", 0, 0, 1, 0, "False PoolsNotReady", "True RolloutComplete", true},
      {"name is no label value", bad_name, "Failed", "InvalidPoolName", 0, 0, 1, 0, "False PoolsNotReady",
       "True RolloutComplete", true},
      // An offline pool does not block other pools.
      {"offline and written", offline, "Offline", "NoReadyNode", 1, 0, 0, 1, "Unknown AllPoolsOffline",
       "True RolloutComplete", true},
      {"offline and late", offline_late, "Offline", "ProgressDeadlineExceeded", 1, 0, 0, 1, "Unknown AllPoolsOffline",
       "True RolloutComplete", true},
      {"offline and not written", offline_none, "Offline", "NoReadyNode", 0, 0, 0, 1, "Unknown AllPoolsOffline", going,
       false},
      {"offline, and of another owner", offline_conflict, "Offline", "WorkloadConflict", 0, 0, 1, 1,
       "Unknown AllPoolsOffline", "True RolloutComplete", true},
  };
  for (const PhaseCase& one : cases) ExpectPhase(one);
}

TEST(StatusTest, OfflinePoolWithoutAWorkloadAfterARejectedWriteHasFailed) {
  Scene scene = Deployed({PoolJson("a"), OfflinePoolJson("b")});
  scene.objects.workloads.pop_back();
  scene.adjust = [](PoolOutcome& result) {
    if (result.plan->pool == "b") Fail(result, "QuotaExceeded");
  };
  const Json status = scene.Status();
  EXPECT_EQ(PoolStatus(status, "b")["phase"], "Offline");
  EXPECT_EQ(PoolStatus(status, "b")["reason"], "QuotaExceeded");
  EXPECT_EQ(status["failedPools"], 1);
  EXPECT_EQ(status["offlinePools"], 1);
  EXPECT_EQ(ConditionReason(status, "WorkLoadFailure"), "True QuotaExceeded");
  EXPECT_EQ(ConditionReason(status, "Complete"), "True CompleteWithFailures");
  EXPECT_EQ(ConditionReason(status, "Ready"), "True PoolsReady");
}

TEST(StatusTest, UnhealthyPoolHasTheProblemOfItsPods) {
  Scene scene = Deployed({PoolJson("a"), PoolJson("b")});
  MakeUnhealthy(scene.objects.workloads[0]);
  scene.diagnoses["a"] = {kErrorState, kImagePullBackOff, "no such image"};
  Json status = scene.Status();
  EXPECT_EQ(PoolStatus(status, "a")["phase"], "Updating");
  EXPECT_EQ(PoolStatus(status, "a")["state"], "Error");
  EXPECT_EQ(PoolStatus(status, "a")["reason"], "ImagePullBackOff");
  EXPECT_EQ(PoolStatus(status, "a")["message"], "no such image");
  EXPECT_EQ(PoolStatus(status, "b")["state"], "Ready");
  EXPECT_FALSE(PoolStatus(status, "b").contains("reason"));
  EXPECT_EQ(ConditionReason(status, "Degraded"), "False NoFailures") << "the pool has not failed yet";
}

TEST(StatusTest, PoolPastItsDeadlineHasTheProblemOfItsPodsAndTheDeadline) {
  Scene scene = Deployed({PoolJson("a")});
  ExceedDeadline(scene.objects.workloads[0]);
  scene.objects.workloads[0]["status"]["readyReplicas"] = 0;
  EXPECT_EQ(PoolStatus(scene.Status(), "a")["state"], "Degraded");
  scene.diagnoses["a"] = {kErrorState, kImagePullBackOff, "no such image"};
  const Json status = scene.Status();
  EXPECT_EQ(PoolStatus(status, "a")["phase"], "Failed");
  EXPECT_EQ(PoolStatus(status, "a")["reason"], "ImagePullBackOff");
  EXPECT_EQ(PoolStatus(status, "a")["message"], "no such image; ReplicaSet has timed out progressing");
  EXPECT_EQ(ConditionReason(status, "WorkLoadFailure"), "True ImagePullBackOff");
  EXPECT_EQ(ConditionReason(status, "Progressing"), "False ProgressDeadlineExceeded")
      << "the deadline is still the reason of Progressing";
  scene.diagnoses["a"] = {kDegradedState, "", ""};
  EXPECT_EQ(PoolStatus(scene.Status(), "a")["reason"], "ProgressDeadlineExceeded") << "the pods have no problem";
}

TEST(StatusTest, RemovedWorkloadHasStateDestroyAndPoolWithoutAWorkloadHasNoState) {
  Scene scene{.objects = {.pools = {PoolJson("a")}}};
  scene.leaving = {WorkloadJson(scene.objects.daemon, scene.objects.update(), PoolJson("old"))};
  EXPECT_EQ(PoolStatus(scene.Status(), "old")["state"], "Destroy");
  EXPECT_FALSE(PoolStatus(scene.Status(), "a").contains("state"));
}

TEST(StatusTest, PoolsAreReadyOnTheOldRevisionWhilePausedOrWithOnDelete) {
  Scene scene;
  scene.objects.daemon = DaemonJson("app:2");
  scene.objects.pools = {PoolJson("a")};
  scene.objects.current = MakeRevision(DaemonJson("app:1"));
  scene.objects.workloads = {WorkloadJson(DaemonJson("app:1"), scene.objects.current, PoolJson("a"))};

  scene.objects.daemon["spec"]["paused"] = true;
  Json status = scene.Status();
  EXPECT_EQ(PoolStatus(status, "a")["phase"], "Ready");
  EXPECT_EQ(PoolStatus(status, "a")["revision"], scene.objects.current->name);
  EXPECT_EQ(status["updatedPools"], 0);
  EXPECT_EQ(status["readyPools"], 1);
  EXPECT_EQ(status["currentRevision"], scene.objects.current->name);
  EXPECT_EQ(ConditionReason(status, "Ready"), "True PoolsReady") << "a pause does not make the daemon NotReady";
  EXPECT_EQ(ConditionReason(status, "Progressing"), "Unknown Paused");
  EXPECT_EQ(ConditionReason(status, "Paused"), "True SpecPaused");

  scene.objects.daemon["spec"]["paused"] = false;
  scene.objects.daemon["spec"]["updateStrategy"] = {{"type", "OnDelete"}};
  status = scene.Status();
  EXPECT_EQ(PoolStatus(status, "a")["phase"], "Ready");
  EXPECT_EQ(ConditionReason(status, "Ready"), "True PoolsReady") << "the pool should have the old revision";
  EXPECT_EQ(ConditionReason(status, "Progressing"), "True WaitingForDeletion");
  EXPECT_EQ(status["currentRevision"], scene.objects.current->name);
}

TEST(StatusTest, PoolThatFailedOnTheOldRevisionWaitsForItsDeletionAndDoesNotStallTheRollout) {
  Scene scene;
  scene.objects.daemon = DaemonJson("app:2");
  scene.objects.daemon["spec"]["updateStrategy"] = {{"type", "OnDelete"}};
  scene.objects.pools = {PoolJson("a")};
  scene.objects.current = MakeRevision(DaemonJson("app:1"));
  scene.objects.workloads = {WorkloadJson(DaemonJson("app:1"), scene.objects.current, PoolJson("a"))};
  ExceedDeadline(scene.objects.workloads[0]);
  const Json status = scene.Status();
  EXPECT_EQ(PoolStatus(status, "a")["phase"], "Failed");
  EXPECT_EQ(PoolStatus(status, "a")["waitingFor"], "Deletion");
  EXPECT_EQ(ConditionReason(status, "Progressing"), "True WaitingForDeletion");
  EXPECT_EQ(ConditionReason(status, "Complete"), "False WaitingForDeletion");
  EXPECT_EQ(ConditionReason(status, "Stalled"), "absent");
  EXPECT_EQ(status["failedPools"], 1);
}

TEST(StatusTest, PoolThatReturnsFromOfflineIsUnhealthyIfItWasHealthyOnItsRevision) {
  Scene scene = Deployed({PoolJson("a")});
  const auto phase = [&] {
    scene.previous = scene.Status();
    return StringAt(PoolStatus(scene.previous, "a"), {"phase"});
  };
  const auto go = [&](bool online) { scene.objects.pools = {online ? PoolJson("a") : OfflinePoolJson("a")}; };
  EXPECT_EQ(phase(), "Ready");
  go(false);
  MakeUnhealthy(scene.objects.workloads[0]);
  EXPECT_EQ(phase(), "Offline");
  EXPECT_EQ(phase(), "Offline");
  go(true);
  EXPECT_EQ(phase(), "Unhealthy");
  // An update of the Offline pool.
  go(false);
  EXPECT_EQ(phase(), "Offline");
  scene.objects.daemon = DaemonJson("app:2");
  scene.objects.workloads.clear();
  scene.objects.Deployed();
  MakeUnhealthy(scene.objects.workloads[0]);
  EXPECT_EQ(phase(), "Offline");
  go(true);
  EXPECT_EQ(phase(), "Updating");
}

TEST(StatusTest, APoolWithAnUnchangedRenderingCountsAsUpdatedWithItsOldLabel) {
  Scene scene = Deployed({PoolJson("a")});
  const RevisionPtr old = scene.objects.update();
  scene.objects.current = old;
  scene.objects.daemon["spec"]["overrides"] = R"([{"pools": ["z"], "replicas": 4}])"_json;
  const Json status = scene.Status();
  EXPECT_EQ(status["updatedPools"], 1);
  EXPECT_EQ(PoolStatus(status, "a")["revision"], old->name);
  EXPECT_EQ(status["currentRevision"], scene.objects.update()->name);
}

TEST(StatusTest, DaemonWithoutPoolsHasACompleteRollout) {
  const Json status = Scene{}.Status();
  EXPECT_EQ(status["desiredPools"], 0);
  EXPECT_EQ(status["pools"], Json::array());
  EXPECT_EQ(status["nodepools"], Json::array());
  EXPECT_EQ(ConditionReason(status, "WorkLoadProvisioned"), "True ");
  EXPECT_EQ(ConditionReason(status, "WorkLoadUpdated"), "True ");
  EXPECT_EQ(ConditionReason(status, "Ready"), "True NoPools");
  EXPECT_EQ(ConditionReason(status, "Progressing"), "True RolloutComplete");
}

// The update of a pool to the current revision does not need an approval. So a revision must not become current too
// early.
TEST(StatusTest, RollingUpdateMakesNoRevisionCurrentWhileWorkloadsAreRemovedOrWithoutPools) {
  Scene scene = Deployed({PoolJson("a"), PoolJson("b")});
  scene.objects.current = MakeRevision(DaemonJson("app:0"));
  for (const char* type : {"All", "RollingUpdate"}) {
    SCOPED_TRACE(type);
    scene.objects.daemon["spec"]["updateStrategy"]["type"] = type;
    const bool rolling = scene.objects.daemon["spec"]["updateStrategy"]["type"] == "RollingUpdate";
    const std::string before = scene.objects.current->name, update = scene.objects.update()->name;
    const auto current = [](const Scene& of) { return StringAt(of.Status(), {"currentRevision"}); };
    EXPECT_EQ(current(scene), update);

    Scene part = scene;
    const Json gone = part.objects.workloads[1];
    part.objects.pools.pop_back();
    part.objects.workloads.pop_back();
    EXPECT_EQ(current(part), update);
    part.leaving = {gone};
    EXPECT_EQ(current(part), rolling ? before : update);
    part.leaving[0]["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:00Z";
    EXPECT_EQ(current(part), update) << "a finalizer keeps the workload, and no update can follow";
    part.leaving.clear();
    part.postponed.workloads = {MakeWorkload(gone)};
    EXPECT_EQ(current(part), rolling ? before : update);

    Scene none = scene;
    none.objects.pools.clear();
    none.objects.workloads.clear();
    EXPECT_EQ(current(none), rolling ? before : update);
    none.objects.current = nullptr;
    EXPECT_EQ(current(none), update);
  }
}

TEST(StatusTest, WorkloadThatIsBeingRemovedHasPhaseRemoving) {
  Scene scene = Deployed({PoolJson("a"), PoolJson("b")});
  scene.leaving = {scene.objects.workloads[1]};
  scene.objects.pools.pop_back();
  scene.objects.workloads.pop_back();
  const Json status = scene.Status();
  EXPECT_EQ(PoolStatus(status, "b")["phase"], "Removing");
  EXPECT_EQ(status["desiredPools"], 1);
  EXPECT_EQ(ConditionReason(status, "WorkLoadProvisioned"), "False ");
}

TEST(StatusTest, TimesAreKeptWhileNothingChanges) {
  Scene scene = Deployed({PoolJson("a"), PoolJson("b")});
  MakeUnhealthy(scene.objects.workloads[1]);
  const Json first = scene.Status(kNow);
  scene.previous = first;
  EXPECT_EQ(scene.Status(kLater).dump(), first.dump()) << "byte for byte: nothing to write";

  // One pool becomes healthy. Only its own times change, and the times of the conditions whose status changes.
  scene.objects.workloads[1]["status"] = HealthyStatus(scene.objects.workloads[1]);
  const Json second = scene.Status(kLater);
  EXPECT_EQ(PoolStatus(second, "a")["lastTransitionTime"], FormatTime(kNow));
  EXPECT_EQ(PoolStatus(second, "b")["lastTransitionTime"], FormatTime(kLater));
  EXPECT_EQ(ConditionOf(second, "Ready")["lastTransitionTime"], FormatTime(kLater));
  EXPECT_EQ(ConditionOf(second, "Progressing")["lastTransitionTime"], FormatTime(kNow)) << "True before and after";
}

TEST(StatusTest, FailureConditionBecomesFalseWhenTheFailureEndsAndConditionsOfOthersAreKept) {
  Scene scene = Deployed({PoolJson("a")});
  scene.adjust = [](PoolOutcome& r) { Fail(r, "Invalid"); };
  scene.previous = {{"conditions", {{{"type", "Theirs"}, {"status", "Maybe"}, {"x", 1}}}}};
  const Json failed = scene.Status(kNow);
  EXPECT_EQ(ConditionOf(failed, "WorkLoadFailure")["message"], "pool a: the server's words");
  scene.adjust = nullptr;
  scene.previous = failed;
  const Json healed = scene.Status(kLater);
  EXPECT_EQ(ConditionReason(healed, "WorkLoadFailure"), "False ");
  EXPECT_EQ(ConditionOf(healed, "Theirs"), (Json{{"type", "Theirs"}, {"status", "Maybe"}, {"x", 1}}));
}

TEST(StatusTest, FieldsThatTheCrdLacksAreInAConditionUntilTheCrdHasThem) {
  Scene scene = Deployed({PoolJson("a")});
  EXPECT_EQ(ConditionReason(scene.Status(), "OutdatedCRD"), "absent");
  scene.missing_fields = "spec.paused, spec.updateStrategy.rollingUpdate.windows";
  scene.previous = scene.Status();
  EXPECT_EQ(ConditionReason(scene.previous, "OutdatedCRD"), "True FieldsMissing");
  EXPECT_NE(StringAt(ConditionOf(scene.previous, "OutdatedCRD"), {"message"}).find(*scene.missing_fields),
            std::string::npos);
  scene.missing_fields.reset();
  EXPECT_EQ(ConditionReason(scene.Status(), "OutdatedCRD"), "True FieldsMissing")
      << "a new leader has not checked the CRD yet";
  scene.missing_fields = "";
  EXPECT_EQ(ConditionReason(scene.Status(), "OutdatedCRD"), "absent");
}

TEST(StatusTest, EachConditionOfThisOperatorHasAReasonAndAMessage) {
  for (const bool paused : {false, true}) {
    Scene scene = Deployed({PoolJson("a")});
    scene.objects.daemon["spec"]["paused"] = paused;
    const Json status = scene.Status();
    for (const Json& condition : status["conditions"]) {
      if (StringAt(condition, {"type"}).starts_with("WorkLoad")) continue;  // OpenYurt's
      EXPECT_NE(StringAt(condition, {"reason"}), "") << condition;
      EXPECT_NE(StringAt(condition, {"message"}), "") << condition;
      EXPECT_TRUE(condition.contains("observedGeneration")) << condition;
    }
  }
}

}  // namespace
}  // namespace yad::testing
