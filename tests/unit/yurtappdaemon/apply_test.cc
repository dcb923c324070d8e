// The executor's writes of a plan, and its handling of the responses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/api/conditions.h"
#include "operator/runtime/page_size.h"
#include "operator/yurtappdaemon/apply/executor.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"
#include "tests/unit/yurtappdaemon/apply_fixture.h"
#include "tests/unit/yurtappdaemon/world.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(PlanExecutorTest, CreatesUpdatesRepairsAndRemovesWorkloads) {
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

TEST_F(PlanExecutorTest, ResponseOfAWriteIsStoredBeforeTheWatchReportsIt) {
  world_.AddPool("a");
  const Outcome applied = Apply();
  ASSERT_TRUE(applied.pools[0].workload);
  EXPECT_TRUE(world_.stores().deployments.Get({kNs, world_.NameOf("a")}));
  EXPECT_FALSE(applied.pools[0].outstanding);
}

// The executor compares each response with the sent object. Most of these objects differ only in the pool.
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

// If there are overrides, a response that is correct for one pool can be wrong for another pool.
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

TEST_F(PlanExecutorTest, ConflictIsRetriedWithTheCurrentObject) {
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

TEST_F(PlanExecutorTest, AWorkloadThatWasReplacedAfterThePlanIsLeftForTheNextPlan) {
  Deployed({"a"});
  world_.SetImage("app:2");
  const Snapshot snapshot = Take();
  const Json old = world_.Workload("a");
  world_.cluster.Delete(kDeploymentType, {kNs, world_.NameOf("a")});
  const Outcome gone = ApplyTo(snapshot);
  EXPECT_TRUE(gone.retry);
  EXPECT_TRUE(gone.pools[0].outstanding);
  EXPECT_EQ(gone.pools[0].failure_reason, "") << "a workload that a user deleted is not a failure";
  world_.cluster.Create(kDeploymentType, old);
  const Outcome replaced = ApplyTo(snapshot);
  EXPECT_TRUE(replaced.retry);
  EXPECT_EQ(ImageOf(world_.Workload("a")), "app:1");
}

// The caches of a new process are stale, and the previous process has already written a newer template.
TEST_F(PlanExecutorTest, AWorkloadThatWasUpdatedAfterThePlanIsLeftForTheNextPlan) {
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
  EXPECT_EQ(ImageOf(world_.Workload("a")), "app:1")
      << "otherwise, the variable would stay, as if another client had set it";
}

struct RejectionCase {
  const char* what;
  int code;
  const char* reason;
  const char* message;
  const char* failure;  // "": a retry may succeed, and the pool has not failed
};

TEST_F(PlanExecutorTest, RejectionsFailThePoolAndTransientErrorsDoNot) {
  world_.AddPool("a");
  const RejectionCase cases[] = {
      {"invalid", 422, "Invalid", "spec.template: Invalid value", "Invalid"},
      {"forbidden", 403, "Forbidden", "you may not", "Forbidden"},
      {"quota", 403, "Forbidden", "exceeded quota: few, requested: 1", "QuotaExceeded"},
      {"webhook away", 500, "InternalError", "failed calling webhook \"x\": connection refused", "WebhookFailed"},
      {"bad patch of a webhook", 500, "InternalError", "Internal error occurred: add operation does not apply: doc is",
       "WebhookFailed"},
      {"removal of nothing by a webhook", 500, "InternalError",
       "Internal error occurred: error in remove for path: '/spec/x': Unable to remove nonexistent key: x: missing "
       "value",
       "WebhookFailed"},
      {"admission policy without parameters", 422, "Invalid",
       "deployments.apps \"web\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed "
       "to "
       "configure binding: paramKind kind `v1, Kind=ConfigMap` not yet synced to use for admission",
       "WebhookFailed"},
      {"new quota", 403, "Forbidden",
       "deployments.apps \"web\" is forbidden: status unknown for quota: few, resources: x", "QuotaExceeded"},
      {"server trouble", 500, "InternalError", "etcdserver: request timed out", ""},
      {"too many requests", 429, "TooManyRequests", "slow down", ""},
      {"unavailable", 503, "ServiceUnavailable", "no leader", ""},
      {"unauthorized", 401, "Unauthorized", "Unauthorized", ""},
      {"namespace gone", 404, "NotFound", "namespaces \"ns\" not found", ""},
      {"conflict", 409, "Conflict", "try again", ""},
  };
  for (const RejectionCase& c : cases) {
    SCOPED_TRACE(c.what);
    FailOnce("POST", StatusResponse(c.code, c.reason, c.message));
    const Outcome applied = Apply();
    EXPECT_TRUE(applied.retry);
    EXPECT_TRUE(applied.pools[0].outstanding);
    EXPECT_EQ(applied.pools[0].failure_reason, c.failure);
    EXPECT_THAT(world_.Workloads(), IsEmpty());
  }
}

// The apiserver quotes an invalid value of 1 MB in full. Many pools may have this value.
TEST_F(PlanExecutorTest, LongMessagesOfRejectedWritesAreTruncated) {
  world_.AddPools({"a", "b", "c"});
  const std::string quota = "exceeded quota: few, requested: 1" + std::string(1'000'000, 'x');
  world_.cluster.SetFaults([&](const WriteRecord& r, const Json&) -> std::optional<FakeCluster::Fault> {
    if (r.method != "POST") return std::nullopt;
    return FakeCluster::Fault{StatusResponse(403, "Forbidden", quota), false};
  });
  const Outcome applied = Apply();
  for (const PoolOutcome& result : applied.pools) {
    EXPECT_EQ(result.failure_reason, kQuotaExceeded);
    EXPECT_EQ(result.failure_message.size(), kMaxMessage);
  }
  ASSERT_TRUE(applied.retry);
  EXPECT_EQ(applied.retry->message.size(), 4096U);
}

TEST_F(PlanExecutorTest, ForbiddenWriteOfANamespaceThatIsBeingDeletedFailsNoPool) {
  world_.AddPool("a");
  const Json causes = {{{"reason", "Other"}, {"message", std::string(2000, 'x')}},
                       {{"reason", "NamespaceTerminating"}, {"message", "being terminated"}, {"field", "metadata"}}};
  const Json status = {
      {"kind", "Status"}, {"reason", "Forbidden"}, {"message", "no"}, {"details", {{"causes", causes}}}};
  FailOnce("POST", JsonResponse(status, 403));
  const Outcome applied = Apply();
  EXPECT_EQ(applied.pools[0].failure_reason, "");
  ASSERT_TRUE(applied.retry);
  ASSERT_THAT(applied.retry->causes, SizeIs(2));
  for (const Cause& cause : applied.retry->causes) EXPECT_EQ(cause.field + cause.message, "");
}

TEST_F(PlanExecutorTest, FailedWritesBlockNoOtherPoolAndTheLongestRetryAfterIsUsed) {
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

TEST_F(PlanExecutorTest, ListsOfLargeWorkloadsAreReadInPagesOfBoundedLength) {
  world_.AddPools({"a"});
  Json large = WorkloadJson(world_.Daemon(), MakeRevision(world_.Daemon()), PoolJson("z"));
  large["metadata"]["annotations"]["large"] = std::string(1'000'000, 'x');
  large["metadata"]["ownerReferences"][0]["uid"] = "another-owner";
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
  EXPECT_THAT(ApplyTo(snapshot).created, ElementsAre("a")) << "the create follows the search for orphans";
  EXPECT_GT(pages(), 1U);
}

}  // namespace
}  // namespace yad::testing
