// The specification of status.
#include "operator/yurtappdaemon/report/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/yurtappdaemon/builders.h"

namespace yad::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

const WallTime kNow = ParseTime("2026-05-01T10:00:00Z");
const WallTime kLater = kNow + std::chrono::minutes(5);

// A moment, the results of its plan's writes, and the status that follows.
struct Scene {
  Moment moment;
  // Called for each pool's result before status is built.
  std::function<void(PoolOutcome&)> adjust = nullptr;
  std::vector<Json> leaving = {};
  Json previous = nullptr;
  HeldRemovals held = {};
  Diagnoses diagnoses = {};
  std::function<void(const DaemonStatus&)> look = nullptr;

  Json Status(WallTime now = kNow) const {
    PlanMemo memo;
    Snapshot snapshot = moment.Take();
    snapshot.now = now;
    const Plan plan = MakePlan(snapshot, memo);
    std::vector<PoolOutcome> results;
    for (const PoolPlan& pool : plan.pools) {
      results.push_back({&pool, pool.workload, false, pool.failure_reason, pool.failure_message, {}});
      if (adjust) adjust(results.back());
    }
    std::vector<WorkloadRef> going;
    for (const Json& workload : leaving) going.push_back(MakeWorkload(workload));
    const DaemonStatus status = BuildStatus({snapshot, results, going, previous, 0, held, plan.rollout, &diagnoses});
    if (look) look(status);
    return status.ToJson();
  }
};

Json PoolOf(const Json& status, const std::string& name) {
  for (const Json& pool : status["pools"]) {
    if (pool["name"] == name) return pool;
  }
  return nullptr;
}

Json PatchOf(const Json& before, const Json& after) { return DaemonStatus{after, std::nullopt}.PatchFrom(before, "u"); }

Json ConditionOf(const Json& status, const std::string& type) {
  for (const Json& condition : status["conditions"]) {
    if (condition["type"] == type) return condition;
  }
  return nullptr;
}

// Returns for example "True RolloutComplete".
std::string Says(const Json& status, const std::string& type) {
  const Json condition = ConditionOf(status, type);
  return condition.is_null() ? "absent" : StringAt(condition, {"status"}) + " " + StringAt(condition, {"reason"});
}

Scene Deployed(const std::vector<Json>& pools) {
  Scene scene{.moment = {.pools = pools}};
  scene.moment.Deployed();
  return scene;
}

void MakeUnhealthy(Json& workload) { workload["status"]["availableReplicas"] = 0; }
void ExceedDeadline(Json& workload) {
  MakeUnhealthy(workload);
  workload["status"]["conditions"].push_back({{"type", "Progressing"},
                                              {"status", "False"},
                                              {"reason", "ProgressDeadlineExceeded"},
                                              {"message", "ReplicaSet has timed out progressing"}});
}
void Fail(PoolOutcome& result, const char* reason) {
  result.outstanding = true;
  result.failure_reason = reason;
  result.failure_message = "the server's words";
}

