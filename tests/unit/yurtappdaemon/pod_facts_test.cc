#include "operator/yurtappdaemon/observe/pod_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/yurtappdaemon/observe/pool_phase.h"
#include "tests/unit/yurtappdaemon/pods.h"

namespace yad {
namespace {

using namespace testing;
using ::testing::HasSubstr;

const WallTime kReadAt = ParseTime("2026-01-02T03:04:05Z");

// Returns "reason: message", or "-" if there is no problem.
std::string FaultOf(const Json& pod) {
  const auto problem = ExaminePod(pod, kReadAt).problem;
  return problem ? problem->reason + ": " + problem->message : "-";
}

TEST(PodFactsTest, AReadyPodHasNoProblem) {
  const PodFacts facts = ExaminePod(ReadyPod(), kReadAt);
  EXPECT_TRUE(facts.ready);
  EXPECT_FALSE(facts.problem);
  EXPECT_EQ(facts.revision, "r1");
}

TEST(PodFactsTest, NewPodHasNoProblem) { EXPECT_EQ(FaultOf(PodOf("p")), "-"); }

TEST(PodFactsTest, UnschedulablePodHasTheSchedulersMessage) {
  EXPECT_EQ(FaultOf(UnschedulablePod("0/2 nodes are available: 2 Insufficient memory. preemption: none")),
            "Unschedulable: 0 nodes are available: Insufficient memory");
}

TEST(PodFactsTest, AnImageThatCannotBePulledHasOneReasonForAllKubeletErrors) {
  const char* const problem = "ImagePullBackOff: container \"main\": image \"app:1\" can't be pulled: no such tag";
  EXPECT_EQ(FaultOf(WaitingIn("ErrImagePull", "no such tag")), problem);
  EXPECT_EQ(FaultOf(WaitingIn("ImagePullBackOff", "Back-off pulling image \"app:1\": ErrImagePull: no such tag")),
            problem);
  EXPECT_EQ(FaultOf(WaitingIn("ImagePullBackOff", "Back-off pulling image \"app:1\"")),
            "ImagePullBackOff: container \"main\": image \"app:1\" can't be pulled");
  EXPECT_EQ(FaultOf(WaitingIn("InvalidImageName", "couldn't parse")),
            "ImagePullBackOff: container \"main\": image \"app:1\" is not a valid name");
  EXPECT_EQ(FaultOf(WaitingIn("ErrImageNeverPull", "absent")),
            "ImagePullBackOff: container \"main\": image \"app:1\" is not on the node, and imagePullPolicy is Never");
}

TEST(PodFactsTest, CrashedContainerIsReportedWithItsExitCodeAfterItsRestart) {
  const char* const problem = "CrashLoopBackOff: container \"main\" ended with exit code 3";
  EXPECT_EQ(FaultOf(CrashingPod(3)), problem);
  EXPECT_EQ(FaultOf(PodIn(Ended(3))), problem);
  EXPECT_EQ(FaultOf(PodIn({{"running", {{"startedAt", "2026-01-02T03:04:00Z"}}}}, Ended(3))), problem);
  EXPECT_EQ(FaultOf(CrashingPod(0)), "CrashLoopBackOff: container \"main\" ended with exit code 0")
      << "the container must keep running, so exit code 0 is also a failure";
}

TEST(PodFactsTest, ContainerThatEndedWithItsNodeHasNotCrashed) {
  const Json running = {{"running", {{"startedAt", "2026-01-02T03:04:00Z"}}}};
  EXPECT_EQ(FaultOf(PodIn(running, Ended(255, "Unknown"))), "-");
  EXPECT_EQ(FaultOf(PodIn(running, Ended(137, "ContainerStatusUnknown"))), "-");
  EXPECT_THAT(FaultOf(PodIn(running, Ended(255, "Error"))), HasSubstr("CrashLoopBackOff"));
}

TEST(PodFactsTest, InitContainerThatNeverEndsIsReported) {
  Json pod = WaitingIn("PodInitializing");
  pod["status"]["phase"] = "Pending";
  pod["status"]["initContainerStatuses"] =
      R"([{"name": "wait", "ready": false, "state": {"running": {"startedAt": "2026-01-02T03:00:00Z"}}}])"_json;
  Json& condition = pod["status"]["conditions"].emplace_back(
      R"({"type": "Initialized", "status": "False", "reason": "ContainersNotInitialized",
          "message": "containers with incomplete status: [wait]", "lastTransitionTime": "2026-01-02T03:03:50Z"})"_json);
  EXPECT_EQ(FaultOf(pod), "-") << "the container has just started";
  condition["lastTransitionTime"] = "2026-01-02T03:03:00Z";
  EXPECT_EQ(FaultOf(pod), "ContainersNotReady: containers with incomplete status: [wait]");
}

TEST(PodFactsTest, OldCrashIsIgnored) {
  EXPECT_THAT(FaultOf(PodIn({{"running", {{"startedAt", "2026-01-02T02:00:00Z"}}}}, Ended(3))),
              ::testing::Not(HasSubstr("CrashLoopBackOff")));
}

TEST(PodFactsTest, ContainerThatCannotStartIsACrashWithTheRuntimesMessage) {
  const char* const problem = "CrashLoopBackOff: container \"main\" can't be started: exec: \"run\": not found";
  EXPECT_EQ(FaultOf(WaitingIn("RunContainerError", "exec: \"run\": not found")), problem);
  EXPECT_EQ(FaultOf(PodIn({{"waiting", {{"reason", "CrashLoopBackOff"}}}},
                          Ended(128, "StartError", "exec: \"run\": not found"))),
            problem);
}

TEST(PodFactsTest, ProblemOfAnInitContainerIsReportedAndItsSuccessIsNot) {
  Json pod = WaitingIn("PodInitializing");
  pod["spec"]["initContainers"] = R"([{"name": "setup", "image": "setup:1"}])"_json;
  Json& init = pod["status"]["initContainerStatuses"];
  init = R"([{"name": "setup", "ready": false}])"_json;
  init[0]["state"] = {{"waiting", {{"reason", "CrashLoopBackOff"}}}};
  init[0]["lastState"] = Ended(7);
  EXPECT_EQ(FaultOf(pod), "CrashLoopBackOff: init container \"setup\" ended with exit code 7");
  init[0].erase("lastState");
  init[0]["state"] = Ended(0, "Completed");
  EXPECT_EQ(FaultOf(pod), "-");
}

TEST(PodFactsTest, OutOfMemoryIsReportedWithTheLimitDuringBackOff) {
  Json pod = PodIn({{"waiting", {{"reason", "CrashLoopBackOff"}}}}, Ended(137, "OOMKilled"));
  EXPECT_EQ(FaultOf(pod), "OOMKilled: container \"main\" was killed because it ran out of memory");
  pod["spec"]["containers"][0]["resources"]["limits"]["memory"] = "64Mi";
  EXPECT_EQ(FaultOf(pod), "OOMKilled: container \"main\" was killed because it ran out of memory; its limit is 64Mi");
}

TEST(PodFactsTest, MissingConfigMapOrSecretIsReportedAsAMissingDependency) {
  const Json pod = WaitingIn("CreateContainerConfigError", "configmap \"settings\" not found");
  EXPECT_EQ(FaultOf(pod), "CreateContainerConfigError: container \"main\": configmap \"settings\" not found");
  EXPECT_TRUE(ExaminePod(pod, kReadAt).problem->missing);
  const Json root =
      WaitingIn("CreateContainerConfigError",
                "container has runAsNonRoot and image will run as root (pod: \"p_ns(u)\", container: main)");
  EXPECT_EQ(FaultOf(root),
            "CreateContainerConfigError: container \"main\": container has runAsNonRoot and image will run as root");
  EXPECT_FALSE(ExaminePod(root, kReadAt).problem->missing);
}

TEST(PodFactsTest, UnknownWaitingReasonIsReported) {
  EXPECT_EQ(FaultOf(WaitingIn("PreCreateHookError", "no")),
            "CreateContainerError: container \"main\": PreCreateHookError: no");
}

TEST(PodFactsTest, NodeThatIsNotReadyIsReported) {
  EXPECT_EQ(FaultOf(LostPod()), "NodeNotReady: node n1 is not ready");
  Json evicted = LostPod();
  evicted["metadata"]["deletionTimestamp"] = "2026-01-02T03:00:00Z";
  EXPECT_EQ(FaultOf(evicted), "NodeNotReady: node n1 is not ready") << "the pod waits until its kubelet stops it";
  EXPECT_TRUE(ExaminePod(evicted, kReadAt).leaving);
  Json gated = LostPod();
  gated["status"]["conditions"][0]["reason"] = "ReadinessGatesNotReady";
  EXPECT_THAT(FaultOf(gated), ::testing::Not(HasSubstr("NodeNotReady")));
}

TEST(PodFactsTest, RunningPodHasAProblemAfterALongTimeWithoutBecomingReady) {
  Json pod = PodIn({{"running", {{"startedAt", "2026-01-02T03:00:00Z"}}}});
  EXPECT_EQ(FaultOf(pod), "-") << "the container has just started";
  pod["status"]["conditions"][1]["lastTransitionTime"] = "2026-01-02T03:03:00Z";
  EXPECT_EQ(FaultOf(pod), "ContainersNotReady: containers with unready status: [main]");
}

TEST(PodFactsTest, OnlyAPodThatWaitsLongForItsContainersNeedsItsEvents) {
  Json pod = CreatingPod();
  EXPECT_EQ(ExaminePod(pod, kReadAt).waiting_uid, "uid-p");
  pod["status"]["conditions"][0]["lastTransitionTime"] = "2026-01-02T03:04:04Z";
  EXPECT_EQ(ExaminePod(pod, kReadAt).waiting_uid, "");
  EXPECT_EQ(ExaminePod(CrashingPod(1), kReadAt).waiting_uid, "");
  EXPECT_EQ(ExaminePod(PodOf("p"), kReadAt).waiting_uid, "");
}

TEST(PodFactsTest, EvictedPodDoesNotCountButHasAProblem) {
  Json pod = PodOf("p");
  pod["status"] = {{"phase", "Failed"},
                   {"reason", "Evicted"},
                   {"message", "The node was low on resource: memory. Threshold quantity: 100Mi, available: 3Mi"}};
  EXPECT_EQ(FaultOf(pod), "PodFailed: Evicted: The node was low on resource: memory");
  EXPECT_TRUE(ExaminePod(pod, kReadAt).leaving);
}

TEST(PodFactsTest, MalformedPodHasNoProblem) {
  for (const char* text :
       {"{}", R"({"status": 7})", R"({"status": {"conditions": {}, "containerStatuses": [1, null]}})",
        R"({"status": {"phase": [], "initContainerStatuses": "x"}, "spec": {"containers": 0}})"}) {
    EXPECT_EQ(FaultOf(Json::parse(text)), "-") << text;
  }
}

TEST(PodFactsTest, ProblemsAreOrderedBySeverityAndThenByMessage) {
  const char* const order[] = {"OOMKilled",
                               "CrashLoopBackOff",
                               "CreateContainerConfigError",
                               "CreateContainerError",
                               "ImagePullBackOff",
                               "FailedMount",
                               "FailedCreatePodSandBox",
                               "NodeNotReady",
                               "Unschedulable",
                               "QuotaExceeded",
                               "FailedCreate",
                               "PodFailed",
                               "ContainersNotReady"};
  for (std::size_t i = 0; i + 1 < std::size(order); ++i) {
    EXPECT_TRUE(IsWorse({order[i], "z", false}, {order[i + 1], "a", false})) << order[i];
    EXPECT_FALSE(IsWorse({order[i + 1], "a", false}, {order[i], "z", false})) << order[i];
    EXPECT_TRUE(IsPodProblem(order[i]));
  }
  EXPECT_TRUE(IsWorse({"Unschedulable", "a", false}, {"Unschedulable", "b", false}))
      << "equal reasons are ordered by message";
  EXPECT_FALSE(IsPodProblem("WorkloadConflict"));
  EXPECT_FALSE(IsPodProblem(""));
}

TEST(FaultOfEventsTest, MountProblemHasTheKubeletsMessage) {
  const auto problem = ProblemOfEvents(
      {WarningEvent("Unhealthy", "probe failed"), WarningEvent("FailedMount",
                                                               "MountVolume.SetUp failed for volume \"cfg\" : "
                                                               "configmap \"settings\" not found")},
      kReadAt);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->reason, "FailedMount");
  EXPECT_EQ(problem->message, "MountVolume.SetUp failed for volume \"cfg\" : configmap \"settings\" not found");
  EXPECT_TRUE(problem->missing);
  EXPECT_FALSE(ProblemOfEvents({WarningEvent("Unhealthy", "probe failed")}, kReadAt));
}

