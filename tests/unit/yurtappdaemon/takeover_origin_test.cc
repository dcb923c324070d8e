// Takeovers of workloads whose label, values or tolerations differ from the newest revision of OpenYurt. No pod may
// restart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/unit/yurtappdaemon/takeover_fixture.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> kPools = {"a", "b", "c"};

Json WithEnv(Json daemon, const char* name) {
  PodSpecOf(TemplateOf(daemon))["containers"][0]["env"].push_back({{"name", name}, {"value", "1"}});
  return daemon;
}
Json WithSidecar(Json daemon) {
  PodSpecOf(TemplateOf(daemon))["containers"].push_back({{"name", "side"}, {"image", "side:1"}});
  return daemon;
}
Json WithTolerations(Json daemon, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    PodSpecOf(TemplateOf(daemon))["tolerations"].push_back(
        {{"key", key}, {"operator", "Exists"}, {"effect", "NoSchedule"}});
  }
  return daemon;
}

class TakeoverOriginTest : public TakeoverTest {
 protected:
  void Strategy(const Json& strategy) {
    world_.EditDaemon([&](Json& d) { d["spec"]["updateStrategy"] = strategy; });
  }
  // Expects that the operator writes at most metadata of the workloads.
  void ExpectNoRestart() {
    const auto generations = [&] {
      std::map<std::string, Json> result;
      for (const Json& workload : world_.Workloads())
        result[workload["metadata"]["name"]] = workload["metadata"]["generation"];
      return result;
    };
    const auto before = generations();
    world_.Converge(20);
    world_.clock.Advance(std::chrono::minutes(5));
    ExpectAtRest();
    EXPECT_EQ(generations(), before);
  }
  std::string Label(const std::string& pool) {
    return StringAt(*world_.cluster.Get(kDeploymentType, {kNs, "web-" + pool + "-x7k2p"}),
                    {"metadata", "labels", kRevisionLabel});
  }
  void Taints(const std::string& pool, const std::vector<std::string>& keys) {
    world_.cluster.Edit(kNodePoolType, {"", pool},
                        [&](Json& object) { object["spec"]["taints"] = PoolJson(pool, keys)["spec"]["taints"]; });
  }
  static Json ManagerOfTemplate(const std::string& manager) {
    const Json label = {{std::string("f:") + kRevisionLabel, Json::object()}};
    return {{"manager", manager},
            {"operation", "Update"},
            {"fieldsV1", {{"f:metadata", {{"f:labels", label}}}, {"f:spec", {{"f:template", Json::object()}}}}}};
  }
  // Changes the image of all workloads as a webhook did when OpenYurt wrote them.
  void MirrorImages(const std::vector<std::string>& managers) {
    for (const std::string& pool : kPools) {
      EditOpenYurts(pool, [&](Json& w) {
        for (const std::string& manager : managers)
          w["metadata"]["managedFields"].push_back(ManagerOfTemplate(manager));
        PodSpecOf(w)["containers"][0]["image"] = "mirror/app:2";
      });
    }
    world_.RunWorkloadControllers();
    // The operator's first write makes it a manager of the label.
    world_.cluster.SetMutation([](const ResourceType& type, const Json&, Json& object) {
      if (type.resource != "deployments") return;
      Json ours = ManagerOfTemplate("yurtappdaemon-operator");
      ours["fieldsV1"].erase("f:spec");
      object["metadata"]["managedFields"].push_back(ours);
    });
  }
};

const Json& Rolling() {
  static const Json& strategy = *new Json(
      R"({"type": "RollingUpdate", "rollingUpdate": {"progressDeadlineSeconds": 30, "onFailure": "Rollback"}})"_json);
  return strategy;
}
const std::vector<Json>& Strategies() {
  static const auto& all = *new std::vector<Json>{{{"type", "All"}}, {{"type", "OnDelete"}}, Rolling()};
  return all;
}

// ---- a label that refers to the first revision ----