TEST(StatusTest, EveryFieldAtRest) {
  const Scene scene = Deployed({PoolJson("b"), PoolJson("a")});
  const std::string revision = scene.moment.update()->name;
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
  EXPECT_EQ(Says(status, "WorkLoadProvisioned"), "True ");
  EXPECT_EQ(Says(status, "WorkLoadUpdated"), "True ");
  EXPECT_EQ(Says(status, "WorkLoadFailure"), "absent");
  EXPECT_EQ(Says(status, "Ready"), "True PoolsReady");
  EXPECT_EQ(Says(status, "Progressing"), "True RolloutComplete");
  EXPECT_EQ(Says(status, "Degraded"), "False NoFailures");
  EXPECT_EQ(Says(status, "Paused"), "False NotPaused");
  EXPECT_EQ(ConditionOf(status, "Ready")["observedGeneration"], 1);
  EXPECT_FALSE(ConditionOf(status, "WorkLoadUpdated").contains("observedGeneration")) << "upstream's stay as they were";
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

TEST(StatusTest, EachStateOfAPoolHasItsPhaseAndCounters) {
  const Json on = PoolJson("a"), off = OfflinePoolJson("a"), bad = PoolJson(std::string(64, 'a'));
  Scene none{.moment = {.pools = {on}}};
  Scene unhealthy = Deployed({on}), late = Deployed({on}), terminating = Deployed({on}), offline = Deployed({off});
  MakeUnhealthy(unhealthy.moment.workloads[0]);
  ExceedDeadline(late.moment.workloads[0]);
  terminating.moment.workloads[0]["metadata"]["deletionTimestamp"] = "2026-01-02T00:00:00Z";
  MakeUnhealthy(offline.moment.workloads[0]);
  Scene outstanding = Deployed({on}), refused = Deployed({on}), conflict = none, quota = none, webhook = none;
  outstanding.adjust = [](PoolOutcome& r) { r.outstanding = true; };
  refused.adjust = [](PoolOutcome& r) { Fail(r, "Invalid"); };
  conflict.adjust = [](PoolOutcome& r) { Fail(r, "WorkloadConflict"); };
  quota.adjust = [](PoolOutcome& r) { Fail(r, "QuotaExceeded"); };
  webhook.adjust = [](PoolOutcome& r) { Fail(r, "WebhookFailed"); };
  Scene offline_none{.moment = {.pools = {off}}}, offline_late = Deployed({off}), offline_conflict = offline_none;
  ExceedDeadline(offline_late.moment.workloads[0]);
  offline_conflict.adjust = conflict.adjust;
  Scene bad_name{.moment = {.pools = {bad}}};
  Scene override_fault = Deployed({on});
  override_fault.moment.daemon["spec"]["overrides"] =
      R"([{"pools": ["a"], "images": [{"name": "nobody", "image": "x"}]}])"_json;

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
      {"refused by the server", refused, "Failed", "Invalid", 0, 0, 1, 0, "False PoolsNotReady",
       "False FailureBudgetExceeded", false},
      {"refused by a webhook", webhook, "Failed", "WebhookFailed", 0, 0, 1, 0, "False PoolsNotReady",
       "False FailureBudgetExceeded", false},
      {"override does not apply", override_fault, "Failed", "InvalidOverride", 0, 0, 1, 0, "False PoolsNotReady",
       "False FailureBudgetExceeded", false},
      // These are not faults of the revision.
      {"somebody else's workload", conflict, "Failed", "WorkloadConflict", 0, 0, 1, 0, "False PoolsNotReady",
       "True RolloutComplete", true},
      {"quota", quota, "Failed", "QuotaExceeded", 0, 0, 1, 0, "False PoolsNotReady", "True RolloutComplete", true},
      {"name is no label value", bad_name, "Failed", "InvalidPoolName", 0, 0, 1, 0, "False PoolsNotReady",
       "True RolloutComplete", true},
      // An offline pool blocks no other pool.
      {"offline and written", offline, "Offline", "NoReadyNode", 1, 0, 0, 1, "Unknown AllPoolsOffline",
       "True RolloutComplete", true},
      {"offline and late", offline_late, "Offline", "ProgressDeadlineExceeded", 1, 0, 0, 1, "Unknown AllPoolsOffline",
       "True RolloutComplete", true},
      {"offline and not written", offline_none, "Offline", "NoReadyNode", 0, 0, 0, 1, "Unknown AllPoolsOffline", going,
       false},
      {"offline and somebody else's", offline_conflict, "Offline", "WorkloadConflict", 0, 0, 0, 1,
       "Unknown AllPoolsOffline", "True RolloutComplete", true},
  };
  for (PhaseCase c : cases) {
    SCOPED_TRACE(c.what);
    c.scene.moment.current = MakeRevision(DaemonJson("app:0"));
    const std::string before = c.scene.moment.current->name, update = c.scene.moment.update()->name;
    const Json status = c.scene.Status();
    const Json pool = status["pools"][0];
    EXPECT_EQ(pool["phase"], c.phase);
    EXPECT_EQ(StringAt(pool, {"reason"}), c.reason);
    EXPECT_EQ(status["updatedPools"], c.updated);
    EXPECT_EQ(status["readyPools"], c.ready);
    EXPECT_EQ(status["failedPools"], c.failed);
    EXPECT_EQ(status["offlinePools"], c.offline);
    EXPECT_EQ(Says(status, "Ready"), c.ready_condition);
    EXPECT_EQ(Says(status, "Progressing"), c.progressing);
    EXPECT_EQ(Says(status, "WorkLoadUpdated"), c.updated == 1 ? "True " : "False ");
    EXPECT_EQ(Says(status, "Degraded"), c.failed > 0 ? "True PoolsFailed" : "False NoFailures");
    EXPECT_EQ(Says(status, "WorkLoadFailure"), c.failed > 0 ? std::string("True ") + c.reason : "absent");
    EXPECT_EQ(status["currentRevision"], c.current_advances ? update : before);
  }
}

