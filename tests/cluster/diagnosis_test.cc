// The reasons in status for pools that are not ready. No kubelet runs here, so the tests write the status of the pods.
// The controllers and the scheduler are real.
#include "tests/cluster/fixture.h"

namespace yad::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr char kKwokStatusAnnotation[] = "kwok.x-k8s.io/status";  // with the value "custom", KWOK ignores the object
constexpr char kApp1[] = "example.org/app:1";

std::string SecondsAgo(int seconds) { return FormatTime(Clock::Real().WallNow() - std::chrono::seconds(seconds)); }

// Returns a pod's status as a kubelet writes it. Container "main" is in state `state`, and was in state `last` before.
Json KubeletStatus(bool ready, const Json& state, const Json& last = nullptr) {
  Json container = {{"name", "main"}, {"image", kApp1},    {"imageID", ""},
                    {"ready", ready}, {"restartCount", 0}, {"state", state}};
  if (!last.is_null()) container["lastState"] = last;
  const auto condition = [](const char* type, bool holds) -> Json {
    return {{"type", type}, {"status", holds ? "True" : "False"}, {"lastTransitionTime", SecondsAgo(20)}};
  };
  Json conditions = {condition("PodScheduled", true), condition("Initialized", true)};
  for (const char* type : {"Ready", "ContainersReady"}) {
    conditions.push_back(condition(type, ready));
    if (ready) continue;
    conditions.back()["reason"] = "ContainersNotReady";
    conditions.back()["message"] = "containers with unready status: [main]";
  }
  return {{"phase", state.contains("waiting") ? "Pending" : "Running"},
          {"conditions", conditions},
          {"containerStatuses", Json::array({container})}};
}
Json Runs() { return KubeletStatus(true, {{"running", {{"startedAt", SecondsAgo(20)}}}}); }
Json Waits(const std::string& reason, const std::string& message = "", const Json& last = nullptr) {
  return KubeletStatus(false, {{"waiting", {{"reason", reason}, {"message", message}}}}, last);
}
Json Ended(int exit_code, const std::string& reason) {
  return {{"terminated", {{"exitCode", exit_code}, {"reason", reason}, {"containerID", "containerd://1"}}}};
}

