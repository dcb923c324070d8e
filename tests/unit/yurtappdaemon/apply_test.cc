#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "operator/runtime/page_size.h"
#include "operator/yurtappdaemon/apply/executor.h"
#include "tests/unit/yurtappdaemon/world.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// Plans and applies against a cluster, without the reconciler.
class PlanExecutorTest : public ::testing::Test {
 protected:
  PlanExecutorTest() { world_.CreateDaemon(); }

  // Returns the snapshot of a pool "a" with a second workload that has no available pods.
  Snapshot TakeWithADuplicate() {
    Deployed({"a"});
    Json second = world_.Workload("a");
    second["metadata"]["name"] = "web-a-zzzzz";
    second["status"]["availableReplicas"] = 0;
    world_.cluster.Create(kDeploymentType, second);
    return Take();
  }

  // Returns the snapshot of the cluster as it is now.
  Snapshot Take() {
    world_.Sync();
    Snapshot snapshot;
    snapshot.daemon = *ParseYurtAppDaemon(world_.Daemon());
    snapshot.update = MakeRevision(world_.Daemon());
    snapshot.revisions = {snapshot.update, MakeRevision(DaemonJson("app:1"))};
    for (const Json& pool : world_.cluster.List(kNodePoolType)) snapshot.pools.push_back(MakePool(pool));
    Store& store = world_.stores().deployments;
    const auto add = [](const std::vector<ObjectPtr>& objects, std::vector<WorkloadRef>& list) {
      for (const ObjectPtr& object : objects) list.push_back(MakeWorkloadRef(object));
    };
    add(*store.ByIndex(Controller::kControllerUidIndex, world_.uid), snapshot.workloads);
    add(*store.ByIndex(kOrphansByNamespace, kNs), snapshot.orphans);
    return snapshot;
  }
  // Calls `act` once, after the first request of that method.
  void After(const std::string& method, const std::function<void()>& act) {
    world_.cluster.SetAfterwards([=, done = std::make_shared<std::atomic<bool>>(false)](const WriteRecord& request) {
      if (request.method == method && !done->exchange(true)) act();
    });
  }
  Outcome Apply() { return ApplyTo(Take()); }
  Outcome ApplyTo(const Snapshot& snapshot) {
    plan_ = MakePlan(snapshot, memo_);
    return executor_.Apply(snapshot.daemon, plan_, memo_, {});
  }
  // Applies the writes one after the other.
  Outcome ApplyInTurn() { return ApplyInTurn(Take()); }
  Outcome ApplyInTurn(const Snapshot& snapshot) {
    plan_ = MakePlan(snapshot, memo_);
    const PlanExecutor in_turn(world_.client, world_.stores().deployments, ProjectDeployment, {.parallel_writes = 1});
    return in_turn.Apply(snapshot.daemon, plan_, memo_, {});
  }
  void Deployed(const std::vector<std::string>& pools) {
    world_.AddPools(pools);
    Apply();
    world_.RunWorkloadControllers();
    world_.cluster.ClearWrites();
  }
  void FailOnce(const std::string& method, Result<HttpResponse> answer, bool after = false) {
    world_.cluster.SetFaults([=, done = std::make_shared<std::atomic<bool>>(false)](
                                 const WriteRecord& r, const Json&) -> std::optional<FakeCluster::Fault> {
      if (r.method != method || done->exchange(true)) return std::nullopt;
      return FakeCluster::Fault{answer, after};
    });
  }

  World world_;
  PlanExecutor executor_{world_.client, world_.stores().deployments, ProjectDeployment, {}};
  PlanMemo memo_;
  Plan plan_;
};

