// Each field of the status, and its use by common tools.
#include "tests/cluster/fixture.h"

namespace yad::testing {
namespace {

class StatusTest : public BothKinds {
 protected:
  // Expects the status of a daemon with two replicas in each of two pools, after its first rollout.
  void ExpectCounters(const Json& status, const std::string& revision) {
    EXPECT_EQ(At(status, "/observedGeneration"), 1);
    EXPECT_EQ(At(status, "/collisionCount"), 0);
    EXPECT_EQ(At(status, "/templateType"), type().kind);
    EXPECT_EQ(At(status, "/currentRevision"), revision);
    EXPECT_EQ(At(status, "/updateRevision"), revision);
    EXPECT_EQ(At(status, "/desiredPools"), 2);
    EXPECT_EQ(At(status, "/updatedPools"), 2);
    EXPECT_EQ(At(status, "/readyPools"), 2);
    EXPECT_EQ(IntAt(status, {"failedPools"}), 0);
    EXPECT_EQ(IntAt(status, {"offlinePools"}), 0);
    EXPECT_EQ(At(status, "/replicas"), 4);
    EXPECT_EQ(At(status, "/readyReplicas"), 4);
    EXPECT_EQ(BoolAt(status, {"poolsTruncated"}), false);
    const std::string images = StringAt(status, {"images"});
    EXPECT_THAT(images, ::testing::HasSubstr("example.org/app:1"));
    EXPECT_THAT(images, ::testing::HasSubstr("example.org/second:7"));
    EXPECT_EQ(images.find("example.org/app:1"), images.rfind("example.org/app:1")) << "distinct images: " << images;
  }
  void ExpectPools(const Json& status, const std::vector<std::string>& pools, const std::string& revision) {
    EXPECT_EQ(At(status, "/nodepools"), Json(pools));
    const auto by_pool = ByPool("web");
    ASSERT_EQ(At(status, "/pools").size(), 2U);
    ASSERT_EQ(At(status, "/workloadSummary").size(), 2U);
    int at = 0;
    for (const std::string& pool : pools) {
      const Json entry = At(status, "/pools/" + std::to_string(at));
      EXPECT_EQ(At(entry, "/name"), pool);
      EXPECT_EQ(At(entry, "/workload"), NameOf(by_pool.at(pool)));
      EXPECT_EQ(At(entry, "/revision"), revision);
      EXPECT_EQ(At(entry, "/phase"), "Ready");
      EXPECT_EQ(At(entry, "/replicas"), 2);
      EXPECT_EQ(At(entry, "/readyReplicas"), 2);
      EXPECT_NE(ParseTime(StringAt(entry, {"lastTransitionTime"})), WallTime{}) << entry;
      const Json summary = At(status, "/workloadSummary/" + std::to_string(at));
      EXPECT_EQ(At(summary, "/workloadName"), NameOf(by_pool.at(pool)));
      EXPECT_EQ(At(summary, "/replicas"), 2);
      EXPECT_EQ(At(summary, "/readyReplicas"), 2);
      EXPECT_EQ(At(summary, "/availableCondition"), "True");
      ++at;
    }
  }
  void ExpectConditions(const Json& daemon) {
    std::map<std::string, std::string> conditions;
    for (const Json& condition : At(daemon, "/status/conditions")) {
      const std::string name = StringAt(condition, {"type"});
      EXPECT_TRUE(conditions.emplace(name, StringAt(condition, {"status"})).second) << name << " twice";
      EXPECT_NE(ParseTime(StringAt(condition, {"lastTransitionTime"})), WallTime{}) << condition;
      if (name.rfind("WorkLoad", 0) != 0) {
        EXPECT_EQ(At(condition, "/observedGeneration"), 1) << condition;
      }
    }
    EXPECT_EQ(conditions["WorkLoadProvisioned"], "True");
    EXPECT_EQ(conditions["WorkLoadUpdated"], "True");
    EXPECT_NE(conditions["WorkLoadFailure"], "True");
    EXPECT_EQ(conditions["Ready"], "True");
    EXPECT_EQ(conditions["Progressing"], "True");
    EXPECT_EQ(StringAt(ConditionOf(daemon, "Progressing"), {"reason"}), "RolloutComplete");
    EXPECT_NE(conditions["Degraded"], "True");
    EXPECT_NE(conditions["Paused"], "True");
  }
};
INSTANTIATE_BOTH_KINDS(StatusTest);

// Tests of fields that do not depend on the kind.
class StatusOnceTest : public StatusTest {};
INSTANTIATE_ONE_KIND(StatusOnceTest, WorkloadKind::kStatefulSet);

TEST_P(StatusTest, EveryStatusFieldIsCorrectAfterARollout) {
  StartOperator();
  const std::string b = AddPool("b");
  const std::string a = AddPool("a");
  AddNode(a);
  AddNode(b);
  Json object = Daemon("web", 2);
  Json& pod = object["spec"]["workloadTemplate"][TemplateField(kind())]["spec"]["template"]["spec"];
  pod["containers"].push_back(R"({"name": "second", "image": "example.org/second:7"})"_json);
  pod["initContainers"] = R"([{"name": "init", "image": "example.org/app:1"}])"_json;
  CreateDaemon(object);
  const Json daemon = WaitUntilReady("web");
  const Json status = At(daemon, "/status");
  const auto revisions = Revisions("web");
  ASSERT_EQ(revisions.size(), 1U);
  const std::string revision = NameOf(revisions[0]);
  ExpectCounters(status, revision);
  ExpectPools(status, {a, b}, revision);
  ExpectConditions(daemon);
}

TEST_P(StatusTest, PoolIsUpdatingAndDaemonIsNotReadyWhilePodsAreMissing) {
  StartOperator();
  const std::string a = AddPool("a");
  const std::string b = AddPool("b");
  AddNode(a);  // b has no node
  CreateDaemon(Daemon("web", 1));
  const Json daemon =
      WaitForStatus("web", "pool a is Ready", [](const Json& status) { return At(status, "/readyPools") == 1; });
  EXPECT_EQ(At(daemon, "/status/updatedPools"), 1);
  EXPECT_EQ(At(daemon, "/status/readyReplicas"), 1);
  EXPECT_EQ(At(daemon, "/status/replicas"), 2);
  // Unhealthy pools come first.
  EXPECT_EQ(At(daemon, "/status/pools/0/name"), b);
  EXPECT_EQ(At(daemon, "/status/pools/0/phase"), "Updating");
  EXPECT_EQ(At(daemon, "/status/pools/1/phase"), "Ready");
  EXPECT_EQ(ConditionStatus(daemon, "Ready"), "False");
  EXPECT_EQ(ConditionStatus(daemon, "WorkLoadProvisioned"), "True");
  EXPECT_EQ(ConditionStatus(daemon, "WorkLoadUpdated"), "False");
  EXPECT_EQ(ConditionStatus(daemon, "Progressing"), "True");
  EXPECT_NE(StringAt(ConditionOf(daemon, "Progressing"), {"reason"}), "RolloutComplete");
  AddNode(b);
  WaitUntilReady("web");
}

TEST_P(StatusOnceTest, KubectlWaitReturnsOnceThePodsAreReady) {
  StartOperator();
  const std::string a = AddPool("a");
  AddNode(a);
  CreateDaemon(Daemon("web", 1));
  Kubectl({"wait", "--for=condition=Ready", "yad/web", "--timeout=180s"});
  EXPECT_EQ(At(WorkloadOf("web", a), "/status/readyReplicas"), 1);
  SetImage("web", "example.org/app:2");
  WaitUntilObserved("web");
  Kubectl({"wait", "--for=condition=Ready", "yad/web", "--timeout=180s"});
  const Json workload = WorkloadOf("web", a);
  EXPECT_EQ(ImageOf(workload), "example.org/app:2");
  EXPECT_EQ(At(workload, "/status/updatedReplicas"), 1);
}

TEST_P(StatusOnceTest, KubectlGetShowsCountsStatusAndImages) {
  StartOperator();
  AddPools(2);
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  const std::string table = Kubectl({"get", "udd", "web"});
  for (const char* column : {"TYPE", "POOLS", "UPDATED", "READY", "STATUS", "REVISION", "AGE"}) {
    EXPECT_THAT(table, ::testing::HasSubstr(column));
  }
  EXPECT_THAT(table, ::testing::HasSubstr(type().kind));
  const std::string wide = Kubectl({"get", "yad", "web", "-o", "wide"});
  for (const char* column : {"FAILED", "OFFLINE", "IMAGES", "example.org/app:1"})
    EXPECT_THAT(wide, ::testing::HasSubstr(column));
  EXPECT_THAT(Kubectl({"get", "yurt"}), ::testing::HasSubstr("web"));
}

TEST_P(StatusOnceTest, AnOfflinePoolIsUpdatedAndCountedButBlocksNoOtherPool) {
  StartOperator();
  const std::string a = AddPool("a");
  const std::string off = AddPool("off");
  const std::string unknown = AddPool("unknown");  // not offline, because it has no counts of nodes
  AddNode(a);
  AddNode(unknown);
  kube().MergePatch(kNodePoolType, off, R"({"status": {"readyNodeNum": 0, "unreadyNodeNum": 2}})"_json, "status");
  kube().MergePatch(kNodePoolType, a, R"({"status": {"readyNodeNum": 1, "unreadyNodeNum": 1}})"_json, "status");
  CreateDaemon(Daemon("web", 1));
  const Json daemon = WaitUntilReady("web");
  WaitForPools("web", {a, off, unknown});
  const Json status = At(daemon, "/status");
  EXPECT_EQ(At(status, "/offlinePools"), 1);
  EXPECT_EQ(At(status, "/desiredPools"), 3);
  EXPECT_EQ(At(status, "/updatedPools"), 3);  // the operator also writes the workload of an offline pool
  EXPECT_EQ(At(status, "/readyPools"), 2);
  EXPECT_EQ(IntAt(status, {"failedPools"}), 0);
  EXPECT_EQ(At(PoolStatus(daemon, off), "/phase"), "Offline");
  EXPECT_EQ(At(status, "/currentRevision"), At(status, "/updateRevision"));
  EXPECT_EQ(ConditionStatus(daemon, "WorkLoadUpdated"), "True");
  // The operator also updates the offline pool, so that the pool has the revision when it is online again.
  SetImage("web", "example.org/app:2");
  WaitForStatus("web", "is rolled out", [](const Json& now) {
    return At(now, "/updatedPools") == 3 && At(now, "/currentRevision") == At(now, "/updateRevision");
  });
  EXPECT_EQ(ImageOf(WorkloadOf("web", off)), "example.org/app:2");
  // After the pool has returned, it counts again. It has no node in this test, so its pod is missing.
  kube().MergePatch(kNodePoolType, off, R"({"status": {"readyNodeNum": 1}})"_json, "status");
  WaitForStatus("web", "no pool is offline", [&](const Json& now) {
    return IntAt(now, {"offlinePools"}) == 0 && At(PoolStatus({{"status", now}}, off), "/phase") == "Updating" &&
           ConditionStatus({{"status", now}}, "Ready") == "False";
  });
  AddNode(off);
  WaitUntilReady("web");
}

TEST_P(StatusOnceTest, DaemonWithoutPoolsIsReadyAndProvisioned) {
  StartOperator();
  CreateDaemon(Daemon("web"));
  const Json daemon = WaitUntilReady("web");
  EXPECT_EQ(IntAt(daemon, {"status", "desiredPools"}, -1), 0);
  EXPECT_EQ(At(daemon, "/status/pools").size(), 0U);
  EXPECT_EQ(ConditionStatus(daemon, "WorkLoadProvisioned"), "True");
}

TEST_P(StatusOnceTest, AQuotaThatRejectsAWorkloadIsReportedUntilItIsRaised) {
  StartOperator();
  const std::string resource = "count/" + type().resource + ".apps";
  const auto set_quota = [&](int hard) {
    kube().MergePatch(kResourceQuotaType, "few", {{"spec", {{"hard", {{resource, std::to_string(hard)}}}}}});
    // The test writes the status of the quota, because no quota controller runs.
    kube().MergePatch(kResourceQuotaType, "few", {{"status", {{"hard", {{resource, std::to_string(hard)}}}}}},
                      "status");
  };
  kube().Create(kResourceQuotaType, {{"metadata", {{"name", "few"}}}, {"spec", {{"hard", {{resource, "1"}}}}}});
  kube().MergePatch(kResourceQuotaType, "few", {{"status", {{"hard", {{resource, "1"}}}, {"used", {{resource, "0"}}}}}},
                    "status");
  AddPool("a");
  AddPool("b");
  CreateDaemon(Daemon("web"));
  const Json daemon = WaitForStatus("web", "one pool has failed", [](const Json& status) {
    return At(status, "/failedPools") == 1 && At(status, "/readyPools") == 1;
  });
  const Json failed = At(daemon, "/status/pools/0");  // unhealthy pools come first
  EXPECT_EQ(At(failed, "/phase"), "Failed");
  EXPECT_TRUE(::testing::Matches(::testing::MatchesRegex("[A-Z][A-Za-z]+"))(StringAt(failed, {"reason"}))) << failed;
  EXPECT_THAT(StringAt(failed, {"message"}), ::testing::HasSubstr("exceeded quota"));
  EXPECT_EQ(ConditionStatus(daemon, "WorkLoadFailure"), "True");
  EXPECT_THAT(StringAt(ConditionOf(daemon, "WorkLoadFailure"), {"message"}), ::testing::HasSubstr("exceeded quota"));
  EXPECT_NE(StringAt(ConditionOf(daemon, "WorkLoadFailure"), {"reason"}), "");
  EXPECT_EQ(ConditionStatus(daemon, "WorkLoadProvisioned"), "False");
  EXPECT_EQ(ConditionStatus(daemon, "Degraded"), "True");
  set_quota(10);
  const Json healed = WaitUntilReady("web");
  EXPECT_EQ(At(healed, "/status/readyPools"), 2);
  EXPECT_NE(ConditionStatus(healed, "WorkLoadFailure"), "True");
  EXPECT_EQ(At(healed, "/status/currentRevision"), At(healed, "/status/updateRevision"));
}

TEST_P(StatusOnceTest, StatusThatAnotherClientWritesIsRevertedAtTheNextEvent) {
  StartOperator();
  AddPools(1);
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  Barrier();
  const Json before = At(GetDaemon("web"), "/status");
  kube().MergePatch(kYurtAppDaemonType, "web", R"({"status": {"readyPools": 77}})"_json, "status");
  // Also changes a workload's label, because a change of the status alone does not cause a reconcile.
  kube().MergePatch(type(), NameOf(WorkloadOf("web", Pool("p000"))), {{"metadata", {{"labels", {{"app", "broken"}}}}}});
  Eventually("the status is correct again", [&]() -> std::string {
    const Json now = At(GetDaemon("web"), "/status");
    return At(now, "/readyPools") == At(before, "/readyPools") ? "" : now.dump();
  });
}

}  // namespace
}  // namespace yad::testing