class DiagnosisTest : public BothKinds {
 protected:
  // Creates a daemon with one pod in each pool. KWOK ignores these pods.
  void Deploy(const Json& more = Json::object()) {
    Json daemon = Daemon("web", 1);
    Json& workload = daemon["spec"]["workloadTemplate"][TemplateField(kind())]["spec"];
    workload.update(more);
    workload["template"]["metadata"]["annotations"][kKwokStatusAnnotation] = "custom";
    Json& pod = workload["template"]["spec"];
    pod["terminationGracePeriodSeconds"] = 0;  // no kubelet terminates these pods
    pod["containers"][0]["resources"]["limits"]["memory"] = "64Mi";
    CreateDaemon(daemon);
  }
  // Blocks until the pool has a pod with this image on a node. Returns the pod.
  Json PodOf(const std::string& pool, const std::string& image = kApp1) {
    Json found;
    Eventually(pool + " has a pod", [&] {
      for (const Json& pod : kube().List(kPodType, std::string(kPoolNameLabel) + "=" + pool)) {
        const bool placed = !StringAt(pod, {"spec", "nodeName"}).empty();
        if (placed && At(pod, "/spec/containers/0/image") == image) found = pod;
      }
      return !found.is_null();
    });
    return found;
  }
  void SetStatus(const std::string& pool, const Json& status, const std::string& image = kApp1) {
    kube().MergePatch(kPodType, NameOf(PodOf(pool, image)), {{"status", status}}, "status");
  }
  // Creates an Event in a kubelet's format.
  void CreateWarning(const Json& pod, const std::string& reason, const std::string& message) {
    const ResourceType events{"", "v1", "events", "Event", true};
    kube().Create(
        events, {{"metadata", {{"name", NameOf(pod) + ".1"}}},
                 {"involvedObject", {{"kind", "Pod"}, {"namespace", ns()}, {"name", NameOf(pod)}, {"uid", UidOf(pod)}}},
                 {"reason", reason},
                 {"message", message},
                 {"type", "Warning"},
                 {"source", {{"component", "kubelet"}}},
                 {"count", 1},
                 {"firstTimestamp", SecondsAgo(5)},
                 {"lastTimestamp", SecondsAgo(5)}});
  }
  // Writes the conditions of a node whose kubelet does not report. The node controller would do this only after a day.
  void LoseNode(const std::string& node, const std::string& pool) {
    kube().MergePatch(kNodeType, node, {{"metadata", {{"annotations", {{kKwokStatusAnnotation, "custom"}}}}}});
    const Json unknown = {{"type", "Ready"}, {"status", "Unknown"}, {"reason", "NodeStatusUnknown"}};
    kube().MergePatch(kNodeType, node, {{"status", {{"conditions", {unknown}}}}}, "status");
    Json status = Runs();
    for (Json& condition : status["conditions"]) {
      if (condition["type"] == "Ready") condition["status"] = "False";
    }
    SetStatus(pool, status);
  }
  Json WaitForReason(const std::string& pool, const std::string& reason) {
    const Json daemon = WaitForStatus("web", pool + " reports " + reason, [&](const Json& status) {
      return StringAt(PoolStatus({{"status", status}}, pool), {"reason"}) == reason;
    });
    return PoolStatus(daemon, pool);
  }
  std::size_t PodLists() {
    std::size_t count = 0;
    for (const AuditedRequest& request : plane().RequestsOf(SharedInstall()->ns(), SharedInstall()->name()))
      count += request.resource == "pods" && request.verb == "list" && request.ns == ns();
    return count;
  }
  // The expected status of a pool whose pods fail.
  struct Expected {
    std::string pool, reason, state, message;
  };
  void ExpectReported(const Expected& expected) {
    const Json entry = WaitForReason(expected.pool, expected.reason);
    EXPECT_EQ(StringAt(entry, {"state"}), expected.state) << entry;
    EXPECT_THAT(StringAt(entry, {"message"}), StartsWith(expected.message)) << entry;
    // If the pod on the lost node was ready for a moment, the pool is Unhealthy and not Updating.
    const bool was_healthy =
        expected.reason == std::string("NodeNotReady") && StringAt(entry, {"phase"}) == "Unhealthy";
    EXPECT_TRUE(was_healthy || StringAt(entry, {"phase"}) == "Updating") << entry;
  }
  // Makes the pods of each pool fail in the way that the pool's name describes.
  void FailPods(std::map<std::string, std::string>& pools) {
    for (const char* name : {"fine", "lost"}) SetStatus(pools[name], Runs());
    SetStatus(pools["image"], Waits("ErrImagePull", "rpc error: code = NotFound desc = example.org/app:1: not found"));
    SetStatus(pools["crash"],
              Waits("CrashLoopBackOff", "back-off 10s restarting failed container=main", Ended(3, "Error")));
    SetStatus(pools["memory"],
              Waits("CrashLoopBackOff", "back-off 10s restarting failed container=main", Ended(137, "OOMKilled")));
    SetStatus(pools["config"], Waits("CreateContainerConfigError", "configmap \"settings\" not found"));
    SetStatus(pools["mount"], Waits("ContainerCreating"));
    CreateWarning(PodOf(pools["mount"]), "FailedMount",
                  "MountVolume.SetUp failed for volume \"key\" : secret \"key\" not found");
  }
};
INSTANTIATE_BOTH_KINDS(DiagnosisTest);