TEST_F(PlanExecutorTest, CreatesUpdatesRepairsAndRemoves) {
  world_.AddPools({"a", "b", "c"});
  EXPECT_THAT(Apply().created, ElementsAre("a", "b", "c"));
  world_.RunWorkloadControllers();
  world_.EditWorkload("b", [](Json& w) { PodSpecOf(w)["containers"][0]["image"] = "evil:1"; });
  world_.RemovePool("c");
  Outcome applied = Apply();
  EXPECT_THAT(applied.repaired, ElementsAre("b"));
  EXPECT_THAT(applied.removed, ElementsAre("c"));
  EXPECT_THAT(applied.leaving, SizeIs(1));
  EXPECT_FALSE(applied.retry);
  world_.SetImage("app:2");
  EXPECT_THAT(Apply().updated, ElementsAre("a", "b"));
  world_.cluster.ClearWrites();
  Apply();
  EXPECT_THAT(world_.Writes(), IsEmpty());
}

TEST_F(PlanExecutorTest, TheServersAnswerIsInTheStoreBeforeTheWatchShowsIt) {
  world_.AddPool("a");
  const Outcome applied = Apply();
  ASSERT_TRUE(applied.pools[0].workload);
  EXPECT_TRUE(world_.stores().deployments.Get({kNs, world_.NameOf("a")}));
  EXPECT_FALSE(applied.pools[0].outstanding);
}

// The executor compares each answer with the object that it sent; most answers are alike.
TEST_F(PlanExecutorTest, DetectsAWebhooksChangeOfOneWorkloadAmongMany) {
  world_.cluster.SetMutation([](const ResourceType&, const Json&, Json& object) {
    if (StringAt(object, {"metadata", "labels", kPoolNameLabel}) != "c") return;
    PodSpecOf(object)["containers"][0]["image"] = "mirror/app:1";
  });
  world_.AddPools({"a", "b", "c", "d"});
  std::vector<std::string> not_kept;
  const Outcome applied = ApplyInTurn();
  for (const PoolOutcome& result : applied.pools) not_kept.push_back(result.not_kept);
  EXPECT_THAT(not_kept, ElementsAre("", "", "/spec/template/spec/containers/0/image", ""));
}

// An override can make the correct answer for one pool a wrong answer for another.
TEST_F(PlanExecutorTest, DetectsAWebhookThatCopiesAValueToAnotherPool) {
  world_.EditDaemon([](Json& daemon) {
    daemon["spec"]["overrides"] = R"([{"pools": ["a", "b"], "patch": {"spec": {"template": {"spec": {"containers":
        [{"name": "main", "env": [{"name": "pool", "value": "{{nodepool}}"}]}]}}}}}])"_json;
  });
  world_.cluster.SetMutation([](const ResourceType&, const Json&, Json& object) {
    PodSpecOf(object)["containers"][0]["env"] = {{{"name", "pool"}, {"value", "a"}}};
  });
  world_.AddPools({"a", "b"});
  const Outcome applied = ApplyInTurn();
  EXPECT_EQ(applied.pools[0].not_kept, "");
  EXPECT_EQ(applied.pools[1].not_kept, "/spec/template/spec/containers/0/env/0/value");
}

TEST_F(PlanExecutorTest, AConflictIsMergedOntoWhatIsThereNow) {
  Deployed({"a"});
  world_.SetImage("app:2");
  const Snapshot snapshot = Take();
  // The Deployment controller and a sidecar injector write after the cache was read.
  world_.EditWorkload("a", [](Json& w) {
    w["metadata"]["annotations"]["deployment.kubernetes.io/revision"] = "2";
    PodSpecOf(w)["containers"].push_back({{"name", "sidecar"}, {"image", "mesh:1"}});
  });
  const Outcome applied = ApplyTo(snapshot);
  EXPECT_THAT(applied.updated, ElementsAre("a"));
  EXPECT_FALSE(applied.retry);
  EXPECT_EQ(ImageOf(world_.Workload("a")), "app:2");
  EXPECT_THAT(world_.Workload("a")["spec"]["template"]["spec"]["containers"], SizeIs(2));
  EXPECT_THAT(world_.Writes(), SizeIs(2));
}