TEST(StatusTest, UnhealthyPoolHasTheFaultOfItsPods) {
  Scene scene = Deployed({PoolJson("a"), PoolJson("b")});
  MakeUnhealthy(scene.moment.workloads[0]);
  scene.diagnoses["a"] = {kErrorState, kImagePullBackOff, "no such image"};
  Json status = scene.Status();
  EXPECT_EQ(PoolOf(status, "a")["phase"], "Updating");
  EXPECT_EQ(PoolOf(status, "a")["state"], "Error");
  EXPECT_EQ(PoolOf(status, "a")["reason"], "ImagePullBackOff");
  EXPECT_EQ(PoolOf(status, "a")["message"], "no such image");
  EXPECT_EQ(PoolOf(status, "b")["state"], "Ready");
  EXPECT_FALSE(PoolOf(status, "b").contains("reason"));
  EXPECT_EQ(Says(status, "Degraded"), "False NoFailures") << "it has not failed yet";
}

TEST(StatusTest, LatePoolHasTheFaultOfItsPodsAndItsDeadline) {
  Scene scene = Deployed({PoolJson("a")});
  ExceedDeadline(scene.moment.workloads[0]);
  scene.moment.workloads[0]["status"]["readyReplicas"] = 0;
  EXPECT_EQ(PoolOf(scene.Status(), "a")["state"], "Degraded");
  scene.diagnoses["a"] = {kErrorState, kImagePullBackOff, "no such image"};
  const Json status = scene.Status();
  EXPECT_EQ(PoolOf(status, "a")["phase"], "Failed");
  EXPECT_EQ(PoolOf(status, "a")["reason"], "ImagePullBackOff");
  EXPECT_EQ(PoolOf(status, "a")["message"], "no such image; ReplicaSet has timed out progressing");
  EXPECT_EQ(Says(status, "WorkLoadFailure"), "True ImagePullBackOff");
  EXPECT_EQ(Says(status, "Progressing"), "False ProgressDeadlineExceeded") << "as before";
  scene.diagnoses["a"] = {kDegradedState, "", ""};
  EXPECT_EQ(PoolOf(scene.Status(), "a")["reason"], "ProgressDeadlineExceeded") << "nothing is wrong with the pods";
}

TEST(StatusTest, AWorkloadThatLeavesIsDestroyedAndAPoolWithoutOneHasNoState) {
  Scene scene{.moment = {.pools = {PoolJson("a")}}};
  scene.leaving = {WorkloadJson(scene.moment.daemon, scene.moment.update(), PoolJson("old"))};
  EXPECT_EQ(PoolOf(scene.Status(), "old")["state"], "Destroy");
  EXPECT_FALSE(PoolOf(scene.Status(), "a").contains("state"));
}