TEST_F(TakeoverOriginTest, EditBeforeTheFirstReconcileWaitsAsTheStrategyRequires) {
  for (const auto& [strategy, paused] : std::vector<std::pair<Json, bool>>{
           {Rolling(), false}, {{{"type", "OnDelete"}}, false}, {{{"type", "All"}}, true}}) {
    SCOPED_TRACE(strategy.dump());
    std::destroy_at(&world_);
    std::construct_at(&world_);
    LeftByOpenYurt(kPools, {DaemonJson("app:1"), DaemonJson("app:2")}, 1);
    const auto templates = Templates(kPools);
    Strategy(strategy);
    world_.EditDaemon([paused = paused](Json& d) { d["spec"]["paused"] = paused; });
    world_.SetImage("app:3");
    world_.Reconcile();
    world_.Reconcile();
    EXPECT_EQ(Label("b"), "web-5c69b69bd2");
    EXPECT_EQ(world_.Status()["currentRevision"], "web-5c69b69bd2");
    const bool rolling = strategy["type"] == "RollingUpdate";
    EXPECT_EQ(Template("a")["spec"]["containers"][0]["image"], rolling ? "app:3" : "app:2");
    for (const char* const pool : {"b", "c"}) EXPECT_EQ(Template(pool), templates.at(pool));
  }
}

TEST_F(TakeoverOriginTest, EditBeforeTheFirstReconcileRemovesASidecarOfTheNewestRevision) {
  LeftByOpenYurt(kPools, {DaemonJson("app:1"), WithSidecar(DaemonJson("app:2"))}, 1);
  Apply(DaemonJson("app:3"));
  ExpectAtRest();
  EXPECT_EQ(Template("a")["spec"]["containers"].size(), 1U);
  EXPECT_EQ(Template("a")["spec"]["containers"][0]["image"], "app:3");
}

TEST_F(TakeoverOriginTest, NewestRevisionMayHaveFewerOrMoreValuesThanTheNamedOne) {
  const Json plain = DaemonJson("app:2");
  for (const auto& specs : {std::vector{WithEnv(plain, "A"), plain},
                            {plain, WithEnv(plain, "A")},
                            {WithSidecar(plain), plain},
                            {plain, WithSidecar(plain)},
                            {plain, WithEnv(plain, "A"), WithTolerations(WithEnv(plain, "A"), {"x"})}}) {
    for (const Json& strategy : Strategies()) {
      SCOPED_TRACE(strategy.dump() + specs.back().dump());
      std::destroy_at(&world_);
      std::construct_at(&world_);
      LeftByOpenYurt(kPools, specs, 1, {"t"});
      Strategy(strategy);
      ExpectNoRestart();
      EXPECT_EQ(world_.Status()["currentRevision"], "web-5c69b69bd" + std::to_string(specs.size()));
    }
  }
}

TEST_F(TakeoverOriginTest, RollbackReturnsToTheNewestRevisionOfOpenYurt) {
  LeftByOpenYurt(kPools, {DaemonJson("app:1"), DaemonJson("app:2")}, 1);
  Strategy(Rolling());
  const auto break_b = [](Json& w) { w["status"]["availableReplicas"] = 0; };
  EditOpenYurts("b", break_b);
  world_.SetImage("app:3");
  world_.Wait(std::chrono::seconds(200));
  for (const std::string& pool : kPools) EXPECT_EQ(Template(pool)["spec"]["containers"][0]["image"], "app:2") << pool;
}

// ---- values that an admission webhook changed ----

TEST_F(TakeoverOriginTest, ValuesThatAWebhookReplacedForOpenYurtStay) {
  for (const int label : {1, 2}) {
    for (const Json& strategy : Strategies()) {
      SCOPED_TRACE(strategy.dump() + std::to_string(label));
      std::destroy_at(&world_);
      std::construct_at(&world_);
      LeftByOpenYurt(kPools, {DaemonJson("app:1"), WithEnv(DaemonJson("app:2"), "A")}, label);
      MirrorImages({"yurt-manager"});
      Strategy(strategy);
      ExpectNoRestart();
      EXPECT_EQ(Label("c"), "web-5c69b69bd2");
      EXPECT_EQ(Template("c")["spec"]["containers"][0]["image"], "mirror/app:2");
    }
  }
}

