// Other clients that keep changing the operator's objects.
#include "operator/yurtappdaemon/observe/ownership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/yurtappdaemon/world.h"

namespace yad::testing {
namespace {

using ::testing::Contains;
using ::testing::Not;

class OwnershipTest : public ::testing::Test {
 protected:
  void Deployed() {
    world_.AddPool("a");
    world_.CreateDaemon();
    ASSERT_LE(world_.Converge(), 10);
    world_.events.Take();
  }
  // From now on, writes of the operator have managedFields, and a webhook changes the image.
  void MirrorImages() {
    world_.cluster.SetMutation([](const ResourceType& type, const Json&, Json& object) {
      if (type.resource != "deployments") return;
      object["metadata"]["managedFields"] = Json::array({ManagerOfTemplate("yurtappdaemon-operator")});
      PodSpecOf(object)["containers"][0]["image"] = "mirror/app:1";
    });
  }
  static Json ManagerOfTemplate(const std::string& manager) {
    return {
        {"manager", manager}, {"operation", "Update"}, {"fieldsV1", {{"f:spec", {{"f:template", Json::object()}}}}}};
  }
  // A new leader begins while the webhook is down.
  void RestartWithoutWebhook() {
    world_.cluster.SetMutation(nullptr);
    world_.Restart();
    world_.cluster.ClearWrites();
    world_.Converge();
  }
  // From now on, the operator is the manager of each template that it writes. A webhook changes only new workloads.
  void MirrorNewImages() {
    world_.cluster.SetMutation([](const ResourceType& type, const Json& old_object, Json& object) {
      if (type.resource != "deployments") return;
      object["metadata"]["managedFields"] = Json::array({ManagerOfTemplate("yurtappdaemon-operator")});
      if (old_object.is_null()) PodSpecOf(object)["containers"][0]["image"] = "mirror/app:1";
    });
  }
  // Deploys three pools in a new cluster, whose webhook changes the image of each new workload. Returns the daemon.
  Json DeployMirrored(const char* strategy) {
    std::destroy_at(&world_);
    std::construct_at(&world_);
    world_.AddPools({"a", "b", "c"});
    MirrorNewImages();
    Json daemon = DaemonJson();
    daemon["spec"]["updateStrategy"] = {{"type", strategy}};
    world_.CreateDaemon(daemon);
    world_.Converge();
    return daemon;
  }
  void SetReplicas(int replicas) {
    world_.EditDaemon([&](Json& daemon) { TemplateOf(daemon)["spec"]["replicas"] = replicas; });
  }
  int Puts() {
    int puts = 0;
    for (const WriteRecord& write : world_.cluster.writes()) puts += write.method == "PUT";
    return puts;
  }