TEST(StatusTest, AHeldPoolIsReadyOnTheRevisionItIsMeantToHave) {
  Scene scene;
  scene.moment.daemon = DaemonJson("app:2");
  scene.moment.pools = {PoolJson("a")};
  scene.moment.current = MakeRevision(DaemonJson("app:1"));
  scene.moment.workloads = {WorkloadJson(DaemonJson("app:1"), scene.moment.current, PoolJson("a"))};

  scene.moment.daemon["spec"]["paused"] = true;
  Json status = scene.Status();
  EXPECT_EQ(PoolOf(status, "a")["phase"], "Ready");
  EXPECT_EQ(PoolOf(status, "a")["revision"], scene.moment.current->name);
  EXPECT_EQ(status["updatedPools"], 0);
  EXPECT_EQ(status["readyPools"], 1);
  EXPECT_EQ(status["currentRevision"], scene.moment.current->name);
  EXPECT_EQ(Says(status, "Ready"), "True PoolsReady") << "a pause is excepted";
  EXPECT_EQ(Says(status, "Progressing"), "Unknown Paused");
  EXPECT_EQ(Says(status, "Paused"), "True SpecPaused");

  scene.moment.daemon["spec"]["paused"] = false;
  scene.moment.daemon["spec"]["updateStrategy"] = {{"type", "OnDelete"}};
  status = scene.Status();
  EXPECT_EQ(PoolOf(status, "a")["phase"], "Ready");
  EXPECT_EQ(Says(status, "Ready"), "True PoolsReady") << "the pool should have the old revision";
  EXPECT_EQ(Says(status, "Progressing"), "True WaitingForDeletion");
  EXPECT_EQ(status["currentRevision"], scene.moment.current->name);
}

TEST(StatusTest, APoolThatTheNewRevisionRendersAlikeCountsAsUpdatedWithItsOldLabel) {
  Scene scene = Deployed({PoolJson("a")});
  const RevisionPtr old = scene.moment.update();
  scene.moment.current = old;
  scene.moment.daemon["spec"]["overrides"] = R"([{"pools": ["z"], "replicas": 4}])"_json;
  const Json status = scene.Status();
  EXPECT_EQ(status["updatedPools"], 1);
  EXPECT_EQ(PoolOf(status, "a")["revision"], old->name);
  EXPECT_EQ(status["currentRevision"], scene.moment.update()->name);
}

TEST(StatusTest, NoPoolsAtAllIsAtRest) {
  const Json status = Scene{}.Status();
  EXPECT_EQ(status["desiredPools"], 0);
  EXPECT_EQ(status["pools"], Json::array());
  EXPECT_EQ(status["nodepools"], Json::array());
  EXPECT_EQ(Says(status, "WorkLoadProvisioned"), "True ");
  EXPECT_EQ(Says(status, "WorkLoadUpdated"), "True ");
  EXPECT_EQ(Says(status, "Ready"), "True NoPools");
  EXPECT_EQ(Says(status, "Progressing"), "True RolloutComplete");
}

// The pools of a current revision need no approval.
TEST(StatusTest, ARevisionIsNotCurrentBecausePoolsWithAnotherAreOutOfSight) {
  Scene scene = Deployed({PoolJson("a"), PoolJson("b")});
  scene.moment.current = MakeRevision(DaemonJson("app:0"));
  for (const char* type : {"All", "RollingUpdate"}) {
    SCOPED_TRACE(type);
    scene.moment.daemon["spec"]["updateStrategy"]["type"] = type;
    const bool rolling = scene.moment.daemon["spec"]["updateStrategy"]["type"] == "RollingUpdate";
    const std::string before = scene.moment.current->name, update = scene.moment.update()->name;
    const auto current = [](const Scene& of) { return StringAt(of.Status(), {"currentRevision"}); };
    EXPECT_EQ(current(scene), update);

    Scene part = scene;
    const Json gone = part.moment.workloads[1];
    part.moment.pools.pop_back();
    part.moment.workloads.pop_back();
    EXPECT_EQ(current(part), update);
    part.leaving = {gone};
    EXPECT_EQ(current(part), rolling ? before : update);
    part.leaving.clear();
    part.held.workloads = {MakeWorkload(gone)};
    EXPECT_EQ(current(part), rolling ? before : update);

    Scene none = scene;
    none.moment.pools.clear();
    none.moment.workloads.clear();
    EXPECT_EQ(current(none), rolling ? before : update);
    none.moment.current = nullptr;
    EXPECT_EQ(current(none), update);
  }
}