TEST_F(TakeoverOriginTest, ValuesThatAUserReplacedAreRestored) {
  LeftByOpenYurt(kPools, {DaemonJson("app:1"), DaemonJson("app:2")}, 2);
  MirrorImages({"yurt-manager", "kubectl-edit"});
  ExpectAtRest();
  EXPECT_EQ(Template("c")["spec"]["containers"][0]["image"], "app:2");
}

TEST_F(TakeoverOriginTest, UndoToARevisionOfOpenYurtWaitsWhileItIsPaused) {
  for (const bool has_env : {true, false}) {
    std::destroy_at(&world_);
    std::construct_at(&world_);
    const Json first = has_env ? WithEnv(DaemonJson("app:1"), "A") : DaemonJson("app:1");
    LeftByOpenYurt(kPools, {first, DaemonJson("app:2")}, 2);
    MirrorImages({"yurt-manager"});
    Strategy(Rolling());
    world_.Converge(20);
    const auto templates = Templates(kPools);
    world_.EditDaemon([&](Json& d) {
      d["spec"]["paused"] = true;
      d["spec"]["workloadTemplate"] = first["spec"]["workloadTemplate"];
    });
    world_.Restart();
    world_.Converge(20);
    EXPECT_EQ(Templates(kPools), templates) << has_env;
    for (const std::string& pool : kPools) EXPECT_EQ(Label(pool), "web-5c69b69bd2") << has_env;
  }
}

// ---- an undo after the stop of OpenYurt and before the first reconcile, with values that a webhook changed ----

class EarlyUndoTest : public TakeoverOriginTest {
 protected:
  static constexpr char kFirst[] = "web-5c69b69bd1";
  static constexpr char kSecond[] = "web-5c69b69bd2";

  // All workloads have the content of OpenYurt's second revision, and the spec has the content of the first revision.
  void MergeChanges(const Json& first, int label, const Json& strategy, bool paused) {
    std::destroy_at(&world_);
    std::construct_at(&world_);
    LeftByOpenYurt(kPools, {first, DaemonJson("app:2")}, label);
    MirrorImages({"yurt-manager"});
    Strategy(strategy);
    world_.EditDaemon([&](Json& d) { d["spec"]["paused"] = paused; });
    Apply(first);
  }
  // From now on, the server drops status fields that OpenYurt's CRD lacks.
  void DropStatusFields() {
    world_.cluster.SetAfterwards([this](const WriteRecord& write) {
      if (write.subresource != "status") return;
      world_.EditDaemon([](Json& d) {
        for (const char* field : {"updateRevision", "pools"}) d["status"].erase(field);
      });
    });
  }
  // The process exits after its write number `last`. The response to this write is lost.
  void ReconcileUntilWrite(int last) {
    std::atomic<int> writes = 0;
    world_.cluster.SetFaults([&](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
      if (request.method == "GET") return std::nullopt;
      const int number = ++writes;
      if (number < last) return std::nullopt;
      return FakeCluster::Fault{StatusResponse(503, "ServiceUnavailable", "killed"), number == last};
    });
    (void)world_.Reconcile();
    world_.cluster.SetFaults(nullptr);
    world_.Restart();
  }
  // Expects that neither this process nor the next process writes a workload.
  void ExpectNoWriteOfWorkloads() {
    for (int i = 0; i < 2; ++i) {
      world_.cluster.ClearWrites();
      const auto result = world_.Reconcile();
      ASSERT_TRUE(result);
      EXPECT_NE(result->next, ReconcileResult::Next::kNow);
      for (const std::string& write : world_.Writes()) EXPECT_THAT(write, ::testing::Not(HasSubstr("deployments")));
      world_.Restart();
    }
  }
  std::vector<std::string> Images() {
    std::vector<std::string> images;
    for (const std::string& pool : kPools) images.push_back(Template(pool)["spec"]["containers"][0]["image"]);
    return images;
  }
};

