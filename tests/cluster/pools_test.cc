// Pools that are added, removed or changed, names at their limits, and several daemons with the same pools.
#include "tests/cluster/fixture.h"

namespace yad::testing {
namespace {

class PoolsTest : public BothKinds {};
INSTANTIATE_ONE_KIND(PoolsTest, WorkloadKind::kDeployment);

// The limit of a workload's name depends on the kind.
class PoolNamesTest : public BothKinds {
 protected:
  // Returns a daemon with label app=web, because its name is too long for a label value.
  Json DaemonWithLongName(const std::string& name, int replicas) const {
    Json daemon = Daemon(name, replicas);
    const Json app = {{"app", "web"}};
    daemon["spec"]["selector"]["matchLabels"] = app;
    Json& workload_template = daemon["spec"]["workloadTemplate"][TemplateField(kind())];
    workload_template["metadata"]["labels"] = app;
    workload_template["spec"]["template"]["metadata"]["labels"] = app;
    return daemon;
  }
};
INSTANTIATE_BOTH_KINDS(PoolNamesTest);

TEST_P(PoolsTest, AnAddedPoolGetsAWorkloadAndTheOtherWorkloadsAreNotChanged) {
  StartOperator();
  const std::string a = AddPool("a");
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  const Json before = WorkloadOf("web", a);
  const std::string b = AddPool("b");
  WaitForPools("web", {a, b});
  WaitForStatus("web", "both pools are Ready", [](const Json& status) { return At(status, "/readyPools") == 2; });
  EXPECT_EQ(At(WorkloadOf("web", a), "/metadata/generation"), At(before, "/metadata/generation"));
  EXPECT_EQ(UidOf(WorkloadOf("web", a)), UidOf(before));
  EXPECT_EQ(Revisions("web").size(), 1U);
}

TEST_P(PoolsTest, APoolThatLosesItsLabelOrIsDeletedLosesItsWorkload) {
  StartOperator();
  const std::string a = AddPool("a");
  const std::string b = AddPool("b");
  const std::string c = AddPool("c");
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  WaitForPools("web", {a, b, c});
  Unselect(a);
  WaitForPools("web", {b, c});
  DeletePool(b);
  WaitForPools("web", {c});
  WaitForStatus("web", "one pool is left", [&](const Json& status) {
    return At(status, "/nodepools") == Json::array({c}) && At(status, "/desiredPools") == 1 &&
           At(status, "/pools").size() == 1U;
  });
  // The pool returns, and its workload has the same name.
  Select(a);
  WaitForPools("web", {a, c});
}

TEST_P(PoolsTest, AWorkloadIsShownAsRemovingAndIsRecreatedOnlyAfterItsDeletion) {
  StartOperator();
  const std::string a = AddPool("a");
  const std::string b = AddPool("b");
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  const Json before = WorkloadOf("web", a);
  kube().MergePatch(type(), NameOf(before),
                    {{"metadata", {{"finalizers", Json::array({"cluster-test.example.org/hold"})}}}});
  Unselect(a);
  const Json daemon = WaitForStatus("web", "a is being removed", [&](const Json& status) {
    return StringAt(PoolStatus({{"status", status}}, a), {"phase"}) == "Removing";
  });
  EXPECT_EQ(At(daemon, "/status/desiredPools"), 1);
  EXPECT_EQ(At(daemon, "/status/nodepools"), Json::array({b}));
  EXPECT_EQ(ConditionStatus(daemon, "WorkLoadProvisioned"), "False");
  EXPECT_NE(StringAt(WorkloadOf("web", a), {"metadata", "deletionTimestamp"}), "");
  Select(a);
  WaitForStatus("web", "both pools are selected", [](const Json& status) { return At(status, "/desiredPools") == 2; });
  EXPECT_EQ(kube().List(type()).size(), 2U);
  kube().MergePatch(type(), NameOf(before), {{"metadata", {{"finalizers", nullptr}}}});
  Eventually("the workload is recreated", [&] { return UidOf(WorkloadOf("web", a)) != UidOf(before); });
  WaitUntilReady("web");
  WaitForPools("web", {a, b});
}

TEST_P(PoolsTest, AWorkloadHasTheSameNameWhenItsPoolReturns) {
  StartOperator();
  const std::string a = AddPool("a");
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  const Json before = WorkloadOf("web", a);
  Unselect(a);
  WaitForPools("web", {});
  Select(a);
  WaitForPools("web", {a});
  EXPECT_EQ(NameOf(WorkloadOf("web", a)), NameOf(before));
  EXPECT_NE(UidOf(WorkloadOf("web", a)), UidOf(before));
}

TEST_P(PoolsTest, ARelabelledPoolLosesTheOldDaemonsWorkloadAndGetsTheNewDaemons) {
  StartOperator();
  const std::string pool = AddPool("a", Json::object(), {{"stage", "blue"}});
  for (const std::string stage : {"blue", "green"}) {
    Json daemon = Daemon(stage);
    daemon["spec"]["nodepoolSelector"]["matchLabels"]["stage"] = stage;
    CreateDaemon(daemon);
  }
  WaitForPools("blue", {pool});
  WaitUntilReady("green");
  WaitForPools("green", {});
  kube().MergePatch(kNodePoolType, pool, {{"metadata", {{"labels", {{"stage", "green"}}}}}});
  WaitForPools("green", {pool});
  WaitForPools("blue", {});
}

TEST_P(PoolsTest, TolerationsChangeWithThePoolsTaints) {
  StartOperator();
  const std::string a = AddPool("a");
  const std::string b = AddPool("b");
  Json daemon = Daemon("web");
  const Json own = R"({"key": "own", "operator": "Exists"})"_json;
  daemon["spec"]["workloadTemplate"][TemplateField(kind())]["spec"]["template"]["spec"]["tolerations"] =
      Json::array({own});
  CreateDaemon(daemon);
  WaitUntilReady("web");
  const auto set_taints = [&](const Json& taints) {
    kube().MergePatch(kNodePoolType, a, {{"spec", {{"taints", taints}}}});
  };
  const auto wait_for = [&](const std::string& what, const Json& tolerations) {
    Eventually(what, [&]() -> std::string {
      const Json have = At(WorkloadOf("web", a), "/spec/template/spec/tolerations");
      return have == tolerations ? "" : have.dump();
    });
  };
  const Json untouched = WorkloadOf("web", b);
  set_taints(R"([{"key": "x", "value": "1", "effect": "NoSchedule"}])"_json);
  const Json x = R"({"key": "x", "operator": "Exists", "effect": "NoSchedule"})"_json;
  wait_for("x is tolerated", Json::array({own, x}));
  set_taints(R"([{"key": "y", "effect": "NoExecute"}])"_json);
  wait_for("y instead", Json::array({own, R"({"key": "y", "operator": "Exists", "effect": "NoExecute"})"_json}));
  StopOperator();  // the next process must find out which tolerations the operator has added for taints
  set_taints(Json::array());
  StartOperator();
  wait_for("none but the template's", Json::array({own}));
  EXPECT_EQ(WithoutStatus(WorkloadOf("web", b)), WithoutStatus(untouched));
  EXPECT_EQ(Revisions("web").size(), 1U);
}

TEST_P(PoolsTest, AChangedValueOfATaintChangesNoWorkload) {
  StartOperator();
  const std::string a = AddPool("a", R"({"taints": [{"key": "x", "value": "1", "effect": "NoSchedule"}]})"_json);
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  Barrier();
  const WallTime before = Now();
  kube().MergePatch(kNodePoolType, a,
                    R"({"spec": {"taints": [{"key": "x", "value": "2", "effect": "NoSchedule"}]}})"_json);
  Barrier();
  Barrier();
  std::vector<AuditedRequest> writes = WritesSince(before);
  std::erase_if(writes, [&](const AuditedRequest& write) { return write.resource != type().resource; });
  EXPECT_TRUE(writes.empty()) << ToString(writes);
}

TEST_P(PoolsTest, PoolsCanBeSelectedAndExcludedByNameAndType) {
  StartOperator();
  const std::string edge = AddPool("edge");
  const std::string edge2 = AddPool("edge2");
  const std::string cloud = AddPool("cloud", {{"type", "Cloud"}});
  const std::string unlabelled = AddPool("named", {{"type", "Cloud"}});
  Unselect(unlabelled);
  CreateDaemon(Daemon("web"));
  WaitForPools("web", {edge, edge2, cloud});
  PatchSpec("web", {{"nodePools", {{"type", "Edge"}}}});
  WaitForPools("web", {edge, edge2});
  // `type` filters the selected pools, `names` adds pools, and `exclude` removes pools from both.
  PatchSpec("web", {{"nodePools", {{"names", Json::array({unlabelled, edge2})}, {"exclude", Json::array({edge2})}}}});
  WaitForPools("web", {edge, unlabelled});
  PatchSpec("web", {{"nodePools", {{"type", "Cloud"}, {"names", nullptr}, {"exclude", nullptr}}}});
  WaitForPools("web", {cloud});
}

TEST_P(PoolsTest, PoolsCanBeSelectedByNamesOnly) {
  StartOperator();
  const std::string a = AddPool("a");
  AddPool("b");
  Json daemon = Daemon("web");
  daemon["spec"].erase("nodepoolSelector");
  daemon["spec"]["nodePools"] = {{"names", Json::array({a, Pool("later")})}};
  CreateDaemon(daemon);
  WaitForPools("web", {a});
  WaitUntilReady("web");
  const std::string later = AddPool("later");
  WaitForPools("web", {a, later});
}

TEST_P(PoolsTest, TwoDaemonsWithTheSamePoolsDoNotConflict) {
  StartOperator();
  // <other>-<b> and web-<a> are equal, so workloads with these names would conflict.
  const std::string a = AddPool(ns() + "x");
  const std::string b = AddPoolNamed(ns() + "x");
  const std::string other = "web-" + ns();
  CreateDaemon(Daemon("web"));
  CreateDaemon(Daemon(other));
  WaitUntilReady("web");
  WaitUntilReady(other);
  WaitForPools("web", {a, b});
  WaitForPools(other, {a, b});
  SetImage("web", "example.org/app:2");
  WaitForStatus("web", "is rolled out", [](const Json& status) {
    return At(status, "/updatedPools") == 2 && At(status, "/currentRevision") == At(status, "/updateRevision");
  });
  for (const auto& [pool, workload] : ByPool("web")) EXPECT_EQ(ImageOf(workload), "example.org/app:2");
  for (const auto& [pool, workload] : ByPool(other)) EXPECT_EQ(ImageOf(workload), "example.org/app:1");
  kube().Delete(kYurtAppDaemonType, "web");
  Eventually("only the other daemon's workloads exist", [&] { return kube().List(type()).size() == 2; });
  WaitForPools(other, {a, b});
}

TEST_P(PoolsTest, OnlyAPoolWhoseNameIsNotAValidLabelValueFailsWithInvalidPoolName) {
  StartOperator();
  const std::string good = AddPool("good");
  const std::string longest =
      AddPoolNamed(Pool("x") + std::string(60, 'a') + "." + std::string(253 - 61 - Pool("x").size(), 'b'));
  ASSERT_EQ(longest.size(), 253U);
  const std::string one_too_long = AddPoolNamed(Pool("y") + std::string(64 - Pool("y").size(), 'c'));
  ASSERT_EQ(one_too_long.size(), 64U);
  CreateDaemon(Daemon("web"));
  const Json daemon = WaitForStatus("web", "two pools have failed", [](const Json& status) {
    return At(status, "/failedPools") == 2 && At(status, "/readyPools") == 1;
  });
  for (const std::string& pool : {longest, one_too_long}) {
    EXPECT_EQ(StringAt(PoolStatus(daemon, pool), {"phase"}), "Failed");
    EXPECT_EQ(StringAt(PoolStatus(daemon, pool), {"reason"}), "InvalidPoolName");
    EXPECT_EQ(StringAt(PoolStatus(daemon, pool), {"workload"}), "");
  }
  WaitForPools("web", {good});
  EXPECT_EQ(StringAt(PoolStatus(daemon, good), {"phase"}), "Ready");
  EXPECT_EQ(ConditionStatus(daemon, "WorkLoadFailure"), "True");
  EXPECT_EQ(ConditionStatus(daemon, "Degraded"), "True");
  EXPECT_NE(ConditionStatus(daemon, "Ready"), "True");
  // An invalid pool does not affect currentRevision.
  EXPECT_EQ(At(daemon, "/status/currentRevision"), At(daemon, "/status/updateRevision"));
}

TEST_P(PoolNamesTest, LongNamesAndNamesWithDotsGiveDistinctWorkloadsWhosePodsRun) {
  StartOperator();
  const std::size_t limit = kind() == WorkloadKind::kStatefulSet ? 52 : 63;
  // Two names of 63 characters differ only in the last character. Two other names are "a.b" and "a-b".
  const std::string stem = Pool("p") + std::string(62 - Pool("p").size(), 'x');
  const std::vector<std::string> pools = {AddPoolNamed(stem + "1"), AddPoolNamed(stem + "2"), AddPool("a.b"),
                                          AddPool("a-b")};
  ASSERT_EQ(pools[0].size(), 63U);
  for (const std::string& pool : pools) AddNode(pool);
  const std::string daemon = "a-rather-long-daemon.name-" + std::string(40, 'z');
  CreateDaemon(DaemonWithLongName(daemon, 1));
  WaitUntilReady(daemon);
  WaitForPools(daemon, pools);
  std::vector<std::string> names;
  for (const auto& [pool, workload] : ByPool(daemon)) {
    const std::string name = NameOf(workload);
    EXPECT_LE(name.size(), limit) << name;
    EXPECT_EQ(name.find('.'), std::string::npos) << name;
    names.push_back(name);
  }
  for (const Json& pod : kube().List(kPodType, "app=web")) EXPECT_LE(NameOf(pod).size(), 253U);
  EXPECT_EQ(names.size(), 4U);
}

TEST_P(PoolNamesTest, ADaemonWithANameOf253CharactersIsRolledOut) {
  StartOperator();
  const std::string pool = AddPool("a");
  const std::string name = std::string(120, 'd') + "." + std::string(132, 'e');
  ASSERT_EQ(name.size(), 253U);
  CreateDaemon(DaemonWithLongName(name, 0));
  WaitUntilReady(name);
  const Json workload = WorkloadOf(name, pool);
  EXPECT_LE(NameOf(workload).size(), kind() == WorkloadKind::kStatefulSet ? 52U : 63U);
  // The revision's name is not valid as a label value, so the label is only its hash.
  const auto revisions = Revisions(name);
  ASSERT_EQ(revisions.size(), 1U);
  const std::string label = Label(workload, kRevisionLabel);
  EXPECT_LE(label.size(), 63U);
  EXPECT_THAT(NameOf(revisions[0]), ::testing::EndsWith("-" + label));
  // By these labels, the operator also finds the second revision, and then the first revision again.
  SetImage(name, "example.org/app:2");
  WaitForStatus(name, "is rolled out", [&](const Json& status) {
    return At(status, "/updatedPools") == 1 && At(status, "/updateRevision") != NameOf(revisions[0]);
  });
  EXPECT_EQ(ImageOf(WorkloadOf(name, pool)), "example.org/app:2");
  EXPECT_EQ(Revisions(name).size(), 2U);
}

TEST_P(PoolsTest, AHeartbeatOfAPoolCausesNoWrite) {
  StartOperator();
  const std::string a = AddPool("a");
  CreateDaemon(Daemon("web"));
  kube().MergePatch(kNodePoolType, a, R"({"status": {"readyNodeNum": 1, "unreadyNodeNum": 0, "nodes": ["n0"]}})"_json,
                    "status");
  WaitUntilReady("web");
  Barrier();
  const WallTime before = Now();
  for (int i = 1; i <= 10; ++i) {
    kube().MergePatch(kNodePoolType, a,
                      {{"status", {{"readyNodeNum", 1 + i}, {"nodes", Json::array({"n" + std::to_string(i)})}}}},
                      "status");
  }
  Barrier();
  std::vector<AuditedRequest> writes = WritesSince(before);
  std::erase_if(writes, [](const AuditedRequest& write) { return write.name.rfind("barrier-", 0) == 0; });
  EXPECT_TRUE(writes.empty()) << ToString(writes);
}

}  // namespace
}  // namespace yad::testing