TEST(FaultOfEventsTest, SummaryIsUsedOnlyWithoutAnotherEvent) {
  const Json sum = WarningEvent("FailedMount", "Unable to attach or mount volumes: timed out");
  EXPECT_THAT(ProblemOfEvents({sum}, kReadAt)->message, HasSubstr("timed out"));
  EXPECT_EQ(ProblemOfEvents({sum, WarningEvent("FailedAttachVolume", "no such disk")}, kReadAt)->message,
            "no such disk");
}

TEST(FaultOfEventsTest, NewestEventIsReported) {
  EXPECT_EQ(ProblemOfEvents({WarningEvent("FailedMount", "a: old", "2026-01-02T02:00:00Z"),
                             WarningEvent("FailedMount", "b: new", "2026-01-02T03:00:00Z")},
                            kReadAt)
                ->message,
            "b: new");
}

TEST(FaultOfEventsTest, ProblemBeforeAnImagePullIsIgnored) {
  const auto pulling = [](const std::string& time) {
    Json event = WarningEvent("Pulling", "Pulling image \"app:1\"", time);
    event["type"] = "Normal";
    return event;
  };
  for (const char* reason : {"FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox"}) {
    const Json failed = WarningEvent(reason, "timed out", "2026-01-02T03:01:00Z");
    EXPECT_FALSE(ProblemOfEvents({failed, pulling("2026-01-02T03:01:03Z")}, kReadAt)) << reason;
    EXPECT_TRUE(ProblemOfEvents({pulling("2026-01-02T03:00:57Z"), failed}, kReadAt)) << reason;
  }
  const Json old = WarningEvent("FailedCreate", "pods \"p\" is forbidden: no", "2026-01-02T03:00:00Z");
  EXPECT_TRUE(ProblemOfEvents({old, pulling("2026-01-02T03:04:00Z")}, kReadAt));
}

TEST(FaultOfEventsTest, LastEventExpiresAfterSomeMinutes) {
  const std::vector<Json> events{WarningEvent("FailedMount", "a: timed out", "2026-01-02T03:04:00Z")};
  EXPECT_TRUE(ProblemOfEvents(events, kReadAt + std::chrono::minutes(5)));
  EXPECT_FALSE(ProblemOfEvents(events, kReadAt + std::chrono::minutes(7)));
}

TEST(FaultOfEventsTest, QuotaRejectionOfAStatefulSetIsReported) {
  const auto problem = ProblemOfEvents(
      {WarningEvent("FailedCreate",
                    "create Pod web-0 in StatefulSet web failed error: pods \"web-0\" is forbidden: exceeded quota: "
                    "small, requested: pods=1, used: pods=0, limited: pods=0")},
      kReadAt);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->reason, "QuotaExceeded");
  EXPECT_EQ(problem->message, "exceeded quota: small, requested: pods=1, limited: pods=0");
}

}  // namespace
}  // namespace yad
