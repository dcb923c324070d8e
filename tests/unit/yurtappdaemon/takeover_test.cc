// Objects that OpenYurt, or an earlier daemon of the same name, has left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/yurtappdaemon/takeover_fixture.h"

namespace yad::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST_F(TakeoverTest, RestartsNoPodWhenTheUnchangedManifestIsAppliedAgain) {
  LeftByOpenYurt({"a", "b"}, Defaulted(), {"t"});
  ExpectAtRest();
  Apply(Manifest());
  ExpectAtRest();
  for (const Json& workload : world_.Workloads()) EXPECT_EQ(workload["metadata"]["generation"], 1);
  EXPECT_EQ(world_.Status()["updateRevision"], "web-5c69b69bd2");
  EXPECT_THAT(world_.Revisions(), SizeIs(2));
}

TEST_F(TakeoverTest, KeepsThePodTemplateIfTheNextRevisionDoesNotChangeIt) {
  const std::vector<std::string> pools = {"a", "b"};
  LeftByOpenYurt(pools, Defaulted(), {"t"});
  ExpectAtRest();
  Apply(Manifest());
  ExpectAtRest();
  const auto templates = Templates(pools);

  world_.EditDaemon([](Json& d) { d["spec"]["overrides"] = R"([{"pools": ["b"], "replicas": 3}])"_json; });
  ExpectAtRest();
  EXPECT_NE(world_.Status()["updateRevision"], "web-5c69b69bd2");
  EXPECT_EQ(Templates(pools), templates);
  EXPECT_EQ((*world_.cluster.Get(kDeploymentType, {kNs, "web-a-x7k2p"}))["metadata"]["generation"], 1);
  EXPECT_EQ((*world_.cluster.Get(kDeploymentType, {kNs, "web-b-x7k2p"}))["spec"]["replicas"], 3);

  // minReadySeconds is a field of the Deployment, not of its pods.
  world_.EditDaemon([](Json& d) { TemplateOf(d)["spec"]["minReadySeconds"] = 5; });
  ExpectAtRest();
  EXPECT_EQ(Templates(pools), templates);
  for (const Json& workload : world_.Workloads()) EXPECT_EQ(workload["spec"]["minReadySeconds"], 5);

  // Drift is repaired by the rules that rendered the workload.
  for (const std::string& pool : pools) {
    EditOpenYurts(pool, [](Json& w) {
      w["spec"]["replicas"] = 7;
      w["spec"]["minReadySeconds"] = 1;
      PodSpecOf(w)["containers"][0]["image"] = "evil:1";
    });
  }
  ExpectAtRest();
  EXPECT_EQ(Templates(pools), templates);
  EXPECT_EQ((*world_.cluster.Get(kDeploymentType, {kNs, "web-b-x7k2p"}))["spec"]["replicas"], 3);

  world_.EditDaemon([](Json& d) { d["spec"].erase("overrides"); });
  ExpectAtRest();
  EXPECT_EQ(Templates(pools), templates);
  EXPECT_EQ((*world_.cluster.Get(kDeploymentType, {kNs, "web-b-x7k2p"}))["spec"]["replicas"], 1);

  // A user reverts to OpenYurt's revision, and then sets another image.
  Apply(Defaulted());
  ExpectAtRest();
  EXPECT_EQ(Templates(pools), templates);
  EXPECT_EQ(world_.Status()["updateRevision"], "web-5c69b69bd2");
  world_.SetImage("app:3");
  ExpectAtRest();
  for (const std::string& pool : pools) {
    const Json now = Template(pool);
    EXPECT_FALSE(now["metadata"]["labels"].contains(kRevisionLabel))
        << "the update restarts the pods, so it may remove OpenYurt's label";
    EXPECT_EQ(now["spec"]["containers"][0]["image"], "app:3");
  }
}

TEST_F(TakeoverTest, UpdatesThePullPolicyOfAnOpenYurtWorkloadWithTheNextPodTemplate) {
  LeftByOpenYurt({"a"}, Defaulted());
  ExpectAtRest();
  Json next = Manifest();
  PodSpecOf(TemplateOf(next))["containers"][0]["image"] = "app:3";
  Apply(next);
  ExpectAtRest();
  EXPECT_EQ(Template("a")["spec"]["containers"][0]["imagePullPolicy"], "IfNotPresent");
  PodSpecOf(TemplateOf(next))["containers"][0]["imagePullPolicy"] = "Never";
  Apply(next);
  ExpectAtRest();
  EXPECT_EQ(Template("a")["spec"]["containers"][0]["imagePullPolicy"], "Never");
}