TEST_F(PlanExecutorTest, AWorkloadThatWasReplacedMeanwhileIsLeftForTheNextPlan) {
  Deployed({"a"});
  world_.SetImage("app:2");
  const Snapshot snapshot = Take();
  const Json old = world_.Workload("a");
  world_.cluster.Delete(kDeploymentType, {kNs, world_.NameOf("a")});
  const Outcome gone = ApplyTo(snapshot);
  EXPECT_TRUE(gone.retry);
  EXPECT_TRUE(gone.pools[0].outstanding);
  EXPECT_EQ(gone.pools[0].failure_reason, "") << "deleted by hand is no failure";
  world_.cluster.Create(kDeploymentType, old);
  const Outcome replaced = ApplyTo(snapshot);
  EXPECT_TRUE(replaced.retry);
  EXPECT_EQ(ImageOf(world_.Workload("a")), "app:1");
}

// The caches are as after a restart with a lagging apiserver; the previous process already used another template.
TEST_F(PlanExecutorTest, AWorkloadThatWasUpdatedMeanwhileIsLeftForTheNextPlan) {
  Deployed({"a"});
  world_.SetImage("app:3");
  const Snapshot snapshot = Take();
  world_.EditWorkload("a", [](Json& w) {
    w["metadata"]["labels"][kRevisionLabel] = "web-second";
    PodSpecOf(w)["containers"][0]["env"] = {{{"name", "SECOND"}, {"value", "x"}}};
  });
  const Outcome applied = ApplyTo(snapshot);
  ASSERT_TRUE(applied.retry);
  EXPECT_EQ(applied.retry->reason, Reason::kConflict);
  EXPECT_EQ(applied.pools[0].failure_reason, "");
  EXPECT_EQ(ImageOf(world_.Workload("a")), "app:1") << "the variable would stay, as if it were somebody else's";
}

TEST_F(PlanExecutorTest, RetryAfterALostAnswerCreatesNoSecondWorkload) {
  world_.AddPool("a");
  FailOnce("POST", tl::unexpected<Error>(Error{Reason::kTransport, "connection reset", 0, std::nullopt, {}}),
           /*after=*/true);
  const Snapshot snapshot = Take();
  EXPECT_TRUE(ApplyTo(snapshot).retry);
  const Outcome again = ApplyTo(snapshot);
  EXPECT_FALSE(again.retry);
  ASSERT_TRUE(again.pools[0].workload);
  EXPECT_THAT(world_.Workloads(), SizeIs(1));
  EXPECT_THAT(again.created, IsEmpty());
}

TEST_F(PlanExecutorTest, AForeignWorkloadWithOurNameIsAConflictAndIsNeverTouched) {
  world_.AddPools({"a", "b"});
  const std::pair<const char*, void (*)(Json&)> cases[] = {
      {"controlled by another", [](Json& w) { w["metadata"]["ownerReferences"][0]["uid"] = "somebody"; }},
      {"controlled by nobody, with another selector",
       [](Json& w) {
         w["metadata"].erase("ownerReferences");
         w["spec"]["selector"]["matchLabels"] = {{"app", "mine"}};
       }},
      {"ours, of another pool",
       [](Json& w) {
         w["metadata"]["labels"].erase(kPoolNameLabel);
         w["spec"]["selector"]["matchLabels"][kPoolNameLabel] = "b";
       }},
  };
  for (const auto& [what, spoil] : cases) {
    SCOPED_TRACE(what);
    Json theirs = WorkloadJson(world_.Daemon(), MakeRevision(world_.Daemon()), PoolJson("a"));
    spoil(theirs);
    const Json before = world_.cluster.Create(kDeploymentType, theirs);
    const Outcome applied = Apply();
    EXPECT_EQ(applied.pools[0].failure_reason, "WorkloadConflict");
    EXPECT_THAT(applied.pools[0].failure_message, HasSubstr(world_.NameOf("a")));
    EXPECT_TRUE(applied.retry);
    EXPECT_EQ(world_.Workload("a"), before);
    EXPECT_FALSE(world_.Workload("b").is_null()) << "the others go on";
    world_.cluster.Delete(kDeploymentType, {kNs, world_.NameOf("a")});
  }
}