TEST(StatusTest, AWorkloadThatGoesIsShownAsRemoving) {
  Scene scene = Deployed({PoolJson("a"), PoolJson("b")});
  scene.leaving = {scene.moment.workloads[1]};
  scene.moment.pools.pop_back();
  scene.moment.workloads.pop_back();
  const Json status = scene.Status();
  EXPECT_EQ(PoolOf(status, "b")["phase"], "Removing");
  EXPECT_EQ(status["desiredPools"], 1);
  EXPECT_EQ(Says(status, "WorkLoadProvisioned"), "False ");
}

TEST(StatusTest, TimesStandStillWhileNothingChanges) {
  Scene scene = Deployed({PoolJson("a"), PoolJson("b")});
  MakeUnhealthy(scene.moment.workloads[1]);
  const Json first = scene.Status(kNow);
  scene.previous = first;
  EXPECT_EQ(scene.Status(kLater).dump(), first.dump()) << "byte for byte: nothing to write";

  // One pool becomes healthy: its own times change, and those of the conditions whose status changed.
  scene.moment.workloads[1]["status"] = HealthyStatus(scene.moment.workloads[1]);
  const Json second = scene.Status(kLater);
  EXPECT_EQ(PoolOf(second, "a")["lastTransitionTime"], FormatTime(kNow));
  EXPECT_EQ(PoolOf(second, "b")["lastTransitionTime"], FormatTime(kLater));
  EXPECT_EQ(ConditionOf(second, "Ready")["lastTransitionTime"], FormatTime(kLater));
  EXPECT_EQ(ConditionOf(second, "Progressing")["lastTransitionTime"], FormatTime(kNow)) << "True before and after";
}

TEST(StatusTest, AFailureThatEndsBecomesFalseAndConditionsOfOthersStay) {
  Scene scene = Deployed({PoolJson("a")});
  scene.adjust = [](PoolOutcome& r) { Fail(r, "Invalid"); };
  scene.previous = {{"conditions", {{{"type", "Theirs"}, {"status", "Maybe"}, {"x", 1}}}}};
  const Json failed = scene.Status(kNow);
  EXPECT_EQ(ConditionOf(failed, "WorkLoadFailure")["message"], "pool a: the server's words");
  scene.adjust = nullptr;
  scene.previous = failed;
  const Json healed = scene.Status(kLater);
  EXPECT_EQ(Says(healed, "WorkLoadFailure"), "False ");
  EXPECT_EQ(ConditionOf(healed, "Theirs"), (Json{{"type", "Theirs"}, {"status", "Maybe"}, {"x", 1}}));
}

// A new leader knows a dark or failed site by its entry only.
TEST(StatusTest, ManyOfflinePoolsLeaveTheUnhealthyOnesInTheList) {
  Scene scene;
  for (int i = 0; i < 501; ++i) scene.moment.pools.push_back(OfflinePoolJson("p" + std::to_string(1000 + i)));
  scene.moment.pools.push_back(PoolJson("p1501"));
  scene.moment.Deployed();
  MakeUnhealthy(scene.moment.workloads[501]);
  const Json status = scene.Status();
  EXPECT_EQ(status["offlinePools"], 501);
  EXPECT_THAT(status["pools"], SizeIs(500));
  EXPECT_EQ(status["pools"][0]["name"], "p1501") << "unhealthy first";
  EXPECT_EQ(status["pools"][1]["phase"], "Offline");
}