TEST_F(EarlyUndoTest, WaitsWhileItIsPausedOrOnDelete) {
  for (const Json& strategy : Strategies()) {
    const bool on_delete = strategy["type"] == "OnDelete";
    const Json first = on_delete ? DaemonJson("app:1") : WithEnv(DaemonJson("app:1"), "A");
    for (const int label : {1, 2}) {
      for (const std::string status : {"whole", "pruned", "empty"}) {
        SCOPED_TRACE(strategy.dump() + std::to_string(label) + status);
        MergeChanges(first, label, strategy, !on_delete);
        if (status == "pruned") DropStatusFields();
        if (status == "empty") world_.EditDaemon([](Json& d) { d.erase("status"); });
        const auto templates = Templates(kPools);
        world_.Converge(3);
        ExpectNoWriteOfWorkloads();
        EXPECT_EQ(Templates(kPools), templates);
        for (const std::string& pool : kPools) EXPECT_EQ(Label(pool), kSecond);
        EXPECT_EQ((*world_.cluster.Get(kControllerRevisionType, {kNs, kFirst}))["revision"], 3);
      }
    }
  }
}

// The writes of the first reconcile are: the labels of two revisions, the number, the wrong labels of three workloads,
// and status.
TEST_F(EarlyUndoTest, WaitsWhileItIsPausedAfterACrash) {
  for (const auto& [label, writes] : {std::pair(1, 7), std::pair(2, 4)}) {
    for (int crash = 1; crash <= writes; ++crash) {
      SCOPED_TRACE(std::to_string(crash) + ", " + std::to_string(label));
      MergeChanges(WithEnv(DaemonJson("app:1"), "A"), label, Rolling(), true);
      DropStatusFields();
      const auto templates = Templates(kPools);
      ReconcileUntilWrite(crash);
      world_.Converge(3);
      ExpectNoWriteOfWorkloads();
      EXPECT_EQ(Templates(kPools), templates);
      for (const std::string& pool : kPools) EXPECT_EQ(Label(pool), kSecond);
    }
  }
}

TEST_F(EarlyUndoTest, IsRolledOutAsTheStrategyRequires) {
  for (const int label : {1, 2}) {
    for (const bool rolling : {false, true}) {
      SCOPED_TRACE(std::to_string(label) + (rolling ? ", rolling" : ""));
      MergeChanges(DaemonJson("app:1"), label, rolling ? Rolling() : Json{{"type", "All"}}, false);
      if (label == 1) DropStatusFields();
      for (int i = 0; i < 4; ++i) (void)world_.Reconcile();
      if (rolling) EXPECT_THAT(Images(), ElementsAre("app:1", "mirror/app:2", "mirror/app:2"));
      world_.Converge(12);
      EXPECT_THAT(Images(), ElementsAre("app:1", "app:1", "app:1"));
      ExpectNoWriteOfWorkloads();
    }
  }
}

// The label then refers to the first revision, as the label of OpenYurt's webhook does.
TEST_F(EarlyUndoTest, WithoutAnotherPodTemplateIsWrittenOnce) {
  Json first = DaemonJson("app:2");
  TemplateOf(first)["spec"]["minReadySeconds"] = 5;
  for (const int label : {1, 2}) {
    for (const bool rolling : {false, true}) {
      SCOPED_TRACE(std::to_string(label) + (rolling ? ", rolling" : ""));
      MergeChanges(first, label, rolling ? Rolling() : Json{{"type", "All"}}, false);
      const auto templates = Templates(kPools);
      world_.Converge(20);
      ExpectNoWriteOfWorkloads();
      EXPECT_EQ(Templates(kPools), templates);
      for (const std::string& pool : kPools) EXPECT_EQ(Label(pool), kFirst);
      for (const Json& workload : world_.Workloads()) EXPECT_EQ(workload["spec"]["minReadySeconds"], 5);
      EXPECT_EQ(world_.Status()["currentRevision"], kFirst);
      EXPECT_EQ(world_.Status()["updatedPools"], 3);
    }
  }
}

TEST_F(EarlyUndoTest, RevisionKeepsTheNumberThatOpenYurtGaveIt) {
  MergeChanges(DaemonJson("app:1"), 2, {{"type", "OnDelete"}}, false);
  for (const auto& [image, number] :
       std::vector<std::pair<std::string, int>>{{"app:1", 3}, {"app:4", 3}, {"app:1", 5}}) {
    world_.SetImage(image);
    world_.Converge();
    const Json revision = *world_.cluster.Get(kControllerRevisionType, {kNs, kFirst});
    EXPECT_EQ(revision["revision"], number);
    EXPECT_EQ(StringAt(revision, {"metadata", "annotations", kOpenYurtNumberAnnotation}), "1");
  }
}

