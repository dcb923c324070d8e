// Other clients edit workloads. The operator restores its own fields, and keeps the fields of other clients.
#include "tests/cluster/fixture.h"

namespace yad::testing {
namespace {

class DriftTest : public BothKinds {
 protected:
  std::string StartWithOnePool(std::optional<int> replicas = 0) {
    StartOperator();
    const std::string pool = AddPool("a");
    CreateDaemon(Daemon("web", replicas));
    WaitUntilReady("web");
    return pool;
  }
};
INSTANTIATE_BOTH_KINDS(DriftTest);

// Tests of behaviour that does not depend on the kind.
class DriftOnceTest : public DriftTest {};
INSTANTIATE_ONE_KIND(DriftOnceTest, WorkloadKind::kStatefulSet);

TEST_P(DriftOnceTest, ADeletedWorkloadIsRecreatedWithItsName) {
  const std::string pool = StartWithOnePool();
  const Json before = WorkloadOf("web", pool);
  kube().Delete(type(), NameOf(before));
  Eventually("the workload is recreated", [&] { return UidOf(WorkloadOf("web", pool)) != UidOf(before); });
  EXPECT_EQ(NameOf(WorkloadOf("web", pool)), NameOf(before));
  WaitUntilReady("web");
}

TEST_P(DriftTest, AnEditedWorkloadIsRepaired) {
  const std::string pool = StartWithOnePool();
  const Json before = WorkloadOf("web", pool);
  kube().Edit(type(), NameOf(before), [&](Json& workload) {
    workload["spec"]["template"]["spec"]["containers"][0]["image"] = "example.org/evil:1";
    workload["spec"]["template"]["spec"]["nodeSelector"].erase(kNodePoolLabel);
    workload["spec"]["replicas"] = 3;
    workload["metadata"]["annotations"].erase(kRefNodePoolAnnotation);
  });
  Eventually("the workload is restored", [&]() -> std::string {
    const Json now = kube().Get(type(), NameOf(before));
    Json wanted_spec = At(before, "/spec");
    return At(now, "/spec") == wanted_spec && Annotation(now, kRefNodePoolAnnotation) == pool ? "" : now.dump();
  });
  EXPECT_EQ(UidOf(WorkloadOf("web", pool)), UidOf(before));
  EXPECT_EQ(Revisions("web").size(), 1U);
}

TEST_P(DriftOnceTest, ARemovedAnnotationRenderedFromIsRestoredByTheNextRevision) {
  const std::string pool = StartWithOnePool();
  const Json before = WorkloadOf("web", pool);
  kube().MergePatch(type(), NameOf(before), {{"metadata", {{"annotations", {{kRenderedFromAnnotation, nullptr}}}}}});
  Barrier();
  // Because the annotation is missing, the operator treats the workload as a workload of OpenYurt, and keeps its node
  // selector.
  const Json after = WorkloadOf("web", pool);
  EXPECT_EQ(NameOf(after), NameOf(before));
  EXPECT_EQ(At(after, "/spec/template/spec/nodeSelector"), At(before, "/spec/template/spec/nodeSelector"));
  SetImage("web", "example.org/app:2");
  Eventually("the next revision restores the annotation", [&] {
    const Json now = WorkloadOf("web", pool);
    return ImageOf(now) == "example.org/app:2" && !Annotation(now, kRenderedFromAnnotation).empty();
  });
}

TEST_P(DriftTest, FieldsThatOtherClientsAddAreKept) {
  const std::string pool = StartWithOnePool();
  const std::string name = NameOf(WorkloadOf("web", pool));
  kube().Edit(type(), name, [&](Json& workload) {
    workload["metadata"]["labels"]["theirs"] = "1";
    workload["metadata"]["annotations"]["theirs"] = "1";
    Json& pod = workload["spec"]["template"];
    pod["metadata"]["annotations"]["theirs"] = "1";
    pod["spec"]["containers"].push_back(R"({"name": "sidecar", "image": "example.org/sidecar:1"})"_json);
    pod["spec"]["containers"][0]["env"] = R"([{"name": "THEIRS", "value": "1"}])"_json;
  });
  // A repair and a new revision must both keep the fields of other clients.
  kube().MergePatch(type(), name, {{"metadata", {{"labels", {{"app", "broken"}}}}}});
  Eventually("the operator's label is repaired", [&] { return Label(WorkloadOf("web", pool), "app") == "web"; });
  SetImage("web", "example.org/app:2");
  Eventually("the workload has the new image",
             [&] { return StringAt(*Container(WorkloadOf("web", pool), "main"), {"image"}) == "example.org/app:2"; });
  const Json now = WorkloadOf("web", pool);
  EXPECT_EQ(Label(now, "theirs"), "1");
  EXPECT_EQ(Annotation(now, "theirs"), "1");
  EXPECT_EQ(At(now, "/spec/template/metadata/annotations/theirs"), "1");
  ASSERT_NE(Container(now, "sidecar"), nullptr);
  EXPECT_EQ(At(*Container(now, "main"), "/env"), R"([{"name": "THEIRS", "value": "1"}])"_json);
}

TEST_P(DriftOnceTest, ARolloutRestartIsKept) {
  const std::string pool = StartWithOnePool();
  const std::string name = NameOf(WorkloadOf("web", pool));
  Kubectl({"rollout", "restart", type().resource + "/" + name});
  const std::string path = "/spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt";
  const Json restarted = At(kube().Get(type(), name), path);
  ASSERT_TRUE(restarted.is_string());
  kube().MergePatch(type(), name, {{"metadata", {{"labels", {{"app", "broken"}}}}}});
  Eventually("the label is repaired", [&] { return Label(WorkloadOf("web", pool), "app") == "web"; });
  EXPECT_EQ(At(kube().Get(type(), name), path), restarted);
  SetImage("web", "example.org/app:2");
  Eventually("the workload has the new image", [&] { return ImageOf(WorkloadOf("web", pool)) == "example.org/app:2"; });
  EXPECT_EQ(At(kube().Get(type(), name), path), restarted);
}

TEST_P(DriftOnceTest, ScalingIsKeptIfTheTemplateHasNoReplicas) {
  StartOperator();
  const std::string pool = AddPool("a");
  AddNode(pool);
  CreateDaemon(Daemon("web", std::nullopt));
  WaitUntilReady("web");
  const std::string name = NameOf(WorkloadOf("web", pool));
  EXPECT_EQ(At(kube().Get(type(), name), "/spec/replicas"), 1);  // the apiserver's default
  Kubectl({"scale", "--replicas=3", type().resource + "/" + name});
  WaitForStatus("web", "three replicas are ready",
                [](const Json& status) { return At(status, "/readyReplicas") == 3; });
  kube().MergePatch(type(), name, {{"metadata", {{"labels", {{"app", "broken"}}}}}});
  Eventually("the label is repaired", [&] { return Label(WorkloadOf("web", pool), "app") == "web"; });
  EXPECT_EQ(At(kube().Get(type(), name), "/spec/replicas"), 3);
  SetImage("web", "example.org/app:2");
  Eventually("the workload has the new image", [&] { return ImageOf(WorkloadOf("web", pool)) == "example.org/app:2"; });
  EXPECT_EQ(At(kube().Get(type(), name), "/spec/replicas"), 3);
}

TEST_P(DriftOnceTest, ScalingIsRevertedOnlyWhileTheTemplateHasReplicas) {
  StartOperator();
  const std::string pool = AddPool("a");
  AddNode(pool);
  CreateDaemon(Daemon("web", 2));
  WaitUntilReady("web");
  const std::string name = NameOf(WorkloadOf("web", pool));
  Kubectl({"scale", "--replicas=5", type().resource + "/" + name});
  Eventually("the workload has 2 replicas again", [&] { return At(kube().Get(type(), name), "/spec/replicas") == 2; });
  PatchTemplate("web", {{"spec", {{"replicas", nullptr}}}});
  WaitUntilObserved("web");
  EXPECT_EQ(At(kube().Get(type(), name), "/spec/replicas"), 2);
  Kubectl({"scale", "--replicas=5", type().resource + "/" + name});
  kube().MergePatch(type(), name, {{"metadata", {{"labels", {{"app", "broken"}}}}}});
  Eventually("the label is repaired", [&] { return Label(WorkloadOf("web", pool), "app") == "web"; });
  EXPECT_EQ(At(kube().Get(type(), name), "/spec/replicas"), 5);
}

TEST_P(DriftOnceTest, LabelsRemovedFromAWorkloadAreRestoredAndNoSecondWorkloadIsCreated) {
  const std::string pool = StartWithOnePool();
  const Json before = WorkloadOf("web", pool);
  // Because it lacks the label pool-name, the workload leaves the operator's watch as if it were deleted.
  kube().MergePatch(type(), NameOf(before), {{"metadata", {{"labels", {{kPoolNameLabel, nullptr}}}}}});
  Eventually("label pool-name is restored", [&] { return Label(WorkloadOf("web", pool), kPoolNameLabel) == pool; });
  kube().MergePatch(type(), NameOf(before), {{"metadata", {{"labels", nullptr}}}});
  Eventually("all labels are restored", [&] {
    return At(kube().Get(type(), NameOf(before)), "/metadata/labels") == At(before, "/metadata/labels");
  });
  EXPECT_EQ(UidOf(WorkloadOf("web", pool)), UidOf(before));
  EXPECT_EQ(kube().List(type()).size(), 1U);
}

TEST_P(DriftOnceTest, ARemovedOwnerReferenceIsRestored) {
  const std::string pool = StartWithOnePool();
  const Json before = WorkloadOf("web", pool);
  kube().MergePatch(type(), NameOf(before), {{"metadata", {{"ownerReferences", nullptr}}}});
  Eventually("the daemon controls the workload again", [&] { return UidOf(WorkloadOf("web", pool)) == UidOf(before); });
  EXPECT_EQ(kube().List(type()).size(), 1U);
}

TEST_P(DriftOnceTest, AForeignWorkloadWithOurNameIsNeverChanged) {
  const std::string pool = StartWithOnePool();
  const Json ours = WorkloadOf("web", pool);
  Unselect(pool);
  WaitForPools("web", {});
  Eventually("the operator's workload is gone", [&] { return !kube().Find(type(), NameOf(ours)).has_value(); });
  const Json pod_labels = {{"app", "foreign"}};
  Json foreign = {{"metadata", {{"name", NameOf(ours)}}},
                  {"spec",
                   {{"replicas", 0},
                    {"selector", {{"matchLabels", pod_labels}}},
                    {"template",
                     {{"metadata", {{"labels", pod_labels}}},
                      {"spec", {{"containers", {{{"name", "f"}, {"image", "example.org/foreign:1"}}}}}}}}}}};
  if (kind() == WorkloadKind::kStatefulSet) foreign["spec"]["serviceName"] = "foreign";
  const std::string uid = UidOf(kube().Create(type(), foreign));
  const std::string good = AddPool("good");
  Select(pool);
  const Json daemon = WaitForStatus("web", "the conflict is reported", [&](const Json& status) {
    const Json entry = PoolStatus({{"status", status}}, pool);
    return StringAt(entry, {"phase"}) == "Failed" && StringAt(entry, {"reason"}) == "WorkloadConflict" &&
           At(status, "/readyPools") == 1;
  });
  EXPECT_EQ(At(daemon, "/status/failedPools"), 1);
  EXPECT_EQ(ConditionStatus(daemon, "WorkLoadFailure"), "True");
  const Json after = kube().Get(type(), NameOf(ours));
  EXPECT_EQ(UidOf(after), uid);
  EXPECT_EQ(At(after, "/metadata/generation"), 1);
  EXPECT_EQ(At(after, "/metadata/ownerReferences"), Json());
  EXPECT_EQ(Label(after, kPoolNameLabel), "");
  WaitForPools("web", {good});
  // The foreign workload has the operator's name for this pool. After its deletion, the operator creates the pool's
  // workload.
  kube().Delete(type(), NameOf(ours));
  WaitForPools("web", {good, pool});
  WaitUntilReady("web");
}

TEST_P(DriftOnceTest, AWorkloadOfAnotherControllerIsNeverChangedWhateverItsLabels) {
  const std::string pool = StartWithOnePool();
  const Json ours = WorkloadOf("web", pool);
  Unselect(pool);
  WaitForPools("web", {});
  Eventually("the operator's workload is gone", [&] { return !kube().Find(type(), NameOf(ours)).has_value(); });
  // A copy of the operator's workload with another controller. The controller exists, so the garbage collector keeps
  // the copy.
  Json foreign = {{"metadata", ours["metadata"]}, {"spec", ours["spec"]}};
  for (const char* field : {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"}) {
    foreign["metadata"].erase(field);
  }
  foreign["metadata"]["ownerReferences"][0]["kind"] = "Namespace";
  foreign["metadata"]["ownerReferences"][0]["apiVersion"] = "v1";
  foreign["metadata"]["ownerReferences"][0]["name"] = ns();
  foreign["metadata"]["ownerReferences"][0]["uid"] = UidOf(kube().Get(kNamespaceType, ns()));
  const std::string uid = UidOf(kube().Create(type(), foreign));
  Select(pool);
  WaitForStatus("web", "the conflict is reported", [&](const Json& status) {
    return StringAt(PoolStatus({{"status", status}}, pool), {"reason"}) == "WorkloadConflict";
  });
  const Json after = kube().Get(type(), NameOf(ours));
  EXPECT_EQ(UidOf(after), uid);
  EXPECT_EQ(At(after, "/metadata/generation"), 1);
  EXPECT_EQ(At(after, "/metadata/ownerReferences"), foreign["metadata"]["ownerReferences"]);
}

}  // namespace
}  // namespace yad::testing
