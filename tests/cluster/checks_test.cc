// The checks of a rollout with a real control plane: Jobs, and conditions of workloads. KWOK completes the pods of Jobs
// immediately.
#include "tests/cluster/rollout_fixture.h"

namespace yad::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

Json JobCheck(const Json& pod = Json::object(), const Json& spec = Json::object()) {
  Json pod_spec = {{"containers", {{{"name", "probe"}, {"image", "example.org/probe:1"}}}}};
  pod_spec.update(pod);
  Json job = {{"backoffLimit", 0}, {"template", {{"spec", pod_spec}}}};
  job.update(spec);
  return {{"name", "smoke"}, {"job", {{"spec", job}}}};
}

class ChecksTest : public RolloutFixture {
 protected:
  // Starts an operator and a daemon, and waits until the daemon is healthy in these pools.
  void Deployed(const std::vector<std::string>& pools, const Json& check) {
    Deploy(pools, {{"checks", Json::array({check})}});
  }
  void WaitUntilRolledOut(const std::string& image) {
    WaitForStatus("web", "the rollout is complete", [&](const Json& status) {
      const Json daemon = {{"status", status}};
      return StringAt(ConditionOf(daemon, "Complete"), {"reason"}) == "RolloutComplete";
    });
    EXPECT_EQ(ImageIn("a"), image);
    EXPECT_EQ(ImageIn("b"), image);
  }
  Json WaitForPhase(const std::string& pool, const std::string& phase) {
    const Json daemon = WaitForStatus("web", pool + " is " + phase, [&](const Json& status) {
      return At(PoolStatus({{"status", status}}, Pool(pool)), "/phase") == phase;
    });
    return PoolStatus(daemon, Pool(pool));
  }
  std::string ImageIn(const std::string& pool) { return ImageOf(WorkloadOf("web", Pool(pool))); }
  std::vector<Json> JobsIn(const std::string& pool) {
    return kube().List(kJobType, std::string(kPoolNameLabel) + "=" + Pool(pool));
  }
  // Returns the only Job of the pool.
  Json JobIn(const std::string& pool) {
    const std::vector<Json> jobs = JobsIn(pool);
    if (jobs.size() != 1) throw TestFailure(std::to_string(jobs.size()) + " Jobs in pool " + pool);
    return jobs.front();
  }
  // Sets a condition of the workload, as another tool would.
  void SetCondition(const std::string& pool, const std::string& status) {
    const Json workload = WorkloadOf("web", Pool(pool));
    Json conditions = At(workload, "/status/conditions");
    if (!conditions.is_array()) conditions = Json::array();
    conditions.push_back({{"type", "example.org/Tested"},
                          {"status", status},
                          {"reason", "Test"},
                          {"message", ""},
                          {"lastTransitionTime", FormatTime(Now())}});
    kube().MergePatch(type(), NameOf(workload), {{"status", {{"conditions", conditions}}}}, "status");
  }
};
INSTANTIATE_ONE_KIND(ChecksTest, WorkloadKind::kDeployment);

TEST_P(ChecksTest, EachUpdatedPoolRunsItsJobAndTheNextPoolWaits) {
  Deployed({"a", "b"}, JobCheck());
  EXPECT_THAT(JobsIn("a"), SizeIs(0)) << "a created workload needs no check";
  SetImage("web", "example.org/app:2");
  WaitUntilRolledOut("example.org/app:2");
  const Json first = JobIn("a"), second = JobIn("b");
  EXPECT_EQ(At(first, "/status/succeeded"), 1);
  EXPECT_GE(StringAt(second, {"metadata", "creationTimestamp"}), StringAt(first, {"status", "completionTime"}));
  EXPECT_EQ(At(first, "/metadata/ownerReferences/0/uid"), UidOf(GetDaemon("web")));
  const std::vector<Json> pods =
      kube().List(kPodType, std::string(kCheckLabel) + "=smoke," + kPoolNameLabel + "=" + Pool("a"));
  ASSERT_THAT(pods, SizeIs(1));
  EXPECT_EQ(Label(kube().Get(kNodeType, StringAt(pods[0], {"spec", "nodeName"})), kNodePoolLabel), Pool("a"));

  SetImage("web", "example.org/app:3");
  WaitUntilRolledOut("example.org/app:3");
  Eventually("only the last Job of each pool exists", [&] {
    return JobsIn("a").size() == 1 && JobsIn("b").size() == 1 && UidOf(JobIn("a")) != UidOf(first) &&
           UidOf(JobIn("b")) != UidOf(second);
  });
  Eventually("the pods of the deleted Jobs are gone",
             [&] { return kube().List(kPodType, std::string(kCheckLabel) + "=smoke").size() == 2; });
  EXPECT_EQ(StringAt(PoolStatus(GetDaemon("web"), Pool("a")), {"phase"}), "Ready");
}