TEST_F(PlanExecutorTest, AWorkloadOfOursThatLostItsLabelGetsItBackAndNothingElse) {
  Deployed({"a"});
  const Json whole = world_.Workload("a");
  // The workload leaves the informer's selector on app:1; then the spec is paused and changes to app:2.
  world_.EditWorkload("a", [](Json& w) { w["metadata"]["labels"].erase(kPoolNameLabel); });
  world_.EditDaemon([](Json& d) { d["spec"]["paused"] = true; });
  world_.SetImage("app:2");
  const Outcome applied = Apply();
  EXPECT_THAT(applied.created, IsEmpty());
  EXPECT_THAT(applied.repaired, ElementsAre("a"));
  EXPECT_TRUE(applied.pools[0].outstanding) << "what it is, the next plan finds out";
  Json now = world_.Workload("a");
  EXPECT_EQ(now["metadata"]["labels"], whole["metadata"]["labels"]);
  EXPECT_EQ(now["spec"], whole["spec"]);
  world_.EditDaemon([](Json& d) { d["spec"]["paused"] = false; });
  EXPECT_THAT(Apply().updated, ElementsAre("a"));
}

TEST_F(PlanExecutorTest, FindsAWorkloadByTheLongNameOfAnOlderVersionBeforeItCreatesASecondOne) {
  const std::string pool = "country-cn-region-hangzhou-00042-site-edge-production-cluster";
  world_.AddPool(pool);
  Json workload = WorkloadJson(world_.Daemon(), MakeRevision(world_.Daemon()), PoolJson(pool));
  workload["metadata"]["name"] = NameOfOlderVersion("web", world_.uid, pool, WorkloadKind::kDeployment);
  workload["metadata"]["labels"].erase(kPoolNameLabel);  // The cache does not show it.
  world_.cluster.Create(kDeploymentType, workload);
  const Outcome applied = Apply();
  EXPECT_THAT(applied.repaired, ElementsAre(pool));
  EXPECT_THAT(applied.created, IsEmpty());
  EXPECT_THAT(world_.Workloads(), SizeIs(1));
}

TEST_F(PlanExecutorTest, CreatesAWorkloadWhereAnotherPoolHasTheLongNameOfTheOlderVersion) {
  const std::string pool = "country-cn-region-hangzhou-00042-site-edge-production-cluster";
  world_.AddPool(pool);
  Json other = WorkloadJson(world_.Daemon(), MakeRevision(world_.Daemon()), PoolJson("other"));
  other["metadata"]["name"] = NameOfOlderVersion("web", world_.uid, pool, WorkloadKind::kDeployment);
  other["metadata"]["labels"].erase(kPoolNameLabel);
  world_.cluster.Create(kDeploymentType, other);
  EXPECT_THAT(Apply().created, ElementsAre(pool));
  EXPECT_FALSE(world_.Workload(pool).is_null());
}

TEST_F(PlanExecutorTest, AWorkloadWithAGeneratedNameThatLostItsLabelIsFoundByTheNameInStatus) {
  world_.AddPool("a");
  Json workload = OpenYurtWorkloadJson(world_.Daemon(), MakeRevision(world_.Daemon()), PoolJson("a"));
  workload["metadata"]["labels"].erase(kPoolNameLabel);
  world_.cluster.Create(kDeploymentType, workload);
  world_.EditDaemon([](Json& d) { d["status"]["pools"] = {{{"name", "a"}, {"workload", "web-a-x7k2p"}}}; });
  EXPECT_THAT(Apply().repaired, ElementsAre("a"));
  ASSERT_THAT(world_.Workloads(), SizeIs(1));
  EXPECT_EQ(world_.Workloads()[0]["metadata"]["labels"][kPoolNameLabel], "a");
}