// An earlier version of the operator raised the number of the first revision, and did not store OpenYurt's number.
TEST_F(EarlyUndoTest, NumberThatAnEarlierVersionRaisedIsNotOpenYurts) {
  const Json first = WithEnv(DaemonJson("app:1"), "A");
  LeftByOpenYurt(kPools, {first, DaemonJson("app:2")}, 2);
  MirrorImages({"yurt-manager"});
  Strategy(Rolling());
  world_.Converge(20);
  world_.EditDaemon([](Json& d) { d["spec"]["paused"] = true; });
  Apply(first);
  world_.Converge(5);
  world_.cluster.Edit(kControllerRevisionType, {kNs, kFirst},
                      [](Json& r) { r["metadata"]["annotations"].erase(kOpenYurtNumberAnnotation); });
  world_.Restart();
  for (const Json& daemon : {DaemonJson("app:4"), first}) {
    Apply(daemon);
    world_.Converge(5);
  }
  const Json revision = *world_.cluster.Get(kControllerRevisionType, {kNs, kFirst});
  EXPECT_EQ(revision["revision"], 5);
  EXPECT_EQ(StringAt(revision, {"metadata", "annotations", kOpenYurtNumberAnnotation}), "");
  for (const std::string& pool : kPools) EXPECT_EQ(Label(pool), kSecond);
}

// OpenYurt itself raised the number of the first revision by an undo, before it wrote the third revision.
TEST_F(EarlyUndoTest, ToARevisionWhoseNumberOpenYurtRaisedWaitsWhileItIsPaused) {
  const Json first = WithEnv(DaemonJson("app:1"), "A");
  LeftByOpenYurt(kPools, {first, DaemonJson("app:2"), DaemonJson("app:3")}, 3);
  const std::string third = Label("a");
  world_.cluster.Edit(kControllerRevisionType, {kNs, kFirst}, [](Json& r) { r["revision"] = 3; });
  world_.cluster.Edit(kControllerRevisionType, {kNs, third}, [](Json& r) { r["revision"] = 4; });
  MirrorImages({"yurt-manager"});
  Strategy(Rolling());
  world_.EditDaemon([](Json& d) { d["spec"]["paused"] = true; });
  Apply(first);
  const auto templates = Templates(kPools);
  world_.Converge(3);
  ExpectNoWriteOfWorkloads();
  EXPECT_EQ(Templates(kPools), templates);
  const Json revision = *world_.cluster.Get(kControllerRevisionType, {kNs, kFirst});
  EXPECT_EQ(revision["revision"], 5);
  EXPECT_EQ(StringAt(revision, {"metadata", "annotations", kOpenYurtNumberAnnotation}), "3");
}

// The labels of the workloads differ before the takeover, and the spec has another revision.
TEST_F(EarlyUndoTest, WithoutACurrentRevisionWaitsWhileItIsPaused) {
  const Json first = WithEnv(DaemonJson("app:1"), "A");
  LeftByOpenYurt(kPools, {first, DaemonJson("app:2"), DaemonJson("app:3")}, 3);
  EditOpenYurts("a", [](Json& w) {
    w["metadata"]["labels"][kRevisionLabel] = w["spec"]["template"]["metadata"]["labels"][kRevisionLabel] = kSecond;
  });
  MirrorImages({"yurt-manager"});
  Strategy(Rolling());
  world_.EditDaemon([](Json& d) { d["spec"]["paused"] = true; });
  const auto templates = Templates(kPools);
  for (const Json& daemon : {DaemonJson("app:4"), first}) {
    Apply(daemon);
    world_.Restart();
    world_.Converge(5);
    EXPECT_EQ(world_.Status()["currentRevision"], "");
    EXPECT_EQ(Templates(kPools), templates);
    for (const std::string& pool : kPools) EXPECT_EQ(Label(pool), "web-5c69b69bd3");
  }
}

// ---- values of a YurtAppOverrider ----