// No node has the label that the pod selects, so the Job exceeds its deadline.
TEST_P(ChecksTest, FailedJobStopsTheRolloutAndANewLeaderDoesNotContinueIt) {
  Deployed({"a", "b"}, JobCheck({{"nodeSelector", {{"example.org/no-node", "x"}}}}, {{"activeDeadlineSeconds", 1}}));
  SetImage("web", "example.org/app:2");
  const Json failed = WaitForPhase("a", "Failed");
  EXPECT_EQ(At(failed, "/reason"), "CheckFailed");
  const std::string message = StringAt(failed, {"message"});
  EXPECT_THAT(message, StartsWith("check smoke: Job " + NameOf(JobIn("a")) + " failed: "));
  WaitForStatus("web", "the rollout has stopped", [](const Json& status) {
    return StringAt(ConditionOf({{"status", status}}, "Progressing"), {"reason"}) == "FailureBudgetExceeded";
  });
  const std::string uid = UidOf(JobIn("a"));

  KillOperator();
  StartOperator();
  Barrier();
  EXPECT_EQ(UidOf(JobIn("a")), uid);
  EXPECT_EQ(StringAt(WaitForPhase("a", "Failed"), {"message"}), message);
  EXPECT_EQ(ImageIn("b"), "example.org/app:1");
  EXPECT_THAT(JobsIn("b"), SizeIs(0));

  kube().Delete(kJobType, NameOf(JobIn("a")));
  Eventually("the operator has created the Job again", [&] { return UidOf(JobIn("a")) != uid; });
  WaitForPhase("a", "Failed");
}

TEST_P(ChecksTest, JobThatTheServerRejectsFailsTheCheck) {
  Deployed({"a", "b"}, JobCheck(Json::object(), {{"backoffLimit", -1}}));
  SetImage("web", "example.org/app:2");
  const Json failed = WaitForPhase("a", "Failed");
  EXPECT_EQ(At(failed, "/reason"), "CheckFailed");
  EXPECT_THAT(StringAt(failed, {"message"}), HasSubstr(" was rejected: "));
  EXPECT_THAT(StringAt(failed, {"message"}), HasSubstr("backoffLimit"));
  Barrier();
  EXPECT_EQ(ImageIn("b"), "example.org/app:1");
}

TEST_P(ChecksTest, PoolWaitsForAConditionOfItsWorkloadEvenAfterALeaderChange) {
  Deployed({"a", "b"}, {{"name", "tested"}, {"condition", {{"type", "example.org/Tested"}}}});
  SetImage("web", "example.org/app:2");
  const Json verifying = WaitForPhase("a", "Verifying");
  EXPECT_EQ(At(verifying, "/check"), "tested");
  EXPECT_EQ(At(verifying, "/message"), "check tested: waits for condition example.org/Tested=True of the workload");
  KillOperator();
  StartOperator();
  Barrier();
  EXPECT_EQ(At(WaitForPhase("a", "Verifying"), "/checkStartedAt"), At(verifying, "/checkStartedAt"));
  EXPECT_EQ(ImageIn("b"), "example.org/app:1");

  SetCondition("a", "True");
  WaitForPhase("b", "Verifying");
  EXPECT_EQ(ImageIn("b"), "example.org/app:2");
  SetCondition("b", "True");
  WaitUntilRolledOut("example.org/app:2");
}

}  // namespace
}  // namespace yad::testing