TEST_F(TakeoverTest, RollingUpdateDoesNotUpdateAPoolWithAnUnchangedRendering) {
  LeftByOpenYurt({"a", "b", "c"}, Defaulted(), {"t"});
  world_.EditDaemon([](Json& d) {
    d["spec"]["updateStrategy"] = R"({"type": "RollingUpdate", "rollingUpdate": {"minReadySeconds": 60}})"_json;
  });
  world_.Converge();
  world_.clock.Advance(std::chrono::minutes(5));
  ExpectAtRest();
  const auto templates = Templates({"a", "b"});
  Apply(Manifest());
  ExpectAtRest();
  world_.EditDaemon([](Json& d) {
    d["spec"]["overrides"] = R"([{"pools": ["c"], "images": [{"name": "main", "image": "app:canary"}]}])"_json;
  });
  world_.Converge(20);
  for (int i = 0; i < 3; ++i) {
    world_.clock.Advance(std::chrono::minutes(1));
    world_.Converge(20);
  }
  ExpectAtRest();
  EXPECT_EQ(Templates({"a", "b"}), templates);
  EXPECT_EQ(Template("c")["spec"]["containers"][0]["image"], "app:canary");
  EXPECT_EQ(world_.Status()["updatedPools"], 3);
}

TEST_F(TakeoverTest, RestoresTheRevisionLabelFromTheWorkloadsRendering) {
  LeftByOpenYurt({"a"}, Defaulted());
  ExpectAtRest();
  const Json before = Template("a");
  EditOpenYurts("a", [](Json& w) { w["metadata"]["labels"][kRevisionLabel] = "nonsense"; });
  ExpectAtRest();
  const Json now = *world_.cluster.Get(kDeploymentType, {kNs, "web-a-x7k2p"});
  EXPECT_EQ(now["metadata"]["labels"][kRevisionLabel], "web-5c69b69bd2");
  EXPECT_EQ(now["spec"]["template"], before);
}

TEST_F(TakeoverTest, TakeoverLabelsTheRevisionsAndWritesNoWorkload) {
  LeftByOpenYurt({"a", "b"});
  world_.Converge();
  for (const Json& workload : world_.Workloads()) EXPECT_EQ(workload["metadata"]["generation"], 1);
  EXPECT_THAT(world_.Workloads(), SizeIs(2));
  ASSERT_THAT(world_.Revisions(), SizeIs(2));
  for (const Json& revision : world_.Revisions()) EXPECT_EQ(revision["metadata"]["labels"][kOurRevisionLabel], "true");
  EXPECT_EQ(world_.Status()["currentRevision"], "web-5c69b69bd2");
  EXPECT_EQ(world_.Status()["updateRevision"], "web-5c69b69bd2");
  EXPECT_EQ(world_.Status()["updatedPools"], 2);
  EXPECT_EQ(PoolStatus(world_.Status(), "a")["workload"], "web-a-x7k2p");
  EXPECT_EQ(world_.Status()["conditions"][0]["lastTransitionTime"], "2025-01-01T00:00:00Z");
}

TEST_F(TakeoverTest, DuplicateTolerationOfOpenYurtRestartsNoPod) {
  Json daemon = DaemonJson("app:2");
  PodSpecOf(TemplateOf(daemon))["tolerations"] =
      R"([{"key": "t", "operator": "Exists", "effect": "NoSchedule"}, {"key": "own", "operator": "Exists"}])"_json;
  LeftByOpenYurt({"a"}, daemon, {"t"});
  ASSERT_THAT(PodSpecOf(world_.Workloads()[0])["tolerations"], SizeIs(3));
  world_.Converge();
  EXPECT_EQ(world_.Workloads()[0]["metadata"]["generation"], 1);
  EXPECT_EQ(world_.Status()["updatedPools"], 1);
}

TEST_F(TakeoverTest, NewPoolOfAPausedDaemonGetsTheRevisionOfTheOthers) {
  LeftByOpenYurt({"a", "b"});
  world_.EditDaemon([](Json& d) { d["spec"]["paused"] = true; });
  world_.SetImage("app:3");
  world_.AddPool("c");
  world_.Converge();
  EXPECT_EQ(ImageOf(world_.Workload("c")), "app:2");
  EXPECT_EQ(world_.Status()["currentRevision"], "web-5c69b69bd2");
}

