// Nodes in maintenance: their conditions hold the updates of their pools.
#include "operator/yurtappdaemon/observe/maintenance.h"

#include <gmock/gmock.h>

#include "operator/api/node.h"
#include "tests/support/object_bytes.h"
#include "tests/unit/yurtappdaemon/rolling_update_fixture.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Json NodeJson(const std::string& name, const std::string& pool, const std::vector<Json>& conditions = {}) {
  Json node = {{"apiVersion", "v1"},
               {"kind", "Node"},
               {"metadata", {{"name", name}, {"uid", "uid-" + name}, {"resourceVersion", "1"}}},
               {"status", {{"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}};
  if (!pool.empty()) node["metadata"]["labels"] = {{kNodePoolLabel, pool}};
  for (const Json& condition : conditions) node["status"]["conditions"].push_back(condition);
  return node;
}

Json ConditionJson(const std::string& type, const std::string& status) { return {{"type", type}, {"status", status}}; }

class MaintenanceTest : public RollingUpdateTest {
 protected:
  void DeployedWithNodes(const std::vector<std::string>& pools, Json rolling = Json::object()) {
    world_.watches_nodes = true;
    world_.Restart();
    for (const std::string& pool : pools) AddNode("n-" + pool, pool);
    Deployed(pools, std::move(rolling));
  }
  void AddNode(const std::string& name, const std::string& pool) {
    world_.cluster.Create(kNodeType, NodeJson(name, pool));
  }
  void SetCondition(const std::string& node, const std::string& type, const std::string& status) {
    world_.cluster.Edit(kNodeType, {"", node}, [&](Json& object) {
      for (Json& condition : object["status"]["conditions"]) {
        if (condition["type"] != type) continue;
        condition["status"] = status;
        return;
      }
      object["status"]["conditions"].push_back(ConditionJson(type, status));
    });
  }
  // Starts a new process, whose first list of the Nodes fails with this response.
  void RestartUnableToRead(const HttpResponse& answer) {
    world_.nodes_readable = false;
    world_.Restart();
    world_.FailToReadNodes(answer);
  }
  static inline const HttpResponse kForbidden = StatusResponse(403, "Forbidden", "nodes is forbidden");
};

TEST_P(MaintenanceTest, EachMaintenanceConditionHoldsThePoolUntilItIsFalse) {
  for (const char* condition : kMaintenanceConditions) {
    Play([&] {
      DeployedWithNodes({"a", "b"});
      const std::string before = Current();
      SetCondition("n-a", condition, "True");
      world_.SetImage("app:2");
      Step();
      EXPECT_EQ(Images(), "a=1 b=2") << "the held pool takes no slot";
      Heal("b");
      Step();
      EXPECT_EQ(WaitingFor("a"), "Hold");
      EXPECT_EQ(Phase("a"), "Ready NodeMaintenance");
      EXPECT_EQ(MessageOf("a"), "a node condition holds the pool (node n-a: " + std::string(condition) + ")");
      EXPECT_EQ(Complete(), "False PoolsHeld");
      EXPECT_EQ(Progressing(), "True PoolsHeld");
      EXPECT_EQ(Message(), "1 of 2 pools are updated; held: a")
          << "the message must not name `kubectl yad release`, because there is no annotation";
      EXPECT_EQ(Ready(), "True PoolsReady");
      EXPECT_EQ(ConditionReason(world_.Status(), "Reconciling"), "absent")
          << "a tool must not wait until the maintenance ends";
      EXPECT_EQ(world_.Status()["failedPools"], 0);
      EXPECT_EQ(Current(), before);
      SetCondition("n-a", condition, "False");
      Step();
      EXPECT_EQ(Images(), "a=2 b=2");
      EXPECT_EQ(Phase("a"), "Updating");
      Heal("a");
      Step();
      EXPECT_EQ(Complete(), "True RolloutComplete");
    });
  }
}

// The second time, the watch of Nodes fails after it has shown the maintenance.
TEST_P(MaintenanceTest, MaintenanceTakesEffectDuringABatchOfUpdates) {
  for (const bool watch_fails : {false, true}) {
    StartOver();
    world_.parallel_writes = 1;
    DeployedWithNodes({"a", "b", "c"}, {{"maxUnavailable", 3}});
    world_.cluster.SetAfterwards([&](const WriteRecord& request) {
      if (request.method != "PUT" || request.resource != TypeOf(GetParam()).resource) return;
      world_.cluster.SetAfterwards(nullptr);
      SetCondition("n-b", "DrainInProgress", "True");
      world_.SyncAllButDeployments();
      if (watch_fails) world_.FailToReadNodes(StatusResponse(429, "TooManyRequests", "slow down"));
    });
    world_.SetImage("app:2");
    StepDespiteErrors();
    EXPECT_EQ(Images(), "a=2 b=1 c=2") << watch_fails;
    world_.cluster.SetFaults(nullptr);
    SetCondition("n-b", "DrainInProgress", "False");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2 c=2");
  }
}

TEST_P(MaintenanceTest, OtherStatusesConditionsAndNodesHoldNoPool) {
  Play([&] {
    DeployedWithNodes({"a"});
    for (const char* condition : kMaintenanceConditions) SetCondition("n-a", condition, "Unknown");
    SetCondition("n-a", "DrainInProgress", "False");
    SetCondition("n-a", "MemoryPressure", "True");
    AddNode("spare", "");
    AddNode("other", "elsewhere");
    for (const char* node : {"spare", "other"}) SetCondition(node, "MaintenancePlanned", "True");
    world_.SetImage("app:2");
    Step();
    EXPECT_EQ(Images(), "a=2");
  });
}

TEST_P(MaintenanceTest, OneNodeOfSeveralHoldsThePoolAndTheFirstByNameIsReported) {
  Play([&] {
    DeployedWithNodes({"a"});
    for (const char* node : {"n-2", "n-1", "n-3"}) AddNode(node, "a");
    SetCondition("n-2", "MaintenancePlanned", "True");
    world_.SetImage("app:2");
    Step();
    EXPECT_EQ(MessageOf("a"), "a node condition holds the pool (node n-2: MaintenancePlanned)");
    SetCondition("n-1", "DrainInProgress", "True");
    SetCondition("n-2", "MaintenanceInProgress", "True");
    Step();
    EXPECT_EQ(MessageOf("a"), "a node condition holds the pool (node n-1: DrainInProgress)");
    SetCondition("n-1", "DrainInProgress", "False");
    Step();
    EXPECT_EQ(MessageOf("a"), "a node condition holds the pool (node n-2: MaintenanceInProgress)");
    EXPECT_EQ(Images(), "a=1");
    world_.cluster.Delete(kNodeType, {"", "n-2"});
    Step();
    EXPECT_EQ(Images(), "a=2");
  });
}

TEST_P(MaintenanceTest, HoldAnnotationAndInvalidWindowsAreReportedInsteadOfTheNode) {
  DeployedWithNodes({"a", "b", "c"});
  for (const char* node : {"n-a", "n-b", "n-c"}) SetCondition(node, "DrainInProgress", "True");
  AnnotatePool("a", kHoldAnnotation, "always");
  AnnotatePool("b", kUpdateWindowsAnnotation, "always");
  world_.SetImage("app:2");
  Step();
  EXPECT_EQ(MessageOf("a"), "the site holds the pool: always (kubectl yad release a)");
  EXPECT_EQ(Phase("b"), "Ready InvalidWindow");
  EXPECT_EQ(Phase("c"), "Ready NodeMaintenance");
  EXPECT_EQ(Message(), "0 of 3 pools are updated; held: a, b, c (kubectl yad release POOL)");
}

TEST_P(MaintenanceTest, RollbackSkipsAPoolUntilItsMaintenanceEnds) {
  Play([&] {
    DeployedWithNodes({"a", "b", "c"}, {{"progressDeadlineSeconds", 30}, {"onFailure", "Rollback"}});
    world_.SetImage("app:2");
    Step();
    Heal("a");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2 c=1");
    SetCondition("n-a", "MaintenanceInProgress", "True");
    Step(35);
    Step();
    EXPECT_EQ(Images(), "a=2 b=1 c=1");
    Heal("b");
    Step();
    EXPECT_EQ(Progressing(), "False RolledBack");
    EXPECT_THAT(Message(), HasSubstr("except for those that are held: a"));
    SetCondition("n-a", "MaintenanceInProgress", "False");
    Step();
    EXPECT_EQ(Images(), "a=1 b=1 c=1");
  });
}

TEST_P(MaintenanceTest, StartedUpdateContinuesDuringMaintenance) {
  DeployedWithNodes({"a", "b"});
  world_.SetImage("app:2");
  Step();
  SetCondition("n-a", "DrainInProgress", "True");
  Step();
  EXPECT_EQ(Images(), "a=2 b=1") << "pool a keeps its slot";
  Heal("a");
  Step();
  EXPECT_EQ(Images(), "a=2 b=2");
}

TEST_P(MaintenanceTest, StrategyAllDoesNotReadTheNodes) {
  world_.watches_nodes = true;
  world_.nodes_readable = false;
  world_.Restart();
  world_.AddPools({"a"});
  world_.CreateDaemon(DaemonJson("app:1", GetParam()));
  world_.Converge();
  world_.SetImage("app:2");
  Step();
  EXPECT_EQ(Images(), "a=2");
}

TEST_P(MaintenanceTest, NoUpdateStartsBeforeTheFirstListOfNodes) {
  DeployedWithNodes({"a"});
  world_.nodes_readable = false;
  world_.Restart();
  world_.SetImage("app:2");
  const auto result = world_.Reconcile();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->next, ReconcileResult::Next::kAfter);
  EXPECT_EQ(Images(), "a=1");
  world_.nodes_readable = true;
  Step();
  EXPECT_EQ(Images(), "a=2");
}

TEST_P(MaintenanceTest, NoUpdateStartsWhileTheFirstListFails) {
  DeployedWithNodes({"a"});
  RestartUnableToRead(StatusResponse(500, "InternalError", "etcdserver: leader changed"));
  world_.SetImage("app:2");
  Step(100);
  EXPECT_EQ(Images(), "a=1");
  EXPECT_THAT(MessageOf("a"),
              HasSubstr("no update starts, because the operator can't check whether nodes are in maintenance: "
                        "Nodes can't be read: cannot list nodes: InternalError: "));
  world_.nodes_readable = true;
  Step(7);
  EXPECT_EQ(Images(), "a=2") << "the last reconcile has requested this reconcile";
}

TEST_P(MaintenanceTest, NoPoolIsHeldAfterHalfAMinuteWithoutThePermissionToReadNodes) {
  DeployedWithNodes({"a"});
  SetCondition("n-a", "DrainInProgress", "True");
  RestartUnableToRead(kForbidden);
  world_.SetImage("app:2");
  Step(29);
  EXPECT_EQ(Images(), "a=1");
  Step(7);
  EXPECT_EQ(Images(), "a=2");
}

// The role of an older chart allows the operator to list Nodes, but not to watch them.
TEST_P(MaintenanceTest, StaleListHoldsNoPoolHalfAMinuteAfterTheWatchIsForbidden) {
  DeployedWithNodes({"a"});
  SetCondition("n-a", "DrainInProgress", "True");
  world_.SetImage("app:2");
  Step();
  EXPECT_EQ(WaitingFor("a"), "Hold");
  world_.FailToReadNodes(kForbidden);
  Step(1);
  EXPECT_EQ(Images(), "a=1");
  world_.clock.Advance(seconds(31));
  Step();
  EXPECT_EQ(Images(), "a=2");
}

TEST_P(MaintenanceTest, OneOfAThousandNodesHoldsItsPoolAndEachNodeNeedsFewBytes) {
  DeployedWithNodes({"a", "b"});
  for (int i = 0; i < 1000; ++i) AddNode("m" + std::to_string(1000 + i), i % 2 == 0 ? "a" : "b");
  SetCondition("m1998", "MaintenancePlanned", "True");
  world_.SetImage("app:2");
  Step();
  EXPECT_EQ(Images(), "a=1 b=2");
  EXPECT_EQ(MessageOf("a"), "a node condition holds the pool (node m1998: MaintenancePlanned)");
  std::size_t bytes = 0;
  const auto nodes = *world_.stores().nodes->store().List();
  for (const ObjectPtr& node : nodes) bytes += BytesOf(*node) + sizeof(MaintenanceProjection);
  EXPECT_EQ(nodes.size(), 1002U);
  EXPECT_LT(bytes / nodes.size(), 600U);
}

INSTANTIATE_TEST_SUITE_P(Kind, MaintenanceTest,
                         ::testing::Values(WorkloadKind::kDeployment, WorkloadKind::kStatefulSet));

// Caches of daemons and pools, and events of Nodes that the test sends.
class MaintenanceEventTest : public ::testing::Test {
 protected:
  MaintenanceEventTest() {
    std::vector<ObjectPtr> pools, daemons;
    for (const char* name : {"a", "b"}) {
      pools.push_back(AsWatched(PoolJson(name), kProjectedOfPools, ProjectPool));
      Json daemon = DaemonJson();
      daemon["metadata"]["name"] = std::string("only-") + name;
      daemon["spec"]["nodepoolSelector"] = Json::object();
      daemon["spec"]["nodePools"] = {{"exclude", {std::string(name) == "a" ? "b" : "a"}}};
      daemons.push_back(AsWatched(daemon, kProjectedOfDaemons, ProjectDaemon));
    }
    pools_.Replace(std::move(pools), "1");
    daemons_.Replace(std::move(daemons), "1");
  }
  std::vector<std::string> Daemons(const Json& before, const Json& after) {
    std::vector<std::string> names;
    for (const Request& daemon : DaemonsOfMaintenance(daemons_, pools_, {Watched(before), Watched(after)}))
      names.push_back(daemon.name);
    return names;
  }
  static ObjectPtr Watched(const Json& node) {
    if (node.is_null()) return nullptr;
    const ReflectorOptions options = WatchingMaintenance();
    const JsonDocument document = *JsonDocument::Parse(node.dump());
    return StoredObject::WithoutContent(
        StoredObject(ParseMeta(document), document.TreeOfObject(options.projected), document, options.project));
  }
  static Json In(const std::string& pool, const std::string& status = "True") {
    return NodeJson("n", pool, {ConditionJson("DrainInProgress", status)});
  }

  Store daemons_, pools_;
};

TEST_F(MaintenanceEventTest, BeginAndEndOfMaintenanceQueueOnlyTheDaemonsOfThePool) {
  EXPECT_THAT(Daemons(In("a", "False"), In("a")), ElementsAre("only-a"));
  EXPECT_THAT(Daemons(In("b"), In("b", "Unknown")), ElementsAre("only-b"));
  EXPECT_THAT(Daemons(nullptr, In("a")), ElementsAre("only-a"));
  EXPECT_THAT(Daemons(In("a"), nullptr), ElementsAre("only-a"));
  EXPECT_THAT(Daemons(In("a"), In("b")), ElementsAre("only-a", "only-b"));
  EXPECT_THAT(Daemons(In("a"), NodeJson("n", "a", {ConditionJson("MaintenanceInProgress", "True")})),
              ElementsAre("only-a"))
      << "the message changes";
}

TEST_F(MaintenanceEventTest, HeartbeatsAndOtherChangesQueueNoDaemon) {
  Json heartbeat = In("a");
  heartbeat["metadata"]["resourceVersion"] = "2";
  heartbeat["status"]["conditions"][0]["lastHeartbeatTime"] = "2026-01-02T03:04:05Z";
  heartbeat["status"]["conditions"][1]["lastHeartbeatTime"] = "2026-01-02T03:04:05Z";
  EXPECT_THAT(Daemons(In("a"), heartbeat), IsEmpty());
  EXPECT_THAT(Daemons(nullptr, NodeJson("n", "a")), IsEmpty()) << "the first list of healthy Nodes";
  EXPECT_THAT(Daemons(NodeJson("n", "a"), NodeJson("n", "b")), IsEmpty());
  EXPECT_THAT(Daemons(NodeJson("n", "a"), NodeJson("n", "a", {ConditionJson("MemoryPressure", "True")})), IsEmpty());
  EXPECT_THAT(Daemons(nullptr, In("elsewhere")), IsEmpty());
}

TEST_F(MaintenanceEventTest, MalformedConditionsHoldNoPool) {
  for (const Json& conditions : {Json("x"), Json(nullptr), Json::array({1, "x", Json::object()}),
                                 Json::array({{{"type", "DrainInProgress"}, {"status", true}}})}) {
    Json node = NodeJson("n", "a");
    node["status"]["conditions"] = conditions;
    EXPECT_EQ(MaintenanceConditionOf(node), nullptr) << conditions;
  }
  EXPECT_EQ(MaintenanceConditionOf(nullptr), nullptr);
}

}  // namespace
}  // namespace yad::testing