TEST_F(PlanExecutorTest, FindsAWorkloadByTheServersStatusIfTheCachedOneIsOlder) {
  Deployed({"a"});
  Json second = world_.Workload("a");
  second["metadata"]["name"] = "web-a-x7k2p";
  second["metadata"]["labels"].erase(kPoolNameLabel);
  world_.cluster.Create(kDeploymentType, second);
  world_.cluster.Delete(kDeploymentType, {kNs, world_.NameOf("a")});
  const auto remember = [&](const std::string& name) {
    world_.EditDaemon([&](Json& d) { d["status"]["pools"] = {{{"name", "a"}, {"workload", name}}}; });
  };
  remember(world_.NameOf("a"));
  const Snapshot snapshot = Take();
  remember("web-a-x7k2p");
  EXPECT_THAT(ApplyTo(snapshot).repaired, ElementsAre("a"));
  EXPECT_THAT(world_.Workloads(), SizeIs(1));
}

TEST_F(PlanExecutorTest, NewWorkloadWaitsWhileTheOldOneIsBeingDeleted) {
  Deployed({"a"});
  world_.EditWorkload("a", [](Json& w) {
    w["metadata"]["finalizers"] = {"x"};
    w["metadata"]["labels"].erase(kPoolNameLabel);
  });
  world_.cluster.Delete(kDeploymentType, {kNs, world_.NameOf("a")});
  const Outcome applied = Apply();
  EXPECT_TRUE(applied.retry);
  EXPECT_EQ(applied.pools[0].failure_reason, "");
}

struct RefusalCase {
  const char* what;
  int code;
  const char* reason;
  const char* message;
  const char* failure;  // "": a retry may succeed, and the pool has not failed
};

TEST_F(PlanExecutorTest, RejectionsFailThePoolAndTransientErrorsDoNot) {
  world_.AddPool("a");
  const RefusalCase cases[] = {
      {"invalid", 422, "Invalid", "spec.template: Invalid value", "Invalid"},
      {"forbidden", 403, "Forbidden", "you may not", "Forbidden"},
      {"quota", 403, "Forbidden", "exceeded quota: few, requested: 1", "QuotaExceeded"},
      {"webhook away", 500, "InternalError", "failed calling webhook \"x\": connection refused", "WebhookFailed"},
      {"server trouble", 500, "InternalError", "etcdserver: request timed out", ""},
      {"too many requests", 429, "TooManyRequests", "slow down", ""},
      {"unavailable", 503, "ServiceUnavailable", "no leader", ""},
      {"unauthorized", 401, "Unauthorized", "Unauthorized", ""},
      {"namespace gone", 404, "NotFound", "namespaces \"ns\" not found", ""},
      {"conflict", 409, "Conflict", "try again", ""},
  };
  for (const RefusalCase& c : cases) {
    SCOPED_TRACE(c.what);
    FailOnce("POST", StatusResponse(c.code, c.reason, c.message));
    const Outcome applied = Apply();
    EXPECT_TRUE(applied.retry);
    EXPECT_TRUE(applied.pools[0].outstanding);
    EXPECT_EQ(applied.pools[0].failure_reason, c.failure);
    EXPECT_THAT(world_.Workloads(), IsEmpty());
  }
}

TEST_F(PlanExecutorTest, FailedWritesStopNoOtherPoolAndTheLongestRetryAfterCounts) {
  world_.AddPools({"a", "b", "c"});
  world_.Sync();
  const std::string a = world_.NameOf("a"), b = world_.NameOf("b");
  world_.cluster.SetFaults([&](const WriteRecord& r, const Json&) -> std::optional<FakeCluster::Fault> {
    if (r.key.name != a && r.key.name != b) return std::nullopt;
    HttpResponse response = StatusResponse(429, "TooManyRequests", "slow down");
    response.headers["retry-after"] = r.key.name == a ? "7" : "3";
    return FakeCluster::Fault{response, false};
  });
  const Outcome applied = Apply();
  EXPECT_THAT(applied.created, ElementsAre("c"));
  ASSERT_TRUE(applied.retry);
  EXPECT_EQ(applied.retry->retry_after, std::chrono::seconds(7));
}