TEST(StatusTest, ListsEndAt500PoolsUnhealthyFirstAndCountersAreExact) {
  Scene scene;
  for (int i = 0; i < 502; ++i) scene.moment.pools.push_back(PoolJson("p" + std::to_string(1000 + i)));
  scene.moment.Deployed();
  MakeUnhealthy(scene.moment.workloads[501]);
  const Json status = scene.Status();
  EXPECT_EQ(status["desiredPools"], 502);
  EXPECT_EQ(status["readyPools"], 501);
  EXPECT_EQ(status["replicas"], 502);
  EXPECT_EQ(status["poolsTruncated"], true);
  EXPECT_THAT(status["pools"], SizeIs(500));
  EXPECT_THAT(status["nodepools"], SizeIs(500));
  EXPECT_THAT(status["workloadSummary"], SizeIs(500));
  EXPECT_EQ(status["pools"][0]["name"], "p1501") << "unhealthy first";
  EXPECT_EQ(status["pools"][1]["name"], "p1000") << "then by name";
  EXPECT_EQ(status["nodepools"][0], "p1000");

  scene.moment.pools.resize(500);
  scene.moment.workloads.resize(500);
  const Json small = scene.Status();
  EXPECT_FALSE(small.contains("poolsTruncated"));
  EXPECT_EQ(PatchOf(status, small)["status"]["poolsTruncated"], nullptr) << "taken away";
}