TEST_F(TakeoverTest, CurrentRevisionIsEmptyIfWorkloadsHaveSeveralRevisions) {
  LeftByOpenYurt({"a", "b"});
  world_.cluster.Edit(kDeploymentType, {kNs, "web-a-x7k2p"}, [](Json& w) {
    w["metadata"]["labels"][kRevisionLabel] = w["spec"]["template"]["metadata"]["labels"][kRevisionLabel] =
        "web-5c69b69bd1";
    PodSpecOf(w)["containers"][0]["image"] = "app:1";
  });
  world_.EditDaemon([](Json& d) { d["spec"]["paused"] = true; });
  world_.Reconcile();
  EXPECT_EQ(world_.Status()["currentRevision"], "");
}

TEST_F(TakeoverTest, RemovesTheUnavailableOneOfTwoWorkloadsForAPool) {
  LeftByOpenYurt({"a"});
  Json second = world_.Workloads()[0];
  second["metadata"]["name"] = "web-a-zzzzz";
  second["status"]["availableReplicas"] = 0;
  world_.cluster.Create(kDeploymentType, second);
  // The remaining workload does not count as a duplicate, even if the caches still show the removed workload.
  world_.Reconcile();
  EXPECT_THAT(world_.events.TakeReasons(), Contains("DuplicateRemoved"));
  ASSERT_THAT(world_.Workloads(), SizeIs(1));
  EXPECT_EQ(world_.Workloads()[0]["metadata"]["name"], "web-a-x7k2p");
}

TEST_F(TakeoverTest, AdoptedOrphanLosesFieldsThatTheNewTemplateOmits) {
  Json daemon = DaemonJson();
  PodSpecOf(TemplateOf(daemon))["containers"].push_back({{"name", "second"}, {"image", "second:1"}});
  Deployed({"a"}, daemon);
  world_.DeleteOrphaning();
  world_.CreateDaemon(DaemonJson("app:2"));
  EXPECT_LE(world_.Converge(), 8);
  ASSERT_THAT(world_.Workloads(), SizeIs(1));
  EXPECT_EQ(ImageOf(world_.Workloads()[0]), "app:2");
  EXPECT_THAT(PodSpecOf(world_.Workloads()[0])["containers"], SizeIs(1));
}

// The cache of ControllerRevisions lags. If the earlier revision is unknown, the update does not remove fields.
TEST_F(TakeoverTest, AdoptedOrphanLosesFieldsAlthoughTheCacheLacksItsRevision) {
  for (const bool still_owned : {false, true}) {
    for (const char* image : {"app:1", "app:2"}) {  // app:1: the new template only removes a container
      SCOPED_TRACE(std::string(image) + (still_owned ? ", still owned" : ", missing"));
      World world;
      world.AddPools({"a", "b"});
      Json earlier = DaemonJson();
      PodSpecOf(TemplateOf(earlier))["containers"].push_back({{"name", "second"}, {"image", "second:1"}});
      world.CreateDaemon(earlier);
      ASSERT_LE(world.Converge(), 10);
      const std::string then = world.cluster.resource_version();
      std::vector<ObjectPtr> late;
      for (const Json& revision : world.Revisions()) {
        if (still_owned) late.push_back(std::make_shared<StoredObject>(revision, ProjectRevision));
      }
      world.DeleteOrphaning();
      world.CreateDaemon(DaemonJson(image));
      world.Restart();
      world.stores().revisions.Replace(late, then);
      world.revisions_readable = false;
      EXPECT_FALSE(world.Reconcile()) << "the next reconcile adopts the revision that this reconcile has found";
      EXPECT_TRUE(world.Reconcile());
      world.revisions_readable = true;
      EXPECT_LE(world.Converge(), 8);
      ASSERT_THAT(world.Workloads(), SizeIs(2));
      for (const Json& workload : world.Workloads()) {
        EXPECT_EQ(ImageOf(workload), image);
        EXPECT_THAT(workload["spec"]["template"]["spec"]["containers"], SizeIs(1));
      }
      EXPECT_THAT(world.Revisions(), SizeIs(2));
    }
  }
}