TEST_F(PlanExecutorTest, ConflictDoesNotShortenTheWaitOfARejection) {
  world_.AddPools({"a", "b"});
  world_.cluster.SetFaults([&](const WriteRecord& r, const Json&) -> std::optional<FakeCluster::Fault> {
    if (r.method != "POST") return std::nullopt;
    const bool first = r.key.name == world_.NameOf("a");
    return FakeCluster::Fault{first ? StatusResponse(409, "Conflict", "again") : StatusResponse(403, "Forbidden", "no"),
                              false};
  });
  EXPECT_EQ(ApplyInTurn().retry->reason, Reason::kForbidden);
}

TEST_F(PlanExecutorTest, ARemovalHitsOnlyTheWorkloadThatWasMeant) {
  Deployed({"a"});
  world_.RemovePool("a");
  const Snapshot snapshot = Take();
  const Json old = world_.Workload("a");
  world_.cluster.Delete(kDeploymentType, {kNs, world_.NameOf("a")});
  EXPECT_FALSE(ApplyTo(snapshot).retry) << "gone already";
  world_.cluster.Create(kDeploymentType, old);
  EXPECT_TRUE(ApplyTo(snapshot).retry);
  EXPECT_THAT(world_.Workloads(), SizeIs(1)) << "a namesake with another uid";
}

TEST_F(PlanExecutorTest, ADuplicateGoesOnlyWhileTheOneThatStaysIsThere) {
  const Snapshot snapshot = TakeWithADuplicate();
  world_.cluster.Delete(kDeploymentType, {kNs, world_.NameOf("a")});
  const Outcome applied = ApplyTo(snapshot);
  EXPECT_TRUE(applied.retry);
  EXPECT_THAT(applied.duplicates_removed, IsEmpty());
  EXPECT_THAT(world_.Workloads(), SizeIs(1)) << "both would be gone";
  world_.RunWorkloadControllers();
  Apply();
  EXPECT_THAT(world_.Workloads(), SizeIs(1));
}

TEST_F(PlanExecutorTest, ADuplicateStaysWhereTheOtherOneHasLostItsLabel) {
  const Snapshot snapshot = TakeWithADuplicate();
  world_.EditWorkload("a", [](Json& w) { w["metadata"]["labels"].erase(kPoolNameLabel); });
  const Outcome applied = ApplyTo(snapshot);
  EXPECT_TRUE(applied.retry);
  EXPECT_THAT(applied.duplicates_removed, IsEmpty());
  EXPECT_THAT(world_.Workloads(), SizeIs(2)) << "the informer shows only the one that would be gone";
}

// ---- caches that are late ----

TEST_F(PlanExecutorTest, AWorkloadStaysWhereTheServerStillSelectsItsPool) {
  Deployed({"a", "b"});
  Snapshot snapshot = Take();
  snapshot.pools.clear();  // as read from an apiserver that lags
  world_.RemovePool("b");
  const Outcome applied = ApplyTo(snapshot);
  EXPECT_THAT(applied.removed, ElementsAre("b"));
  ASSERT_TRUE(applied.retry);
  EXPECT_EQ(applied.retry->reason, Reason::kConflict);
  EXPECT_FALSE(world_.Workload("a").is_null());
}

TEST_F(PlanExecutorTest, AWorkloadStaysWhereItsPoolCannotBeRead) {
  Deployed({"a"});
  world_.RemovePool("a");
  for (const int code : {403, 404, 500, 503}) {
    world_.cluster.SetFaults([&](const WriteRecord& r, const Json&) -> std::optional<FakeCluster::Fault> {
      if (r.resource != "nodepools") return std::nullopt;
      return FakeCluster::Fault{StatusResponse(code, "", "no"), false};
    });
    const Outcome applied = Apply();
    EXPECT_TRUE(applied.retry) << code;
    EXPECT_FALSE(world_.Workload("a").is_null()) << code;
  }
}