TEST(StatusTest, BoundsTheMessagesOfManyFailedPools) {
  Scene scene;
  for (int i = 0; i < 500; ++i) scene.moment.pools.push_back(PoolJson("p" + std::to_string(1000 + i)));
  scene.moment.Deployed();
  scene.adjust = [](PoolOutcome& result) {
    Fail(result, "Invalid");
    result.failure_message = std::string(4000, 'x');
  };
  const Json status = scene.Status();
  EXPECT_LT(status.dump().size(), 400'000U);
  EXPECT_EQ(StringAt(status["pools"][499], {"message"}), std::string(128, 'x') + "...");
}

// Two workloads of one pool that leave share an entry: `pools` is a map by name.
TEST(StatusTest, ListsAPoolOnceWhereTwoOfItsWorkloadsLeave) {
  Scene scene = Deployed({PoolJson("a"), PoolJson("b")});
  scene.leaving = {scene.moment.workloads[1], scene.moment.workloads[1]};
  scene.moment.pools.pop_back();
  scene.moment.workloads.pop_back();
  EXPECT_THAT(scene.Status()["pools"], SizeIs(2));
}

TEST(StatusTest, ImagesAreDistinctAndThoseOfOverridesCount) {
  Scene scene;
  PodSpecOf(TemplateOf(scene.moment.daemon))["containers"] =
      R"([{"name": "main", "image": "b:1"}, {"name": "x", "image": "a:1"}, {"name": "y", "image": "b:1"}])"_json;
  scene.moment.daemon["spec"]["overrides"] = R"([{"pools": ["a"], "images": [{"name": "main", "image": "c:1"}]}])"_json;
  EXPECT_EQ(scene.Status()["images"], "b:1,a:1,c:1");
}

TEST(StatusPatchTest, HoldsTheTopLevelFieldsThatDifferAndTheUid) {
  const Json before = {{"readyPools", 1}, {"replicas", 4}, {"theirs", true}, {"pools", {{{"name", "a"}}}}};
  Json after = before;
  after.erase("theirs");
  EXPECT_TRUE(PatchOf(before, after).is_null()) << "a field of somebody else's stays";
  after["readyPools"] = 2;
  after["pools"] = Json::array();
  EXPECT_EQ(PatchOf(before, after),
            (Json{{"metadata", {{"uid", "u"}}}, {"status", {{"readyPools", 2}, {"pools", Json::array()}}}}));
  EXPECT_EQ(PatchOf(nullptr, {{"replicas", 0}})["status"], (Json{{"replicas", 0}}));
}

// The lists are compared without converting them to Json; a difference in any field must be written.
TEST(StatusPatchTest, HoldsAListInWhichAnythingDiffersAndNoOther) {
  Scene scene = Deployed({PoolJson("a"), PoolJson("b")});
  scene.adjust = [](PoolOutcome& result) {
    result.service = "web-svc";
    if (result.plan->pool != "b") return;
    result.failure_reason = "Invalid";
    result.failure_message = "no";
  };
  const Json shown = scene.Status();
  const auto patch_from = [&](const Json& before) {
    Json patch;
    scene.look = [&](const DaemonStatus& status) {
      patch = status.PatchFrom(before, "u");
      EXPECT_EQ(status.IsShownBy(before), patch.is_null());
    };
    scene.previous = shown;
    scene.Status();
    return patch;
  };
  EXPECT_TRUE(patch_from(shown).is_null());
  const auto expect = [&](const std::string& list, const Json& before) {
    const Json only = {{"metadata", {{"uid", "u"}}}, {"status", {{list, shown[list]}}}};
    EXPECT_EQ(patch_from(before), only) << before[list];
  };
  std::set<std::string> members;
  for (const char* list : {"nodepools", "workloadSummary", "pools"}) {
    Json before = shown;
    before[list] = "text";
    expect(list, before);
    before[list] = Json::object();
    expect(list, before);
    before[list] = shown[list];
    before[list].push_back(shown[list][0]);
    expect(list, before);
    before[list] = shown[list];
    std::swap(before[list][0], before[list][1]);
    expect(list, before);
    for (std::size_t i = 0; i < shown[list].size(); ++i) {
      for (const Json& other : {Json("other"), Json(7), Json(), Json::object()}) {
        before[list] = shown[list];
        before[list][i] = other;
        expect(list, before);
        if (!shown[list][i].is_object()) continue;
        before[list] = shown[list];
        before[list][i]["more"] = other;
        expect(list, before);
        for (const auto& [key, value] : shown[list][i].items()) {
          members.insert(key);
          before[list] = shown[list];
          before[list][i][key] = other;
          expect(list, before);
          before[list][i].erase(key);
          expect(list, before);
        }
      }
    }
    before.erase(list);
    const Json only = {{"metadata", {{"uid", "u"}}}, {"status", {{list, shown[list]}}}};
    EXPECT_EQ(patch_from(before), only);
  }
  EXPECT_THAT(members, SizeIs(13)) << "all that there can be";
}

TEST(BlockedStatusTest, KeepsThePreviousStatusAndReportsTheReason) {
  const Scene scene = Deployed({PoolJson("a")});
  Json object = scene.moment.daemon;
  object["metadata"]["generation"] = 2;
  object["status"] = scene.Status();
  const Error error{Reason::kInvalid, "spec.x: Invalid value", 0, std::nullopt, {}};
  const Json status = BuildBlockedStatus(ParseMeta(object), object, "InvalidSpec", error, kLater);
  EXPECT_EQ(status["observedGeneration"], 2);
  EXPECT_EQ(status["pools"], object["status"]["pools"]);
  EXPECT_EQ(status["currentRevision"], object["status"]["currentRevision"]);
  EXPECT_EQ(Says(status, "WorkLoadFailure"), "True InvalidSpec");
  EXPECT_EQ(Says(status, "Ready"), "False InvalidSpec");
  EXPECT_EQ(Says(status, "Progressing"), "False InvalidSpec");
  EXPECT_THAT(StringAt(ConditionOf(status, "Ready"), {"message"}), HasSubstr("spec.x"));
  EXPECT_TRUE(SaysBlocked(status, "InvalidSpec", error));
  EXPECT_FALSE(SaysBlocked(object["status"], "InvalidSpec", error));

  object["status"] = status;
  EXPECT_EQ(BuildBlockedStatus(ParseMeta(object), object, "InvalidSpec", error, kLater + std::chrono::hours(1)),
            status);
}

TEST(BlockedStatusTest, HasTheRequiredFieldsWhereThereWasNoStatus) {
  const Json object = DaemonJson("app:1", WorkloadKind::kStatefulSet);
  const Json status = BuildBlockedStatus(ParseMeta(object), object, "InvalidSpec", {}, kNow);
  EXPECT_EQ(status["currentRevision"], "");
  EXPECT_EQ(status["templateType"], "StatefulSet");
}

}  // namespace
}  // namespace yad::testing