// An adoption with another template restarts pods, as an update does.
TEST_F(TakeoverTest, FreezeStopsTheRemainingAdoptionsThatUpdate) {
  world_.parallel_writes = 1;
  world_.watches_freeze = true;
  world_.Restart();
  Deployed({"a", "b"});
  world_.DeleteOrphaning();
  world_.CreateDaemon(DaemonJson("app:2"));
  world_.cluster.SetAfterwards([this](const WriteRecord& request) {
    if (request.method != "PUT" || request.resource != kDeploymentType.resource) return;
    world_.cluster.SetAfterwards(nullptr);
    world_.cluster.Create(kConfigMapType, {{"metadata", {{"namespace", kFreezeNs}, {"name", kFreezeName}}}});
    world_.SyncAllButDeployments();
  });
  EXPECT_FALSE(world_.Reconcile()) << "the freeze began during the adoptions";
  std::vector<std::string> images;
  for (const Json& workload : world_.Workloads()) images.push_back(ImageOf(workload));
  EXPECT_THAT(images, ElementsAre("app:2", "app:1"));
  world_.Converge();
  for (const Json& workload : world_.Workloads()) {
    EXPECT_EQ(workload["metadata"]["ownerReferences"][0]["uid"], world_.uid);
  }
  EXPECT_EQ(ImageOf(world_.Workloads()[1]), "app:1") << "the workload is adopted unchanged";
}

// The cache of a new leader does not show yet that the earlier leader has updated pool b.
TEST_F(TakeoverTest, WorkloadsAreReadBeforeTheFirstAdoptionThatUpdates) {
  Deployed({"a", "b"});
  world_.DeleteOrphaning();
  const std::string then = world_.cluster.resource_version();
  std::vector<ObjectPtr> late;
  for (const Json& workload : world_.Workloads()) {
    late.push_back(std::make_shared<StoredObject>(workload, ProjectDeployment));
  }
  Json daemon = DaemonJson("app:2");
  daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}};
  world_.CreateDaemon(daemon);
  const auto hold = [&](const std::string& pool, bool held) {
    world_.cluster.Edit(kNodePoolType, {"", pool}, [&](Json& object) {
      object["metadata"]["annotations"] = Json::object();
      if (held) object["metadata"]["annotations"][kHoldAnnotation] = "yes";
    });
  };
  hold("a", true);
  for (int i = 0; i < 3; ++i) static_cast<void>(world_.Reconcile());
  ASSERT_EQ(ImageOf(world_.Workloads()[1]), "app:2");
  hold("a", false);
  world_.Restart();
  world_.stores().deployments.Replace(late, then);
  world_.SyncAllButDeployments();
  for (int i = 0; i < 3; ++i) static_cast<void>(world_.ReconcileWithOldCaches());
  EXPECT_EQ(ImageOf(world_.Workloads()[0]), "app:1") << "pool b has the only slot";
}

TEST_F(TakeoverTest, OrphansOfAnEarlierDaemonAreAdoptedWithoutARestart) {
  Deployed({"a", "b"});
  world_.DeleteOrphaning();
  world_.CreateDaemon();
  EXPECT_LE(world_.Converge(), 5);
  EXPECT_THAT(world_.Workloads(), SizeIs(2));
  for (const Json& workload : world_.Workloads()) {
    EXPECT_EQ(workload["metadata"]["generation"], 1);
    EXPECT_EQ(workload["metadata"]["ownerReferences"][0]["uid"], world_.uid);
  }
  EXPECT_THAT(world_.Revisions(), SizeIs(1));
  EXPECT_THAT(world_.events.TakeReasons(), Contains("WorkloadAdopted"));
  EXPECT_EQ(world_.Status()["readyPools"], 2);
}

TEST_F(TakeoverTest, OrphansOfAnUnknownRevisionAreAdoptedUnchangedWhilePaused) {
  Deployed({"a", "b"});
  world_.DeleteOrphaning();
  for (const Json& revision : world_.Revisions())
    world_.cluster.Delete(kControllerRevisionType, {kNs, StringAt(revision, {"metadata", "name"})});
  Json daemon = DaemonJson("app:2");
  daemon["spec"]["paused"] = true;
  world_.CreateDaemon(daemon);
  EXPECT_LE(world_.Converge(), 5);
  EXPECT_THAT(world_.Workloads(), SizeIs(2));
  for (const Json& workload : world_.Workloads()) {
    EXPECT_EQ(ImageOf(workload), "app:1");
    EXPECT_EQ(workload["metadata"]["ownerReferences"][0]["uid"], world_.uid);
  }
}