TEST_P(DiagnosisTest, EachPoolReportsTheFailureOfItsPods) {
  StartOperator();
  std::map<std::string, std::string> pools;
  for (const char* name : {"lost", "crash", "config", "fine", "image", "memory", "mount"}) {
    pools[name] = AddPool(name);
    AddNode(pools[name]);  // "lost" has node-0
  }
  const std::string nowhere = AddPool("nowhere");
  Deploy();
  FailPods(pools);
  WaitForStatus("web", "two pools are ready", [](const Json& status) { return At(status, "/readyPools") == 2; });
  const std::string node = Pool("node-0");
  LoseNode(node, pools["lost"]);

  const bool deployment = kind() == WorkloadKind::kDeployment;
  const Expected all[] = {
      {pools["image"], "ImagePullBackOff", "Error",
       "container \"main\": image \"example.org/app:1\" can't be pulled: example.org/app:1: not found"},
      {pools["crash"], "CrashLoopBackOff", "Error", "container \"main\" ended with exit code 3"},
      {pools["memory"], "OOMKilled", "Error",
       "container \"main\" was killed because it ran out of memory; its limit is 64Mi"},
      {pools["config"], "CreateContainerConfigError", "Waiting",
       "container \"main\": configmap \"settings\" not found"},
      {pools["mount"], "FailedMount", "Waiting",
       "MountVolume.SetUp failed for volume \"key\" : secret \"key\" not found"},
      {pools["lost"], "NodeNotReady", "Degraded", "node " + node + " is not ready"},
      // Until its deadline, a Deployment reports progress.
      {nowhere, "Unschedulable", deployment ? "Provision" : "Degraded",
       "0 nodes are available: node(s) didn't match Pod's node affinity/selector"},
  };
  for (const Expected& expected : all) ExpectReported(expected);
  const Json fine = PoolStatus(GetDaemon("web"), pools["fine"]);
  EXPECT_EQ(StringAt(fine, {"state"}), "Ready");
  EXPECT_EQ(StringAt(fine, {"reason"}), "");
  const ProcessResult table =
      RunProcess({YAD_PLUGIN_BINARY, "--kubeconfig=" + plane().kubeconfig(), "-n", ns(), "pools", "web", "-o", "wide"});
  EXPECT_THAT(table.out, AllOf(HasSubstr("OOMKilled"), HasSubstr("Waiting"), HasSubstr("configmap \"settings\"")));

  // Another failure of the same kind does not cause a write. The recovery causes one write.
  const WallTime begin = Now();
  const std::size_t lists = PodLists();
  SetStatus(pools["crash"],
            Waits("CrashLoopBackOff", "back-off 2m40s restarting failed container=main", Ended(3, "Error")));
  SetStatus(pools["image"], Waits("ImagePullBackOff", "Back-off pulling image \"example.org/app:1\""));
  Eventually("the operator has read the pods of all pools again", [&] { return PodLists() >= lists + 7; });
  EXPECT_THAT(ToString(WritesSince(begin)), IsEmpty());
  SetStatus(pools["image"], Runs());
  WaitForStatus("web", "image is Ready", [&](const Json& status) {
    const Json entry = PoolStatus({{"status", status}}, pools["image"]);
    return StringAt(entry, {"state"}) == "Ready" && !entry.contains("reason") && !entry.contains("message");
  });
}

TEST_P(DiagnosisTest, AQuotaThatRejectsPodsIsReported) {
  StartOperator();
  const std::string pool = AddPool("a");
  AddNode(pool);
  kube().Create(kResourceQuotaType, {{"metadata", {{"name", "small"}}}, {"spec", {{"hard", {{"pods", "0"}}}}}});
  kube().MergePatch(kResourceQuotaType, "small", R"({"status": {"hard": {"pods": "0"}, "used": {"pods": "0"}}})"_json,
                    "status");
  CreateDaemon(Daemon("web", 1));
  const Json entry = WaitForReason(pool, "QuotaExceeded");
  EXPECT_EQ(StringAt(entry, {"message"}), "exceeded quota: small, requested: pods=1, limited: pods=0");
  EXPECT_EQ(StringAt(entry, {"phase"}), "Updating");
}

class FailingRevisionTest : public DiagnosisTest {};
INSTANTIATE_TEST_SUITE_P(Kind, FailingRevisionTest, ::testing::Values(WorkloadKind::kDeployment), KindName);

TEST_P(FailingRevisionTest, FailureIsReportedAndTheStateStaysReadyWhileTheOldRevisionServes) {
  StartOperator();
  const std::string pool = AddPool("a");
  AddNode(pool);
  Deploy({{"progressDeadlineSeconds", 3}});
  SetStatus(pool, Runs());
  WaitUntilReady("web");
  SetImage("web", "example.org/app:2");
  SetStatus(pool, Waits("ErrImagePull", "no such tag"), "example.org/app:2");
  const Json told = WaitForReason(pool, "ImagePullBackOff");
  EXPECT_EQ(StringAt(told, {"state"}), "Ready") << told;
  const Json daemon =
      WaitForStatus("web", "the pool has failed", [](const Json& s) { return At(s, "/failedPools") == 1; });
  const Json failed = PoolStatus(daemon, pool);
  EXPECT_EQ(StringAt(failed, {"state"}), "Ready") << failed;
  EXPECT_EQ(StringAt(failed, {"reason"}), "ImagePullBackOff") << failed;
  EXPECT_THAT(StringAt(failed, {"message"}), AllOf(HasSubstr("example.org/app:2"), HasSubstr("timed out progressing")));
  EXPECT_EQ(StringAt(ConditionOf(daemon, "WorkLoadFailure"), {"reason"}), "ImagePullBackOff");
  EXPECT_EQ(StringAt(ConditionOf(daemon, "Progressing"), {"reason"}), "ProgressDeadlineExceeded");
  EXPECT_EQ(IntAt(failed, {"readyReplicas"}), 1);
}

}  // namespace
}  // namespace yad::testing
