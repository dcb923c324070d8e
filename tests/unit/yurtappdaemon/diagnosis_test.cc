// The rules for `pools[].state` and for the reported problem.
#include "operator/yurtappdaemon/diagnose/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/yurtappdaemon/pods.h"

namespace yad {
namespace {

using namespace testing;

const WallTime kNow = ParseTime("2026-01-02T03:04:05Z");

// Returns the state of a workload with two replicas that are not ready.
WorkloadState Unhealthy() {
  WorkloadState state;
  state.seen = state.observed = true;
  state.wanted = state.replicas = 2;
  return state;
}
WorkloadState Rolling() {
  WorkloadState state = Unhealthy();
  state.rolling = true;
  return state;
}

struct DiagnosisCase {
  WorkloadState workload = Unhealthy();
  bool deleting = false;
  bool gave_up = false;
  std::vector<Json> pods = {};
  std::optional<PodProblem> seen = std::nullopt;

  Diagnosis Diagnose() const {
    std::vector<PodFacts> facts;
    for (const Json& pod : pods) facts.push_back(ExaminePod(pod, kNow));
    return yad::Diagnose({workload, deleting, gave_up}, facts, seen);
  }
  std::string State() const { return Diagnose().state; }
};

Json MissingPod(const std::string& name = "m", const std::string& revision = "r1") {
  return WaitingIn("CreateContainerConfigError", "secret \"key\" not found", name, revision);
}

TEST(StateTest, WorkloadThatIsBeingDeletedHasStateDestroy) {
  EXPECT_EQ((DiagnosisCase{.deleting = true, .pods = {ReadyPod()}}.State()), "Destroy");
  EXPECT_EQ((DiagnosisCase{.deleting = true, .pods = {MissingPod()}}.State()), "Destroy")
      << "a deletion has precedence over a missing dependency";
  EXPECT_EQ(StateOf({Unhealthy(), true, false}), "Destroy");
}

TEST(StateTest, WorkloadWithAMissingDependencyHasStateWaiting) {
  EXPECT_EQ((DiagnosisCase{.pods = {MissingPod(), CrashingPod(1)}}.State()), "Waiting");
  EXPECT_EQ((DiagnosisCase{.workload = Rolling(), .pods = {MissingPod()}}.State()), "Waiting");
  EXPECT_EQ((DiagnosisCase{.seen = PodProblem{kFailedCreate, "serviceaccount \"x\" not found", true}}.State()),
            "Waiting");
}

TEST(StateTest, WorkloadThatItsControllerHasNotObservedHasStateCreated) {
  WorkloadState state = Unhealthy();
  state.seen = state.observed = false;
  EXPECT_EQ(DiagnosisCase{.workload = state}.State(), "Created");
  EXPECT_EQ(StateOf({state, false, false}), "Created");
}

TEST(StateTest, WorkloadWithZeroReplicasHasStateReady) {
  WorkloadState state = Unhealthy();
  state.wanted = 0;
  EXPECT_EQ((DiagnosisCase{.workload = state, .pods = {CrashingPod(1)}}.State()), "Ready");
  EXPECT_EQ(StateOf({state, false, false}), "Ready");
}

TEST(StateTest, WorkloadWhosePodsAreReadyHasStateReady) {
  WorkloadState state = Unhealthy();
  state.ready_replicas = 2;
  EXPECT_EQ((DiagnosisCase{.workload = state, .pods = {ReadyPod("a"), ReadyPod("b")}}.State()), "Ready");
  EXPECT_EQ(StateOf({state, false, false}), "Ready");
  state.ready_replicas = 1;
  EXPECT_NE((DiagnosisCase{.workload = state, .pods = {ReadyPod("a")}}.State()), "Ready")
      << "the second pod is missing";
}

TEST(StateTest, FailedPodWithoutAReadyOneGivesStateErrorWithItsMessage) {
  const Diagnosis diagnosis =
      DiagnosisCase{.workload = Rolling(), .pods = {CreatingPod("a"), CrashingPod(3, "b")}}.Diagnose();
  EXPECT_EQ(diagnosis.state, "Error");
  EXPECT_EQ(diagnosis.reason, "CrashLoopBackOff");
  EXPECT_EQ(diagnosis.message, "container \"main\" ended with exit code 3");
  const Json unplaced = UnschedulablePod("0/1 nodes are available: 1 Insufficient cpu.", "c");
  EXPECT_EQ((DiagnosisCase{.pods = {unplaced, CrashingPod(3, "b")}}.Diagnose().reason), "CrashLoopBackOff");
}

TEST(StateTest, FailedPodBesideAReadyOneOfItsRevisionGivesStateDegraded) {
  EXPECT_EQ((DiagnosisCase{.pods = {ReadyPod("a"), CrashingPod(3, "b")}}.State()), "Degraded");
}

TEST(StateTest, ProgressingWorkloadHasStateProvision) {
  EXPECT_EQ((DiagnosisCase{.workload = Rolling(), .pods = {CreatingPod()}}.State()), "Provision");
  EXPECT_EQ(StateOf({Rolling(), false, false}), "Provision");
  const Json unplaced = UnschedulablePod("0/1 nodes are available: 1 Insufficient cpu.");
  EXPECT_EQ((DiagnosisCase{.workload = Rolling(), .pods = {unplaced}}.State()), "Provision")
      << "a node may be added before the deadline";
  EXPECT_EQ((DiagnosisCase{.pods = {ReadyPod("a"), CreatingPod("b")}}.State()), "Provision") << "pod b has no problem";
}

TEST(StateTest, OtherProblemsGiveStateDegraded) {
  const Json unplaced = UnschedulablePod("0/1 nodes are available: 1 Insufficient cpu.");
  EXPECT_EQ((DiagnosisCase{.pods = {unplaced}}.State()), "Degraded") << "the controller has created all pods";
  EXPECT_EQ((DiagnosisCase{.workload = Rolling(), .gave_up = true, .pods = {unplaced}}.State()), "Degraded");
  EXPECT_EQ((DiagnosisCase{.workload = Rolling(), .gave_up = true}.State()), "Degraded");
  EXPECT_EQ((DiagnosisCase{.pods = {LostPod("a"), LostPod("b")}}.State()), "Degraded");
  WorkloadState late = Rolling();
  late.progress_deadline_exceeded = true;
  EXPECT_EQ((DiagnosisCase{.workload = late, .pods = {CreatingPod()}}.State()), "Degraded");
  EXPECT_EQ(StateOf({late, false, false}), "Degraded");
}

TEST(StateTest, ProblemOfANewRevisionIsReportedWithTheStateOfTheServingRevision) {
  for (const Json& bad : {CrashingPod(1, "n", "r2"), MissingPod("n", "r2"), WaitingIn("ErrImagePull", "no", "n", "r2"),
                          UnschedulablePod("0/1 nodes are available: 1 Insufficient cpu.", "n", "r2")}) {
    const Diagnosis diagnosis =
        DiagnosisCase{.workload = Rolling(), .pods = {bad, ReadyPod("a"), ReadyPod("b")}}.Diagnose();
    EXPECT_EQ(diagnosis.state, "Ready") << bad;
    EXPECT_NE(diagnosis.reason, "") << bad;
    EXPECT_NE(diagnosis.message, "") << bad;
    EXPECT_EQ((DiagnosisCase{.workload = Rolling(), .gave_up = true, .pods = {bad, ReadyPod("a")}}.State()), "Ready");
    EXPECT_EQ((DiagnosisCase{.pods = {bad, ReadyPod("a"), CrashingPod(2, "b")}}.State()), "Degraded")
        << "the serving revision is degraded";
  }
  EXPECT_EQ((DiagnosisCase{.workload = Rolling(), .pods = {CreatingPod("n", "r2"), ReadyPod("a")}}.State()),
            "Provision")
      << "the new revision has no problem";
}

TEST(StateTest, RejectedPodsOfANewRevisionAreReportedBesideAServingRevision) {
  WorkloadState state = Rolling();
  state.ready_replicas = 2;
  state.rejection = "exceeded quota: small, requested: pods=1, limited: pods=2";
  const Diagnosis diagnosis = DiagnosisCase{.workload = state, .pods = {ReadyPod("a"), ReadyPod("b")}}.Diagnose();
  EXPECT_EQ(diagnosis.state, "Ready");
  EXPECT_EQ(diagnosis.reason, "QuotaExceeded");
  EXPECT_EQ(diagnosis.message, state.rejection);
}

TEST(StateTest, PodThatIsBeingDeletedDoesNotCountButCanExplainAProblem) {
  Json leaving = CrashingPod(1);
  leaving["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:00Z";
  EXPECT_EQ((DiagnosisCase{.pods = {leaving}}.State()), "Provision");
  Json lost = LostPod();
  lost["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:00Z";
  const Json unplaced = UnschedulablePod("0/1 nodes are available: 1 node(s) had untolerated taint {x: }.", "q");
  EXPECT_EQ((DiagnosisCase{.pods = {unplaced, lost}}.Diagnose().reason), "NodeNotReady")
      << "the lost node is the reason why the other pod has no node";
}

TEST(DiagnosisTest, TheOrderOfThePodsDoesNotMatter) {
  std::vector<Json> pods = {CrashingPod(1, "a"), CrashingPod(2, "b"), MissingPod(),
                            ReadyPod("c"),       CreatingPod("d"),    WaitingIn("ErrImagePull", "no", "e")};
  const Diagnosis first = DiagnosisCase{.pods = pods}.Diagnose();
  EXPECT_EQ(first.reason, "CrashLoopBackOff");
  for (int i = 0; i < 6; ++i) {
    std::rotate(pods.begin(), pods.begin() + 1, pods.end());
    const Diagnosis again = DiagnosisCase{.pods = pods}.Diagnose();
    EXPECT_EQ(again.state, first.state);
    EXPECT_EQ(again.message, first.message);
  }
}

TEST(DiagnosisTest, ReasonIsEmptyWithoutAProblem) {
  const Diagnosis diagnosis = DiagnosisCase{.workload = Rolling()}.Diagnose();
  EXPECT_EQ(diagnosis.reason, "");
  EXPECT_EQ(diagnosis.message, "");
  EXPECT_EQ(diagnosis.state, StateOf({Rolling(), false, false})) << "the same state as without a list of pods";
}

}  // namespace
}  // namespace yad