// The operator observes the new daemon before the orphaning of the old daemon's workloads.
TEST_F(TakeoverTest, OrphansThatTheCacheLacksAreFoundBeforeASecondWorkloadIsCreated) {
  struct Case {
    bool still_owned;  // true: the cache shows the old owner; false: it has never shown the orphans
    Json before;
    Json after;
  };
  Json release = DaemonJson();
  TemplateOf(release)["metadata"]["labels"]["app.kubernetes.io/version"] = "1";
  Json next_release = release;
  TemplateOf(next_release)["metadata"]["labels"]["app.kubernetes.io/version"] = "2";
  Json overridden = release;
  overridden["spec"]["overrides"] =
      R"([{"pools": ["b"], "patch": {"metadata": {"labels": {"app.kubernetes.io/version": "0"}}}}])"_json;
  // Overrides may also change a label of the workload that the selector has, because the selector only has to match the
  // pods.
  Json relabelled = DaemonJson();
  relabelled["spec"]["overrides"] = R"([{"pools": ["b"], "patch": {"metadata": {"labels": {"app": "other"}}}}])"_json;
  Json unlabelled = DaemonJson();
  unlabelled["spec"]["overrides"] =
      R"([{"pools": ["b"], "jsonPatches": [{"op": "remove", "path": "/metadata/labels"}]}])"_json;
  for (const Case& when : {Case{false, DaemonJson(), DaemonJson()}, Case{true, DaemonJson(), DaemonJson()},
                           Case{false, release, next_release}, Case{false, overridden, overridden},
                           Case{false, relabelled, relabelled}, Case{false, unlabelled, unlabelled}}) {
    SCOPED_TRACE(when.after.dump());
    World world;
    world.AddPools({"a", "b"});
    world.CreateDaemon(when.before);
    ASSERT_LE(world.Converge(), 10);
    std::vector<ObjectPtr> late;
    for (const Json& workload : world.Workloads()) {
      if (when.still_owned) late.push_back(std::make_shared<StoredObject>(workload, ProjectDeployment));
    }
    const std::string then = world.cluster.resource_version();
    world.cluster.Delete(kYurtAppDaemonType, {kNs, "web"});
    for (const Json& workload : world.Workloads()) {
      world.cluster.Edit(kDeploymentType, {kNs, workload["metadata"]["name"]},
                         [](Json& w) { w["metadata"].erase("ownerReferences"); });
    }
    world.CreateDaemon(when.after);
    world.Restart();
    world.stores().deployments.Replace(late, then);
    world.SyncAllButDeployments();
    EXPECT_FALSE(world.ReconcileWithOldCaches()) << "the next plan adopts the orphans that this reconcile has found";
    EXPECT_TRUE(world.ReconcileWithOldCaches());
    EXPECT_THAT(world.Workloads(), SizeIs(2));
    EXPECT_LE(world.Converge(), 5);
    EXPECT_THAT(world.Workloads(), SizeIs(2));
    EXPECT_THAT(world.events.TakeReasons(), Contains("WorkloadAdopted"));
  }
}