  World world_;
};

TEST(MayBeOfOursTest, ObjectMayBeOursIfItHasNoControllerOrAYurtAppDaemonControlsIt) {
  const auto controlled_by = [](const char* api_version, const char* kind) {
    ObjectMeta meta;
    OwnerReference owner{api_version, kind, "web", "u1", true};
    meta.owners = std::make_shared<const std::vector<OwnerReference>>(std::vector{std::move(owner)});
    return meta;
  };
  EXPECT_TRUE(MayBeOfOurs(controlled_by("apps.openyurt.io/v1alpha1", "YurtAppDaemon")));
  EXPECT_TRUE(MayBeOfOurs(controlled_by("apps.openyurt.io/v1beta1", "YurtAppDaemon")));
  EXPECT_FALSE(MayBeOfOurs(controlled_by("apps.openyurt.io/v1alpha1", "YurtAppSet")));
  EXPECT_FALSE(MayBeOfOurs(controlled_by("example.org/v1", "YurtAppDaemon")));
  EXPECT_TRUE(MayBeOfOurs(ObjectMeta()));

  ObjectMeta orphan;
  EXPECT_FALSE(MayBeWorkloadOfOurs(orphan));
  orphan.annotations[kRefNodePoolAnnotation] = "a";
  EXPECT_TRUE(MayBeWorkloadOfOurs(orphan)) << "an orphan may be adopted";
}

// The cache does not store the content of a workload that has a controller of another kind.
TEST_F(OwnershipTest, WorkloadWithTheDaemonsUidAndAnotherOwnerKindIsNotChanged) {
  Deployed();
  world_.EditWorkload("a", [](Json& w) { w["metadata"]["ownerReferences"][0]["kind"] = "Other"; });
  const Json before = world_.Workload("a");
  world_.cluster.ClearWrites();
  for (int i = 0; i < 3; ++i) {
    world_.Reconcile();
    world_.clock.Advance(std::chrono::minutes(1));
  }
  EXPECT_EQ(world_.Workload("a"), before);
}

TEST_F(OwnershipTest, RepairsFiveTimesImmediatelyAndThenBacksOff) {
  Deployed();
  world_.cluster.ClearWrites();
  const auto change = [&] {
    world_.EditWorkload("a", [](Json& w) { PodSpecOf(w)["containers"][0]["image"] = "evil:1"; });
    return world_.Reconcile();
  };
  for (int i = 1; i <= 5; ++i) {
    change();
    EXPECT_EQ(Puts(), i);
  }
  EXPECT_THAT(world_.events.TakeReasons(), Contains("RepairsSlowedDown").Times(1));
  world_.clock.Advance(std::chrono::milliseconds(300));
  auto result = change();
  EXPECT_EQ(Puts(), 5);
  world_.clock.Advance(std::chrono::milliseconds(300));
  result = world_.Reconcile();  // The status is written by now.
  ASSERT_TRUE(result);
  EXPECT_EQ(result->next, ReconcileResult::Next::kAfter);
  EXPECT_LE(result->after, std::chrono::milliseconds(400));
  world_.clock.Advance(std::chrono::seconds(1));
  EXPECT_TRUE(world_.Reconcile());
  EXPECT_EQ(Puts(), 6);
  EXPECT_EQ(ImageOf(world_.Workload("a")), "app:1");
  // A change of the spec is written immediately.
  change();
  world_.SetImage("app:2");
  EXPECT_TRUE(world_.Reconcile());
  EXPECT_EQ(ImageOf(world_.Workload("a")), "app:2");
  EXPECT_THAT(world_.events.TakeReasons(), Not(Contains("RepairsSlowedDown")));
}

TEST_F(OwnershipTest, AValueThatTheServerDoesNotKeepIsReportedInOneEvent) {
  Deployed();
  world_.cluster.SetMutation([](const ResourceType& type, const Json&, Json& object) {
    if (type.resource == "deployments") PodSpecOf(object)["containers"][0]["image"] = "mirror/app:1";
  });
  world_.SetImage("app:2");
  world_.Converge();
  const auto events = world_.events.Take();
  int named = 0;
  for (const RecordedEvent& event : events) {
    if (event.reason != "ValueNotKept") continue;
    ++named;
    EXPECT_THAT(event.note, ::testing::HasSubstr("/spec/template/spec/containers/0/image"));
  }
  EXPECT_EQ(named, 1);
}

TEST_F(OwnershipTest, ANewLeaderDoesNotWriteAValueThatTheServerDidNotKeep) {
  MirrorImages();
  Deployed();
  ASSERT_EQ(ImageOf(world_.Workload("a")), "mirror/app:1");
  RestartWithoutWebhook();
  EXPECT_EQ(ImageOf(world_.Workload("a")), "mirror/app:1");
  EXPECT_EQ(Puts(), 0);
  int reads = 0;
  world_.cluster.SetFaults([&](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
    reads += request.resource == "deployments";
    return std::nullopt;
  });
  world_.Reconcile();
  EXPECT_EQ(reads, 0) << "the operator remembers the difference";
  world_.SetImage("app:2");
  world_.Converge();
  EXPECT_EQ(ImageOf(world_.Workload("a")), "app:2");
}

TEST_F(OwnershipTest, ANewLeaderRestoresTheTemplateThatAnotherClientHasWritten) {
  MirrorImages();
  Deployed();
  world_.EditWorkload("a", [](Json& workload) {
    workload["metadata"]["managedFields"].push_back(ManagerOfTemplate("kubectl-edit"));
    PodSpecOf(workload)["containers"][0]["image"] = "app:0";
  });
  RestartWithoutWebhook();
  EXPECT_EQ(ImageOf(world_.Workload("a")), "app:1");
}

// The label names the revision of the template. If another client has changed it, the template may be of any revision.
TEST_F(OwnershipTest, ANewLeaderRestoresTheTemplateIfAnotherClientHasWrittenItsRevision) {
  MirrorImages();
  Deployed();
  world_.EditWorkload("a", [](Json& workload) {
    Json manager = ManagerOfTemplate("kubectl-label");
    manager["fieldsV1"] = {{"f:metadata", {{"f:labels", {{std::string("f:") + kRevisionLabel, Json::object()}}}}}};
    workload["metadata"]["managedFields"].push_back(manager);
  });
  RestartWithoutWebhook();
  EXPECT_EQ(ImageOf(world_.Workload("a")), "app:1");
}

TEST_F(OwnershipTest, ANewLeaderRestoresTheTemplateIfItsManagersAreUnknown) {
  MirrorImages();
  Deployed();
  world_.EditWorkload("a", [](Json& workload) { workload["metadata"].erase("managedFields"); });
  RestartWithoutWebhook();
  EXPECT_EQ(ImageOf(world_.Workload("a")), "app:1");
}

TEST_F(OwnershipTest, AWriteOfReplicasKeepsTheTemplateThatTheServerChanged) {
  MirrorImages();
  Deployed();
  RestartWithoutWebhook();
  SetReplicas(3);
  EXPECT_LE(world_.Converge(), 5);
  EXPECT_EQ(world_.Workload("a")["spec"]["replicas"], 3);
  EXPECT_EQ(ImageOf(world_.Workload("a")), "mirror/app:1");
}

TEST_F(OwnershipTest, AWriteWithoutAnotherTemplateKeepsTheTemplateThatAWebhookChangedOnCreation) {
  for (const char* strategy : {"All", "RollingUpdate"}) {
    for (const bool paused : {false, true}) {
      SCOPED_TRACE(std::string(strategy) + (paused ? ", paused" : ""));
      DeployMirrored(strategy);
      world_.clock.Advance(std::chrono::minutes(1));
      world_.Converge();
      world_.EditDaemon([&](Json& d) { d["spec"]["paused"] = paused; });
      SetReplicas(3);
      world_.Converge();
      world_.EditDaemon([](Json& d) { TemplateOf(d)["metadata"]["labels"]["team"] = "x"; });
      for (int i = 0; i < 4; ++i) {
        world_.Converge();
        world_.clock.Advance(std::chrono::minutes(1));
      }
      for (const Json& workload : world_.Workloads()) {
        EXPECT_EQ(workload["spec"]["replicas"], 3);
        EXPECT_EQ(workload["metadata"]["labels"].contains("team"), !paused);
        EXPECT_EQ(ImageOf(workload), "mirror/app:1");
      }
    }
  }
}

TEST_F(OwnershipTest, AnAdoptionKeepsTheTemplateThatAWebhookChangedOnCreation) {
  for (const char* strategy : {"All", "RollingUpdate"}) {
    for (const bool paused : {false, true}) {
      SCOPED_TRACE(std::string(strategy) + (paused ? ", paused" : ""));
      Json daemon = DeployMirrored(strategy);
      world_.DeleteOrphaning();
      daemon["spec"]["paused"] = paused;
      world_.CreateDaemon(daemon);
      for (int i = 0; i < 4; ++i) {
        world_.Converge();
        world_.clock.Advance(std::chrono::minutes(1));
      }
      ASSERT_EQ(world_.Workloads().size(), 3U);
      for (const Json& workload : world_.Workloads()) {
        EXPECT_EQ(workload["metadata"]["ownerReferences"][0]["uid"], world_.uid);
        EXPECT_EQ(ImageOf(workload), "mirror/app:1");
        EXPECT_EQ(workload["metadata"]["generation"], 1);
      }
    }
  }
}

// The adoption must not record the user's image as a value that the server does not keep.
TEST_F(OwnershipTest, RestoresTheTemplateOfAnotherClientAfterAnAdoption) {
  Deployed();
  const std::string name = world_.NameOf("a");
  world_.DeleteOrphaning();
  world_.cluster.Edit(kDeploymentType, {kNs, name}, [](Json& w) { PodSpecOf(w)["containers"][0]["image"] = "evil:1"; });
  world_.CreateDaemon();
  EXPECT_LE(world_.Converge(), 6);
  ASSERT_EQ(world_.Workloads().size(), 1U);
  EXPECT_EQ(ImageOf(world_.Workloads()[0]), "app:1");
}

// A webhook changes each write. The adoption brings another template, so it shows that the server does not keep the
// template.
TEST_F(OwnershipTest, AnAdoptionWithAnotherTemplateRecordsAValueThatTheServerDoesNotKeep) {
  MirrorImages();
  Deployed();
  world_.DeleteOrphaning();
  world_.CreateDaemon(DaemonJson("app:2"));
  EXPECT_LE(world_.Converge(), 6);
  const auto events = world_.events.TakeReasons();
  EXPECT_THAT(events, Contains("WorkloadAdopted"));
  EXPECT_THAT(events, Contains("ValueNotKept").Times(1));
}

TEST_F(OwnershipTest, ARepairBesideTheTemplateKeepsTheTemplateThatTheServerChanged) {
  MirrorImages();
  Deployed();
  world_.EditWorkload("a", [](Json& workload) { workload["spec"]["replicas"] = 7; });
  RestartWithoutWebhook();
  EXPECT_EQ(world_.Workload("a")["spec"]["replicas"], 1);
  EXPECT_EQ(ImageOf(world_.Workload("a")), "mirror/app:1");
}

// The write of the replicas must not record the user's image as a value that the server does not keep.
TEST_F(OwnershipTest, RestoresTheTemplateOfAnotherClientAfterAWriteOfReplicas) {
  Deployed();
  world_.EditWorkload("a", [](Json& workload) { PodSpecOf(workload)["containers"][0]["image"] = "evil:1"; });
  SetReplicas(3);
  EXPECT_LE(world_.Converge(), 5);
  EXPECT_EQ(world_.Workload("a")["spec"]["replicas"], 3);
  EXPECT_EQ(ImageOf(world_.Workload("a")), "app:1");
}

// The removal of a value does not leave an entry in managedFields.
TEST_F(OwnershipTest, ANewLeaderRestoresMissingValues) {
  world_.AddPool("a");
  Json daemon = DaemonJson();
  PodSpecOf(TemplateOf(daemon))["terminationGracePeriodSeconds"] = 5;
  world_.CreateDaemon(daemon);
  MirrorImages();
  ASSERT_LE(world_.Converge(), 10);
  world_.EditWorkload("a", [](Json& workload) { PodSpecOf(workload).erase("terminationGracePeriodSeconds"); });
  RestartWithoutWebhook();
  Json repaired = world_.Workload("a");
  EXPECT_EQ(PodSpecOf(repaired)["terminationGracePeriodSeconds"], 5);
}

}  // namespace
}  // namespace yad::testing