TEST_F(PlanExecutorTest, AWorkloadThatLostItsOwnerIsNotRemoved) {
  Deployed({"a"});
  world_.RemovePool("a");
  const Snapshot snapshot = Take();
  world_.EditWorkload("a", [](Json& w) { w["metadata"].erase("ownerReferences"); });
  EXPECT_TRUE(ApplyTo(snapshot).retry);
  EXPECT_FALSE(world_.Workload("a").is_null());
}

// Thousands of removals take a while, and a user may fix the selector meanwhile.
TEST_F(PlanExecutorTest, RevertedSelectorKeepsTheRemainingWorkloads) {
  Deployed({"a", "b", "c"});
  world_.EditDaemon([](Json& daemon) { daemon["spec"]["nodepoolSelector"] = {{"matchLabels", {{"no", "such"}}}}; });
  After("DELETE",
        [this] { world_.EditDaemon([](Json& daemon) { daemon["spec"]["nodepoolSelector"] = Json::object(); }); });
  Snapshot snapshot = Take();
  snapshot.pools.clear();
  const Outcome applied = ApplyInTurn(snapshot);
  EXPECT_THAT(applied.removed, ElementsAre("a"));
  ASSERT_TRUE(applied.retry);
  EXPECT_EQ(applied.retry->reason, Reason::kConflict);
  EXPECT_THAT(world_.Workloads(), SizeIs(2));
}

// The garbage collector would delete a workload that kubectl delete --cascade=orphan released and the operator adopted
// again.
TEST_F(PlanExecutorTest, ReleasedWorkloadIsNotAdoptedAgain) {
  Deployed({"a"});
  world_.SetImage("app:2");
  const Snapshot snapshot = Take();
  world_.EditWorkload("a", [](Json& w) { w["metadata"].erase("ownerReferences"); });
  const Outcome applied = ApplyTo(snapshot);
  EXPECT_THAT(applied.updated, IsEmpty());
  EXPECT_TRUE(applied.retry);
  EXPECT_FALSE(world_.Workload("a")["metadata"].contains("ownerReferences"));
}

TEST_F(PlanExecutorTest, ADeletionInTheMiddleEndsAdoptions) {
  Deployed({"a", "b"});
  for (const char* pool : {"a", "b"}) {
    world_.EditWorkload(pool, [](Json& w) { w["metadata"].erase("ownerReferences"); });
  }
  world_.EditDaemon([](Json& daemon) { daemon["metadata"]["finalizers"] = {"orphan"}; });
  After("PUT", [this] { world_.cluster.Delete(kYurtAppDaemonType, {kNs, "web"}); });
  EXPECT_THAT(ApplyInTurn().adopted, ElementsAre("a"));
  EXPECT_FALSE(world_.Workload("b")["metadata"].contains("ownerReferences"));
}

TEST_F(PlanExecutorTest, WorkloadOrphanedAfterThePlanIsLeftForTheNextPlan) {
  Deployed({"a"});
  Json left = world_.Workload("a");
  left["metadata"]["name"] = "web-a-zzzzz";
  left["metadata"]["ownerReferences"][0]["uid"] = "earlier";
  world_.cluster.Delete(kDeploymentType, {kNs, world_.NameOf("a")});
  world_.cluster.Create(kDeploymentType, left);
  const Snapshot snapshot = Take();
  world_.cluster.Edit(kDeploymentType, {kNs, "web-a-zzzzz"}, [](Json& w) { w["metadata"].erase("ownerReferences"); });
  world_.Sync();  // The store has the orphan now; the plan does not.
  EXPECT_TRUE(ApplyTo(snapshot).refused);
  EXPECT_THAT(world_.Workloads(), SizeIs(1));
  EXPECT_THAT(Apply().adopted, ElementsAre("a"));
}