TEST_F(TakeoverOriginTest, OverridesThatEqualTheLiveValuesRestartNoPod) {
  const Json overrides =
      R"([{"pools": ["b"], "images": [{"name": "main", "image": "app:b"}], "replicas": 3},
          {"pools": ["c"], "patch": {"spec": {"template": {"spec": {"containers": [{"name": "main", "env": [{"name": "SITE", "value": "c"}]}]}}}}}])"_json;
  for (const Json& strategy : Strategies()) {
    for (const int label : {1, 2}) {
      SCOPED_TRACE(strategy.dump() + std::to_string(label));
      std::destroy_at(&world_);
      std::construct_at(&world_);
      LeftByOpenYurt(kPools, {DaemonJson("app:1"), DaemonJson("app:2")}, label);
      EditOpenYurts("b", [](Json& w) {
        PodSpecOf(w)["containers"][0]["image"] = "app:b";
        w["spec"]["replicas"] = 3;
      });
      EditOpenYurts("c", [](Json& w) { PodSpecOf(w)["containers"][0]["env"] = {{{"name", "SITE"}, {"value", "c"}}}; });
      world_.RunWorkloadControllers();
      Strategy(strategy);
      world_.EditDaemon([&](Json& d) { d["spec"]["overrides"] = overrides; });
      ExpectNoRestart();
    }
  }
}

// ---- tolerations ----

TEST_F(TakeoverOriginTest, PoolsWhoseTaintsAreReorderedRemovedOrToleratedKeepTheirPods) {
  const std::vector<std::vector<std::string>> taints = {{"y", "x"}, {"x"}, {}, {"x", "own"}};
  for (const Json& strategy : Strategies()) {
    for (const auto& now : taints) {
      SCOPED_TRACE(strategy.dump() + std::to_string(now.size()));
      std::destroy_at(&world_);
      std::construct_at(&world_);
      const Json daemon = WithTolerations(DaemonJson("app:2"), {"own"});
      LeftByOpenYurt(kPools, daemon, {"x", "y"});
      for (const std::string& pool : kPools) Taints(pool, now);
      Strategy(strategy);
      ExpectNoRestart();
      // An edit that does not change a pod template.
      const auto templates = Templates(kPools);
      world_.EditDaemon([](Json& d) { TemplateOf(d)["spec"]["minReadySeconds"] = 5; });
      if (strategy["type"] == "All") ExpectAtRest();
      EXPECT_EQ(Templates(kPools), templates);
    }
  }
}

TEST_F(TakeoverOriginTest, NewTaintIsToleratedBesideTheRecordedOnes) {
  LeftByOpenYurt(kPools, DaemonJson("app:2"), {"x"});
  Taints("a", {"x", "new"});
  ExpectAtRest();
  EXPECT_EQ(Template("a")["spec"]["tolerations"].size(), 2U);
  EXPECT_EQ(Template("b")["spec"]["tolerations"].size(), 1U);
}

// ---- workloads of OpenYurt 1.4 ----

TEST_F(TakeoverOriginTest, WorkloadWhoseSelectorNamesNoPoolIsReportedAndNotWritten) {
  LeftByOpenYurt({"a", "b"});
  EditOpenYurts("a", [](Json& w) {
    w["spec"]["selector"]["matchLabels"].erase(kPoolNameLabel);
    w["spec"]["template"]["metadata"]["labels"].erase(kPoolNameLabel);
  });
  for (int i = 0; i < 3; ++i) {
    static_cast<void>(world_.Reconcile());
    world_.clock.Advance(std::chrono::minutes(1));
  }
  for (const std::string& write : world_.Writes()) EXPECT_THAT(write, ::testing::Not(HasSubstr("web-a"))) << write;
  const Json pool = PoolStatus(world_.Status(), "a");
  EXPECT_EQ(pool["reason"], "Invalid");
  EXPECT_THAT(StringAt(pool, {"message"}), HasSubstr("web-a-x7k2p has no label apps.openyurt.io/pool-name"));
  EXPECT_THAT(StringAt(pool, {"message"}), HasSubstr("delete the workload"));

  world_.cluster.Delete(kDeploymentType, {kNs, "web-a-x7k2p"});
  world_.clock.Advance(std::chrono::minutes(10));
  world_.Converge();
  EXPECT_EQ(ImageOf(world_.Workload("a")), "app:2");
}

}  // namespace
}  // namespace yad::testing