TEST_F(TakeoverTest, AdoptionThatUpdatesIsNotCompleteBeforeItsPodsAreHealthy) {
  world_.AddPools({"a"});
  world_.CreateDaemon();
  world_.Converge();
  world_.DeleteOrphaning();
  Json next = DaemonJson("app:2");
  next["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}};
  world_.CreateDaemon(next);
  for (int i = 0; i < 5 && !world_.Daemon().contains("status"); ++i) world_.Reconcile();
  const Json status = world_.Status();
  EXPECT_EQ(PoolStatus(status, "a")["phase"], "Updating");
  EXPECT_EQ(status["currentRevision"], "");
  world_.Converge();
  EXPECT_EQ(PoolStatus(world_.Status(), "a")["phase"], "Ready");
  EXPECT_EQ(world_.Status()["currentRevision"], world_.Status()["updateRevision"]);
}

// The new daemon already has a status when the pool of an orphan is selected, and the watch still lags.
TEST_F(TakeoverTest, OrphansOfPoolsThatAreSelectedLaterAreFoundToo) {
  for (const bool adopts_another : {false, true}) {
    SCOPED_TRACE(adopts_another);
    World world;
    world.AddPools({"a", "b"});
    world.CreateDaemon();
    ASSERT_LE(world.Converge(), 10);
    const std::string name_of_a = world.NameOf("a");
    std::vector<ObjectPtr> late{std::make_shared<StoredObject>(world.Workload("b"), ProjectDeployment)};
    const std::string then = world.cluster.resource_version();
    world.cluster.Delete(kYurtAppDaemonType, {kNs, "web"});
    for (const Json& workload : world.Workloads()) {
      world.cluster.Edit(kDeploymentType, {kNs, workload["metadata"]["name"]},
                         [](Json& w) { w["metadata"].erase("ownerReferences"); });
    }
    if (adopts_another) {
      const Json seen = *world.cluster.Get(kDeploymentType, {kNs, name_of_a});
      late.push_back(std::make_shared<StoredObject>(seen, ProjectDeployment));
    } else {
      world.RemovePool("a");
    }
    world.RemovePool("b");
    world.CreateDaemon();
    world.Restart();
    world.stores().deployments.Replace(late, then);
    for (int i = 0; i < 3; ++i) {
      world.SyncAllButDeployments();
      (void)world.ReconcileWithOldCaches();
      world.clock.Advance(std::chrono::seconds(1));
    }
    ASSERT_EQ(world.Status()["desiredPools"], adopts_another ? 1 : 0);
    world.AddPool("b");
    for (int i = 0; i < 2; ++i) {
      world.SyncAllButDeployments();
      (void)world.ReconcileWithOldCaches();
    }
    EXPECT_THAT(world.Workloads(), SizeIs(2)) << "no workload is created beside an orphan";
    EXPECT_LE(world.Converge(), 5);
    EXPECT_THAT(world.Workloads(), SizeIs(2));
    EXPECT_EQ(world.Status()["readyPools"], adopts_another ? 2 : 1);
  }
}

TEST_F(TakeoverTest, RevisionsOfAnOrphanedDaemonAreAdoptedAndTheirNumbersContinue) {
  Deployed({"a"});
  for (const char* image : {"app:2", "app:3"}) {
    world_.SetImage(image);
    ASSERT_LE(world_.Converge(), 10);
  }
  world_.DeleteOrphaning();
  world_.CreateDaemon(DaemonJson("app:3"));
  ASSERT_LE(world_.Converge(), 10);
  ASSERT_THAT(world_.Revisions(), SizeIs(3));
  for (const Json& revision : world_.Revisions()) {
    EXPECT_EQ(revision["metadata"]["ownerReferences"][0]["uid"], world_.uid);
    EXPECT_LE(revision["revision"], 3);
  }
  world_.SetImage("app:1");
  ASSERT_LE(world_.Converge(), 10);
  EXPECT_THAT(world_.Revisions(), SizeIs(3));
  for (const Json& revision : world_.Revisions()) {
    const bool newest = revision["metadata"]["name"] == world_.Status()["updateRevision"];
    EXPECT_EQ(newest, revision["revision"] == 4);
  }
}

TEST_F(TakeoverTest, OrphanedRevisionsForOtherPodsAreNotAdopted) {
  Deployed({"a"});
  world_.DeleteOrphaning();
  Json other = DaemonJson("app:2");
  for (Json* labels : {&other["spec"]["selector"]["matchLabels"], &TemplateOf(other)["metadata"]["labels"],
                       &TemplateOf(other)["spec"]["template"]["metadata"]["labels"]}) {
    *labels = {{"app", "another"}};
  }
  world_.CreateDaemon(other);
  world_.Converge();
  ASSERT_THAT(world_.Revisions(), SizeIs(2));
  int orphans = 0;
  for (const Json& revision : world_.Revisions()) orphans += !revision["metadata"].contains("ownerReferences");
  EXPECT_EQ(orphans, 1);
}

TEST_F(TakeoverTest, DaemonWhoseDeletionIsMissingInTheCacheAdoptsNothing) {
  Deployed({"a"});
  world_.Sync();
  // The garbage collector has removed the owner (--cascade=orphan), and the daemon still has its finalizer.
  world_.EditDaemon([](Json& d) { d["metadata"]["finalizers"] = {"orphan"}; });
  world_.Sync();
  world_.cluster.Delete(kYurtAppDaemonType, {kNs, "web"});
  world_.EditWorkload("a", [](Json& w) { w["metadata"].erase("ownerReferences"); });
  std::vector<ObjectPtr> deployments = {std::make_shared<StoredObject>(world_.Workload("a"), ProjectDeployment)};
  world_.stores().deployments.Replace(deployments, world_.cluster.resource_version());
  EXPECT_FALSE(world_.ReconcileWithOldCaches());
  EXPECT_FALSE(world_.Workload("a")["metadata"].contains("ownerReferences"));
}

}  // namespace
}  // namespace yad::testing