TEST_F(PlanExecutorTest, NothingIsWrittenForAnOlderSpec) {
  Deployed({"a", "b"});
  world_.AddPool("c");
  world_.RemovePool("b");
  world_.SetImage("app:2");
  const Snapshot snapshot = Take();
  world_.SetImage("app:3");
  const Outcome applied = ApplyTo(snapshot);
  ASSERT_TRUE(applied.refused);
  EXPECT_EQ(applied.refused->reason, Reason::kConflict);
  EXPECT_THAT(world_.Writes(), IsEmpty());
}

TEST_F(PlanExecutorTest, NothingIsWrittenForAReplacedOrUnreadableDaemon) {
  Deployed({"a"});
  world_.AddPool("b");
  const Snapshot snapshot = Take();
  FailOnce("GET", StatusResponse(503, "ServiceUnavailable", "later"));
  EXPECT_TRUE(ApplyTo(snapshot).refused);
  const Json daemon = world_.Daemon();
  world_.cluster.Delete(kYurtAppDaemonType, {kNs, "web"});
  EXPECT_TRUE(ApplyTo(snapshot).refused);
  world_.cluster.Create(kYurtAppDaemonType, daemon);
  EXPECT_TRUE(ApplyTo(snapshot).refused);
  EXPECT_THAT(world_.Writes(), IsEmpty());
}

TEST_F(PlanExecutorTest, NoPodIsRestartedForTaintsThatThePoolHasNoMore) {
  Deployed({"a"});
  const Snapshot before = Take();
  world_.cluster.Edit(kNodePoolType, {"", "a"}, [](Json& pool) {
    pool["spec"]["taints"] = {{{"key", "shop"}, {"effect", "NoSchedule"}}};
  });
  EXPECT_THAT(Apply().updated, ElementsAre("a"));
  // The snapshot has the current workload, and the pool without its taint.
  Snapshot snapshot = Take();
  snapshot.pools = before.pools;
  world_.cluster.ClearWrites();
  EXPECT_TRUE(ApplyTo(snapshot).retry);
  EXPECT_THAT(world_.Writes(), IsEmpty());
  world_.RemovePool("a");
  EXPECT_TRUE(ApplyTo(snapshot).retry);
  EXPECT_THAT(world_.Writes(), IsEmpty());
}

TEST_F(PlanExecutorTest, ListsOfLargeWorkloadsAreReadInPagesOfBoundedLength) {
  world_.AddPools({"a"});
  Json large = WorkloadJson(world_.Daemon(), MakeRevision(world_.Daemon()), PoolJson("z"));
  large["metadata"]["annotations"]["large"] = std::string(1'000'000, 'x');
  large["metadata"]["ownerReferences"][0]["uid"] = "somebody";
  for (int i = 0; i < 18; ++i) {
    large["metadata"]["name"] = "large-" + std::to_string(i);
    world_.cluster.Create(kDeploymentType, large);
  }
  const Snapshot snapshot = Take();
  const auto pages = [&] {
    std::size_t lists = 0;
    for (const HttpRequest& request : world_.cluster.transport()->requests()) {
      if (request.method != "GET" || !PathOf(request).ends_with("/deployments")) continue;
      ++lists;
      EXPECT_LE(request.max_answer, PageSize::kMaxBytes);
    }
    world_.cluster.transport()->ClearRequests();
    return lists;
  };
  world_.cluster.transport()->ClearRequests();
  ASSERT_TRUE(executor_.ReadWorkloads(snapshot.daemon, {}));
  EXPECT_GT(pages(), 1U);
  EXPECT_THAT(ApplyTo(snapshot).created, ElementsAre("a")) << "after it has looked for orphans";
  EXPECT_GT(pages(), 1U);
}

}  // namespace
}  // namespace yad::testing
