// The history of revisions: new and reused templates, pruning, name collisions, and currentRevision.
#include "tests/cluster/fixture.h"

namespace yad::testing {
namespace {

class RevisionTest : public BothKinds {
 protected:
  // Blocks until all pools have the daemon's newest template. Returns the name of its revision.
  std::string WaitForRollout(const std::string& daemon, const std::string& image) {
    const Json object = WaitForStatus(daemon, image + " is in all pools", [&](const Json& status) {
      return At(status, "/updatedPools") == At(status, "/desiredPools") &&
             At(status, "/currentRevision") == At(status, "/updateRevision") && At(status, "/images") == image;
    });
    return StringAt(object, {"status", "updateRevision"});
  }
  std::vector<std::string> RevisionNames(const std::string& daemon) {
    std::vector<std::string> names;
    for (const Json& revision : Revisions(daemon)) names.push_back(NameOf(revision));
    return names;
  }
  // Rolls out app:2, and then app:1 again, whose revision is `first`. Expects that `first` is reused with number 3, and
  // returns it.
  Json UndoTo(const std::string& first) {
    SetImage("web", "example.org/app:2");
    const std::string second = WaitForRollout("web", "example.org/app:2");
    SetImage("web", "example.org/app:1");
    EXPECT_EQ(WaitForRollout("web", "example.org/app:1"), first);
    EXPECT_EQ(RevisionNames("web"), (std::vector<std::string>{second, first}));
    const Json again = kube().Get(kControllerRevisionType, first);
    EXPECT_EQ(IntAt(again, {"revision"}), 3);
    return again;
  }
  // Returns a daemon whose template has characters that Go's encoder escapes.
  Json DaemonWithEscapes() const {
    Json daemon = Daemon("web");
    Json& pod = daemon["spec"]["workloadTemplate"][TemplateField(kind())]["spec"]["template"]["spec"];
    pod["containers"][0]["args"] = {"a < b && c > d", "caf\u00e9 \u2028"};
    return daemon;
  }
};
INSTANTIATE_ONE_KIND(RevisionTest, WorkloadKind::kDeployment);

TEST_P(RevisionTest, AChangedTemplateBecomesANewRevisionThatEveryPoolGets) {
  StartOperator();
  const auto pools = AddPools(3);
  CreateDaemon(Daemon("web"));
  const std::string first = WaitForRollout("web", "example.org/app:1");
  const auto before = ByPool("web");
  SetImage("web", "example.org/app:2");
  const std::string second = WaitForRollout("web", "example.org/app:2");
  EXPECT_NE(first, second);
  const auto revisions = Revisions("web");
  ASSERT_EQ(revisions.size(), 2U);
  EXPECT_EQ(NameOf(revisions[0]), first);
  EXPECT_EQ(NameOf(revisions[1]), second);
  EXPECT_EQ(IntAt(revisions[0], {"revision"}), 1);
  EXPECT_EQ(IntAt(revisions[1], {"revision"}), 2);
  for (const auto& [pool, workload] : ByPool("web")) {
    EXPECT_EQ(ImageOf(workload), "example.org/app:2");
    EXPECT_EQ(Label(workload, kRevisionLabel), second);
    EXPECT_EQ(UidOf(workload), UidOf(before.at(pool)));
    EXPECT_EQ(At(workload, "/spec/template/metadata/labels"), (Json{{"app", "web"}, {kPoolNameLabel, pool}}));
  }
}

TEST_P(RevisionTest, FieldsRemovedFromTheTemplateAreRemovedFromTheWorkloads) {
  StartOperator();
  const std::string pool = AddPool("a");
  Json daemon = Daemon("web");
  Json& templ = daemon["spec"]["workloadTemplate"][TemplateField(kind())];
  templ["metadata"]["labels"]["gone"] = "yes";
  templ["metadata"]["annotations"] = {{"gone", "yes"}};
  templ["spec"]["template"]["metadata"]["annotations"] = {{"gone", "yes"}};
  templ["spec"]["template"]["spec"]["containers"][0]["env"] =
      R"([{"name": "A", "value": "1"}, {"name": "B", "value": "2"}])"_json;
  templ["spec"]["template"]["spec"]["containers"].push_back(R"({"name": "second", "image": "example.org/s:1"})"_json);
  templ["spec"]["template"]["spec"]["priorityClassName"] = "system-node-critical";
  CreateDaemon(daemon);
  WaitUntilReady("web");
  ASSERT_EQ(Label(WorkloadOf("web", pool), "gone"), "yes");
  kube().Edit(kYurtAppDaemonType, "web", [&](Json& object) {
    Json& now = object["spec"]["workloadTemplate"][TemplateField(kind())];
    now["metadata"]["labels"].erase("gone");
    now["metadata"].erase("annotations");
    now["spec"]["template"]["metadata"].erase("annotations");
    now["spec"]["template"]["spec"]["containers"].erase(1);
    now["spec"]["template"]["spec"]["containers"][0]["env"].erase(1);
    now["spec"]["template"]["spec"].erase("priorityClassName");
  });
  WaitUntilReady("web");
  WaitForStatus("web", "is updated", [](const Json& status) { return At(status, "/updatedPools") == 1; });
  const Json workload = WorkloadOf("web", pool);
  EXPECT_EQ(Label(workload, "gone"), "");
  EXPECT_EQ(Annotation(workload, "gone"), "");
  EXPECT_EQ(At(workload, "/spec/template/metadata/annotations/gone"), Json());
  EXPECT_EQ(At(workload, "/spec/template/spec/containers").size(), 1U);
  EXPECT_EQ(At(workload, "/spec/template/spec/containers/0/env"), R"([{"name": "A", "value": "1"}])"_json);
  EXPECT_EQ(At(workload, "/spec/template/spec/priorityClassName"), Json());
}

TEST_P(RevisionTest, AnOldTemplateReusesItsRevisionWithAHigherNumber) {
  StartOperator();
  AddPools(2);
  CreateDaemon(Daemon("web"));
  const std::string first = WaitForRollout("web", "example.org/app:1");
  const std::string first_uid = UidOf(kube().Get(kControllerRevisionType, first));
  const Json again = UndoTo(first);
  EXPECT_EQ(UidOf(again), first_uid);
  for (const auto& [pool, workload] : ByPool("web")) EXPECT_EQ(Label(workload, kRevisionLabel), first);
}

// Another tool has written the revision's `data` with whitespace, or with characters that Go's encoder escapes. The
// apiserver rejects each patch of an object with this data.
TEST_P(RevisionTest, RevisionIsReusedAndRenumberedIfItsDataHasWhitespaceOrOtherEscapes) {
  StartOperator();
  AddPools(2);
  CreateDaemon(DaemonWithEscapes());
  const std::string first = WaitForRollout("web", "example.org/app:1");
  StopOperator();
  Json revision = kube().Get(kControllerRevisionType, first);
  kube().Delete(kControllerRevisionType, first);
  for (const char* field : {"uid", "resourceVersion", "creationTimestamp", "managedFields"}) {
    revision["metadata"].erase(field);
  }
  Kubectl({"create", "--raw", "/apis/apps/v1/namespaces/" + ns() + "/controllerrevisions", "-f", "-"},
          revision.dump(2));
  const std::string uid = UidOf(kube().Get(kControllerRevisionType, first));
  const auto rejected =
      plane().client().Patch(kControllerRevisionType, {ns(), first}, PatchType::kMerge, {{"revision", 9}});
  ASSERT_FALSE(rejected) << "the apiserver accepts a patch of this data, so the test is useless";
  EXPECT_EQ(rejected.error().reason, Reason::kInvalid);

  StartOperator();
  const Json again = UndoTo(first);
  EXPECT_EQ(UidOf(again), uid);
  EXPECT_EQ(At(again, "/data"), At(revision, "/data"));
}

// The garbage collector orphans a revision by a patch of its ownerReferences.
TEST_P(RevisionTest, RevisionIsOrphanedAndAdoptedIfItsTemplateHasCharactersThatGosEncoderEscapes) {
  StartOperator();
  AddPools(1);
  const Json daemon = DaemonWithEscapes();
  CreateDaemon(daemon);
  const std::string name = WaitForRollout("web", "example.org/app:1");
  const std::string uid = UidOf(kube().Get(kControllerRevisionType, name));
  Kubectl({"delete", "yad", "web", "--cascade=orphan"});
  Eventually("the daemon is gone", [&] { return !kube().Find(kYurtAppDaemonType, "web").has_value(); });
  const Json created = CreateDaemon(daemon);
  EXPECT_EQ(WaitForRollout("web", "example.org/app:1"), name);
  const Json revision = kube().Get(kControllerRevisionType, name);
  EXPECT_EQ(UidOf(revision), uid);
  EXPECT_EQ(At(revision, "/metadata/ownerReferences/0/uid"), UidOf(created));
}

TEST_P(RevisionTest, HistoryIsPrunedToItsLimitExceptRevisionsInUse) {
  StartOperator();
  AddPools(1);
  Json daemon = Daemon("web");
  daemon["spec"]["revisionHistoryLimit"] = 2;
  CreateDaemon(daemon);
  std::vector<std::string> names = {WaitForRollout("web", "example.org/app:1")};
  for (int i = 2; i <= 6; ++i) {
    const std::string image = "example.org/app:" + std::to_string(i);
    SetImage("web", image);
    names.push_back(WaitForRollout("web", image));
  }
  const auto wait_for_names = [&](const std::vector<std::string>& wanted) {
    Eventually("history is pruned", [&]() -> std::string {
      const auto have = RevisionNames("web");
      return have == wanted ? "" : Json(have).dump() + " instead of " + Json(wanted).dump();
    });
  };
  wait_for_names({names[3], names[4], names[5]});
  PatchSpec("web", {{"revisionHistoryLimit", 0}});
  wait_for_names({names[5]});
  SetImage("web", "example.org/app:7");
  wait_for_names({WaitForRollout("web", "example.org/app:7")});
}

TEST_P(RevisionTest, TheDefaultLimitKeepsTenRevisionsAndAChangedLimitStartsNoRollout) {
  StartOperator();
  AddPools(1);
  CreateDaemon(Daemon("web"));
  WaitForRollout("web", "example.org/app:1");
  for (int i = 2; i <= 13; ++i) {
    const std::string image = "example.org/app:" + std::to_string(i);
    SetImage("web", image);
    WaitForRollout("web", image);
  }
  Eventually("ten old revisions and the live revision exist", [&] { return Revisions("web").size() == 11; });
  const auto before = ByPool("web");
  PatchSpec("web", {{"revisionHistoryLimit", 3}});
  Eventually("three old revisions and the live revision exist", [&] { return Revisions("web").size() == 4; });
  for (const auto& [pool, workload] : ByPool("web")) EXPECT_EQ(WithoutStatus(workload), WithoutStatus(before.at(pool)));
}

TEST_P(RevisionTest, ARevisionThatAWorkloadUsesIsNeverPruned) {
  StartOperator();
  AddPools(1);
  Json daemon = Daemon("web");
  daemon["spec"]["revisionHistoryLimit"] = 0;
  CreateDaemon(daemon);
  const std::string first = WaitForRollout("web", "example.org/app:1");
  PatchSpec("web", {{"paused", true}});
  for (int i = 2; i <= 4; ++i) {
    SetImage("web", "example.org/app:" + std::to_string(i));
    WaitForStatus("web", "has another updateRevision",
                  [&](const Json& status) { return At(status, "/images") == "example.org/app:" + std::to_string(i); });
  }
  Eventually("only the current and the newest revision exist", [&]() -> std::string {
    const auto names = RevisionNames("web");
    return names.size() == 2 && names[0] == first ? "" : Json(names).dump();
  });
}

TEST_P(RevisionTest, ARevisionWithTheSameNameAndOtherContentIncreasesTheCollisionCount) {
  StartOperator();
  AddPools(1);
  CreateDaemon(Daemon("web"));
  const std::string name = WaitForRollout("web", "example.org/app:1");
  kube().Delete(kYurtAppDaemonType, "web");
  Barrier();  // after this, the operator does not create the revision again
  Eventually("the revision and the workloads are gone",
             [&] { return !kube().Find(kControllerRevisionType, name) && kube().List(type()).empty(); });
  const Json foreign = kube().Create(
      kControllerRevisionType, {{"metadata", {{"name", name}}}, {"revision", 1}, {"data", {{"other", "content"}}}});
  CreateDaemon(Daemon("web"));
  const std::string other = WaitForRollout("web", "example.org/app:1");
  EXPECT_NE(other, name);
  EXPECT_EQ(At(GetDaemon("web"), "/status/collisionCount"), 1);
  EXPECT_EQ(VersionOf(kube().Get(kControllerRevisionType, name)), VersionOf(foreign));
  // The collision count is in the status, so a new process does not collide again.
  StopOperator();
  StartOperator();
  Barrier();
  EXPECT_EQ(At(GetDaemon("web"), "/status/collisionCount"), 1);
  EXPECT_EQ(RevisionNames("web"), std::vector<std::string>{other});
}

TEST_P(RevisionTest, NullsEmptyObjectsAndADefaultedSelectorCreateNoRevision) {
  StartOperator();
  AddPools(2);
  CreateDaemon(Daemon("web"));
  const std::string first = WaitForRollout("web", "example.org/app:1");
  const auto before = ByPool("web");
  // As Go clients and OpenYurt's webhook write the object.
  const Json object = kube().Edit(kYurtAppDaemonType, "web", [&](Json& daemon) {
    Json& templ = daemon["spec"]["workloadTemplate"][TemplateField(kind())];
    templ["metadata"]["creationTimestamp"] = nullptr;
    templ["spec"]["template"]["metadata"]["creationTimestamp"] = nullptr;
    templ["spec"][kind() == WorkloadKind::kDeployment ? "strategy" : "updateStrategy"] = Json::object();
    templ["spec"]["selector"] = {{"matchLabels", {{"app", "web"}}}};
    templ["spec"]["template"]["spec"]["containers"][0]["resources"] = Json::object();
  });
  EXPECT_EQ(At(object, "/metadata/generation"), 2);
  WaitUntilObserved("web");
  EXPECT_EQ(RevisionNames("web"), std::vector<std::string>{first});
  for (const auto& [pool, workload] : ByPool("web")) {
    EXPECT_EQ(At(workload, "/metadata/generation"), At(before.at(pool), "/metadata/generation"));
  }
}

TEST_P(RevisionTest, CurrentRevisionIsEmptyUntilTheFirstRolloutIsCompleteAndChangesWithEachRollout) {
  StartOperator();
  const std::string pool = AddPool("a");
  CreateDaemon(Daemon("web", 1));  // there is no node, so the pod stays Pending
  const Json waiting = WaitForStatus("web", "the rollout has begun", [](const Json& status) {
    return At(status, "/updateRevision") != Json() && At(status, "/pools").size() == 1 &&
           At(status, "/pools/0/phase") == "Updating";
  });
  EXPECT_EQ(At(waiting, "/status/currentRevision"), "");
  AddNode(pool);
  const std::string first = WaitForRollout("web", "example.org/app:1");
  EXPECT_NE(first, "");
  SetImage("web", "example.org/app:2");
  EXPECT_NE(WaitForRollout("web", "example.org/app:2"), first);
}

TEST_P(RevisionTest, OnDeleteUpdatesAPoolWhenItsWorkloadIsDeleted) {
  StartOperator();
  const std::string a = AddPool("a");
  const std::string b = AddPool("b");
  Json daemon = Daemon("web");
  daemon["spec"]["updateStrategy"] = {{"type", "OnDelete"}};
  CreateDaemon(daemon);
  const std::string first = WaitForRollout("web", "example.org/app:1");
  SetImage("web", "example.org/app:2");
  WaitForStatus("web", "has the new updateRevision",
                [&](const Json& status) { return At(status, "/updateRevision") != first; });
  Barrier();
  for (const auto& [pool, workload] : ByPool("web")) EXPECT_EQ(ImageOf(workload), "example.org/app:1");
  kube().Delete(type(), NameOf(WorkloadOf("web", a)));
  Eventually("the recreated workload has the new revision",
             [&] { return ImageOf(WorkloadOf("web", a)) == "example.org/app:2"; });
  EXPECT_EQ(ImageOf(WorkloadOf("web", b)), "example.org/app:1");
  EXPECT_EQ(Label(WorkloadOf("web", b), kRevisionLabel), first);
  kube().Delete(type(), NameOf(WorkloadOf("web", b)));
  WaitForRollout("web", "example.org/app:2");
}

TEST_P(RevisionTest, AChangeOfOnlyReplicasCreatesARevisionAndRestartsNoPod) {
  StartOperator();
  const std::string pool = AddPool("a");
  AddNode(pool);
  CreateDaemon(Daemon("web", 1));
  WaitForRollout("web", "example.org/app:1");
  const Json before = WorkloadOf("web", pool);
  const std::string pod = UidOf(kube().List(kPodType, "app=web").at(0));
  PatchTemplate("web", {{"spec", {{"replicas", 2}}}});
  WaitForStatus("web", "two replicas are ready", [](const Json& status) { return At(status, "/readyReplicas") == 2; });
  const Json after = WorkloadOf("web", pool);
  EXPECT_EQ(PodTemplate(after), PodTemplate(before));
  std::vector<std::string> pods;
  for (const Json& one : kube().List(kPodType, "app=web")) pods.push_back(UidOf(one));
  EXPECT_THAT(pods, ::testing::Contains(pod));
  EXPECT_EQ(Revisions("web").size(), 2U);
}

}  // namespace
}  // namespace yad::testing
