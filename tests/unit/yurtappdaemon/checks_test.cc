// Checks::Run with snapshots from the tests: the order and the end of checks, and the state that one plan passes to the
// next.
#include "operator/yurtappdaemon/plan/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/yurtappdaemon/check_scene.h"

namespace yad::testing {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class ChecksTest : public CheckScene {};

TEST_F(ChecksTest, NoCheckRunsBeforeThePoolHasSoaked) {
  health_.soaked = false;
  const PoolChecks checks = Run();
  EXPECT_TRUE(checks.verifying);
  EXPECT_FALSE(checks.starts_job);
  EXPECT_FALSE(health_.check);
}

TEST_F(ChecksTest, NoCheckRunsInAVerifiedPool) {
  health_.verified = true;
  const PoolChecks checks = Run();
  EXPECT_FALSE(checks.verifying);
  EXPECT_FALSE(checks.starts_job);
}

TEST_F(ChecksTest, FirstCheckStartsWhenThePoolHasSoaked) {
  const PoolChecks checks = Run();
  EXPECT_TRUE(checks.verifying);
  EXPECT_EQ(checks.index, 0U);
  EXPECT_TRUE(checks.starts_job);
  EXPECT_THAT(checks.job, StartsWith("web-smoke-"));
  EXPECT_EQ(checks.message, "check smoke: Job " + checks.job + " is being created");
  EXPECT_EQ(checks.due, now_ + seconds(600));
  EXPECT_EQ(health_.check, (CheckProgress{"smoke", now_, 0, ""}));
}

TEST_F(ChecksTest, RunningJobIsNotRestarted) {
  AddJob(Run().job);
  const PoolChecks checks = RunAfter(5);
  EXPECT_FALSE(checks.starts_job);
  EXPECT_EQ(checks.message, "check smoke: Job " + checks.job + " runs");
  EXPECT_EQ(checks.due, now_ + seconds(595)) << "the timeout counts from the beginning of the check";
}

TEST_F(ChecksTest, CompleteJobPassesTheCheck) {
  AddJob(Run().job, EndedJob("Complete"));
  const PoolChecks checks = RunAfter(5);
  EXPECT_FALSE(checks.verifying);
  EXPECT_EQ(checks.job, "");
  EXPECT_FALSE(checks.starts_job);
  EXPECT_TRUE(health_.verified);
  EXPECT_FALSE(health_.check);
}

TEST_F(ChecksTest, JobWhoseConditionsAreNotTrueStillRuns) {
  const std::string job = Run().job;
  AddJob(job,
         {{"conditions", {{{"type", "Complete"}, {"status", "False"}}, {{"type", "Failed"}, {"status", "Unknown"}}}}});
  EXPECT_EQ(RunAfter(5).message, "check smoke: Job " + job + " runs");
}

TEST_F(ChecksTest, ChecksRunInTheirOrder) {
  checks_ = Json::array({JobCheckJson("first"), ConditionCheckJson("second"), JobCheckJson("third")});
  const std::string first = Run().job;
  EXPECT_EQ(health_.check->name, "first");
  AddJob(first, EndedJob("Complete"), "first");
  PoolChecks checks = RunAfter(7);
  EXPECT_EQ(checks.index, 1U);
  EXPECT_EQ(checks.job, "");
  EXPECT_FALSE(checks.starts_job);
  EXPECT_EQ(health_.check, (CheckProgress{"second", now_, 0, ""}));
  AddCondition("True", "2026-01-02T03:10:07Z");
  checks = RunAfter(1);
  EXPECT_EQ(checks.index, 2U);
  EXPECT_THAT(checks.job, StartsWith("web-third-"));
  EXPECT_TRUE(checks.starts_job);
  AddJob(checks.job, EndedJob("Complete"), "third");
  EXPECT_FALSE(RunAfter(1).verifying);
}

TEST_F(ChecksTest, FailedJobFailsTheCheckAndIsNotRetried) {
  checks_.push_back(JobCheckJson("second"));
  const std::string job = Run().job;
  AddJob(job, EndedJob("Failed", "Job has reached the specified backoff limit"));
  for (int i = 0; i < 2; ++i) {
    const PoolChecks checks = RunAfter(1000);
    EXPECT_TRUE(checks.verifying);
    EXPECT_EQ(checks.index, 0U);
    EXPECT_FALSE(checks.starts_job);
    EXPECT_FALSE(checks.due) << "only an event can change the result";
    EXPECT_EQ(checks.message, "check smoke: Job " + job + " failed: Job has reached the specified backoff limit");
  }
  EXPECT_FALSE(health_.verified);
}

TEST_F(ChecksTest, TimeoutFailsTheCheckUntilItsJobCompletes) {
  checks_[0]["timeoutSeconds"] = 60;
  const std::string job = Run().job;
  AddJob(job);
  const PoolChecks running = RunAfter(59);
  EXPECT_EQ(running.due, now_ + seconds(1));
  EXPECT_EQ(Failure(), "");
  for (int i = 0; i < 2; ++i) {
    const PoolChecks checks = RunAfter(1);
    EXPECT_EQ(checks.message, "check smoke: not passed within 60 s: Job " + job + " runs");
    EXPECT_FALSE(checks.due);
    EXPECT_NE(Failure(), "");
  }
  // A Job that completes after the timeout passes, like a pool that becomes healthy after its deadline.
  AddJob(job, EndedJob("Complete"));
  EXPECT_FALSE(RunAfter(1).verifying);
}

TEST_F(ChecksTest, JobThatIsDeletedWhileItRunsIsRecreatedWithTheSameName) {
  const std::string job = Run().job;
  AddJob(job);
  const WallTime began = now_;
  RunAfter(10);
  jobs_.clear();
  const PoolChecks checks = RunAfter(10);
  EXPECT_EQ(checks.job, job);
  EXPECT_TRUE(checks.starts_job);
  EXPECT_EQ(health_.check->since, began) << "the timeout of the check must not restart";
}

TEST_F(ChecksTest, FailedCheckIsRepeatedWhenItsJobIsDeleted) {
  for (const bool timed_out : {false, true}) {
    SCOPED_TRACE(timed_out);
    health_.check.reset();
    const std::string job = Run().job;
    AddJob(job, timed_out ? Json::object() : EndedJob("Failed"));
    RunAfter(700);
    EXPECT_NE(Failure(), "");
    jobs_.clear();
    const PoolChecks checks = RunAfter(10);
    EXPECT_TRUE(checks.starts_job);
    EXPECT_EQ(checks.job, job);
    EXPECT_EQ(health_.check, (CheckProgress{"smoke", now_, 0, ""}));
    EXPECT_EQ(checks.due, now_ + seconds(600));
  }
}

TEST_F(ChecksTest, RejectedJobFailsTheCheckAndIsNotRetried) {
  const std::string job = Run().job;
  rejected_[job] = {"spec.backoffLimit: Invalid value", true};
  const PoolChecks checks = RunAfter(1);
  EXPECT_EQ(checks.message, "check smoke: Job " + job + " was rejected: spec.backoffLimit: Invalid value");
  EXPECT_FALSE(checks.starts_job);
  EXPECT_EQ(checks.job, job) << "the rejection is kept while the Job is needed";
  rejected_.clear();  // A new leader has only the failure in status.
  const PoolChecks later = RunAfter(100);
  EXPECT_FALSE(later.starts_job);
  EXPECT_EQ(later.message, checks.message);
}

TEST_F(ChecksTest, RejectedJobIsRetriedWhenTheCheckIsEdited) {
  const std::string job = Run().job;
  rejected_[job] = {"spec.backoffLimit: Invalid value", true};
  RunAfter(1);
  checks_[0]["job"]["spec"]["backoffLimit"] = 1;
  const PoolChecks checks = RunAfter(1);
  EXPECT_TRUE(checks.starts_job);
  EXPECT_NE(checks.job, job);
  EXPECT_EQ(Failure(), "");
}

TEST_F(ChecksTest, FailureWithDryRunIsReportedOnceAndTheCheckPasses) {
  checks_ = Json::array({JobCheckJson("smoke", {{"dryRun", true}}), JobCheckJson("second")});
  const std::string job = Run().job;
  AddJob(job, EndedJob("Failed", "no"));
  PoolChecks checks = RunAfter(1);
  EXPECT_THAT(checks.tolerated, ElementsAre("check smoke (dryRun): Job " + job + " failed: no"));
  EXPECT_EQ(checks.index, 1U);
  EXPECT_TRUE(checks.starts_job);
  EXPECT_EQ(health_.check, (CheckProgress{"second", now_, 0, ""}));
  AddJob(checks.job, EndedJob("Complete"), "second");
  checks = RunAfter(1);
  EXPECT_THAT(checks.tolerated, IsEmpty());
  EXPECT_TRUE(health_.verified);
}

TEST_F(ChecksTest, TimeoutWithDryRunPassesTheCheck) {
  checks_ = Json::array({ConditionCheckJson("tested", {{"dryRun", true}, {"timeoutSeconds", 10}})});
  Run();
  const PoolChecks checks = RunAfter(10);
  EXPECT_THAT(checks.tolerated, ElementsAre("check tested (dryRun): not passed within 10 s: waits for condition "
                                            "example.org/Tested=True of the workload"));
  EXPECT_FALSE(checks.verifying);
}

TEST_F(ChecksTest, ConditionOfTheWorkloadPassesTheCheck) {
  checks_ = Json::array({ConditionCheckJson()});
  EXPECT_EQ(Run().message, "check tested: waits for condition example.org/Tested=True of the workload");
  AddCondition("False", "2026-01-02T03:09:00Z");
  EXPECT_TRUE(RunAfter(1).verifying);
  conditions_.clear();
  AddCondition("True", "2026-01-02T03:09:00Z");
  EXPECT_FALSE(RunAfter(1).verifying);
}

TEST_F(ChecksTest, StatusFalseOfAConditionCanPassTheCheck) {
  checks_ = Json::array({ConditionCheckJson()});
  checks_[0]["condition"]["status"] = "False";
  EXPECT_EQ(Run().message, "check tested: waits for condition example.org/Tested=False of the workload");
  AddCondition("True", "2026-01-02T03:09:00Z");
  EXPECT_TRUE(RunAfter(1).verifying);
  conditions_.clear();
  AddCondition("False", "2026-01-02T03:09:00Z");
  EXPECT_FALSE(RunAfter(1).verifying);
}

TEST_F(ChecksTest, ConditionThatIsOlderThanTheUpdateDoesNotCount) {
  for (const char* field : {"lastTransitionTime", "lastUpdateTime"}) {
    SCOPED_TRACE(field);
    health_.check.reset();
    health_.verified = false;
    checks_ = Json::array({ConditionCheckJson()});
    conditions_.clear();
    AddCondition("True", "2026-01-02T02:59:59Z", field);
    EXPECT_TRUE(Run().verifying);
    conditions_.clear();
    AddCondition("True", "2026-01-02T03:00:00Z", field);
    EXPECT_FALSE(Run().verifying) << "times are in seconds";
  }
}

// If a client sets the condition to the same status again, only lastUpdateTime changes.
TEST_F(ChecksTest, LastUpdateTimeOfAConditionIsUsed) {
  checks_ = Json::array({ConditionCheckJson()});
  AddCondition("True", "2026-01-02T02:00:00Z");
  conditions_[0]["lastUpdateTime"] = "2026-01-02T03:05:00Z";
  EXPECT_FALSE(Run().verifying);
}

TEST_F(ChecksTest, ConditionCountsIfItsTimeOrTheTimeOfTheUpdateIsUnknown) {
  checks_ = Json::array({ConditionCheckJson()});
  AddCondition("True", "");
  EXPECT_FALSE(Run().verifying);
  health_.verified = has_record_ = false;
  conditions_.clear();
  AddCondition("True", "2026-01-01T00:00:00Z");
  EXPECT_FALSE(Run().verifying);
}

TEST_F(ChecksTest, FailedConditionCheckStaysFailed) {
  checks_ = Json::array({ConditionCheckJson("tested", {{"timeoutSeconds", 10}})});
  Run();
  RunAfter(10);
  AddCondition("True", "2026-01-02T03:10:11Z");
  EXPECT_THAT(RunAfter(5).message, StartsWith("check tested: not passed within 10 s: "));
}

// The cache did not show the condition before the timeout.
TEST_F(ChecksTest, FailedConditionCheckPassesIfItsConditionWasSetInTime) {
  checks_ = Json::array({ConditionCheckJson("tested", {{"timeoutSeconds", 10}})});
  Run();
  RunAfter(20);
  for (const char* time : {"", "2026-01-02T02:59:59Z", "2026-01-02T03:10:11Z"}) {
    conditions_.clear();
    AddCondition("True", time);
    EXPECT_TRUE(Run().verifying) << time;
  }
  const WallTime since = std::exchange(health_.check->since, WallTime());  // as after a reverted edit
  AddCondition("True", "2026-01-02T03:10:15Z");
  EXPECT_TRUE(Run().verifying) << "late";
  health_.check->since = since;
  conditions_.clear();
  AddCondition("True", "2026-01-02T03:10:10Z");
  EXPECT_FALSE(Run().verifying);
  EXPECT_TRUE(health_.verified);
}

TEST_F(ChecksTest, EditedJobRunsWithAnotherName) {
  const std::string job = Run().job;
  AddJob(job, EndedJob("Failed"));
  RunAfter(1);
  checks_[0]["job"]["spec"]["template"]["spec"]["containers"][0]["image"] = "probe:2";
  const PoolChecks checks = RunAfter(1);
  EXPECT_NE(checks.job, job);
  EXPECT_TRUE(checks.starts_job);
  EXPECT_EQ(health_.check, (CheckProgress{"smoke", now_, 0, ""})) << "the failure was one of the old spec";
}

TEST_F(ChecksTest, EditedJobThatStillRunsGetsItsFullTimeout) {
  AddJob(Run().job);
  AddJob("of-b", {}, "smoke", "2026-01-02T03:10:00Z", "b");
  RunAfter(590);
  checks_[0]["job"]["spec"]["template"]["spec"]["containers"][0]["image"] = "probe:2";
  const PoolChecks checks = RunAfter(5);
  EXPECT_TRUE(checks.starts_job);
  EXPECT_EQ(health_.check->since, now_);
  EXPECT_EQ(checks.due, now_ + seconds(600));
}

TEST_F(ChecksTest, JobOfAnotherUpdateStartsWhenThePoolIsHealthyAgain) {
  const std::string job = Run().job;
  AddJob(job);
  record_.at = now_ + seconds(590);
  health_.state = PoolHealth::State::kUnhealthy;
  for (int delay : {590, 100}) {
    const PoolChecks checks = RunAfter(delay);
    EXPECT_TRUE(checks.verifying);
    EXPECT_FALSE(checks.starts_job);
    EXPECT_EQ(checks.job, "");
    EXPECT_FALSE(checks.due);
    EXPECT_EQ(checks.message, "check smoke: begins when the pool is healthy again");
    EXPECT_EQ(health_.check, (CheckProgress{"smoke", {}, 0, ""}));
  }
  health_.state = PoolHealth::State::kHealthy;
  const PoolChecks checks = RunAfter(1);
  EXPECT_TRUE(checks.starts_job);
  EXPECT_NE(checks.job, job);
  EXPECT_EQ(checks.due, now_ + seconds(600));
}

TEST_F(ChecksTest, ChecksRestartIfTheCurrentOneIsRemovedFromTheSpec) {
  checks_ = Json::array({ConditionCheckJson("first"), ConditionCheckJson("second", {{"timeoutSeconds", 10}})});
  health_.check = CheckProgress{"second", now_, 3, "failed"};
  EXPECT_EQ(Run().message, "check second: failed");
  checks_[1]["name"] = "third";
  EXPECT_EQ(RunAfter(5).index, 0U);
  EXPECT_EQ(health_.check, (CheckProgress{"first", now_, 0, ""}));
}

TEST_F(ChecksTest, CheckInsertedBeforeTheCurrentOneIsSkipped) {
  checks_ = Json::array({ConditionCheckJson("second")});
  Run();
  checks_ = Json::array({ConditionCheckJson("first"), ConditionCheckJson("second")});
  EXPECT_EQ(RunAfter(1).index, 1U);
}

TEST_F(ChecksTest, OfflinePoolPausesItsChecks) {
  AddJob(Run().job);
  CheckProgress before = *health_.check;
  before.interrupted_job = "uid-of-" + jobs_.begin()->first;
  offline_ = true;
  const PoolChecks checks = RunAfter(10000);
  EXPECT_TRUE(checks.verifying);
  EXPECT_FALSE(checks.starts_job);
  EXPECT_FALSE(checks.due);
  EXPECT_EQ(health_.check, before);
}

// A new leader reads the failure of an offline pool from the message in status.
TEST_F(ChecksTest, FailureOfAnOfflinePoolIsStillReported) {
  const std::string job = Run().job;
  AddJob(job, EndedJob("Failed", "no"));
  RunAfter(1);
  offline_ = true;
  EXPECT_EQ(RunAfter(1).message, "check smoke: Job " + job + " failed: no");
}

class SampledChecksTest : public ChecksTest {
 protected:
  SampledChecksTest() {
    const Json query = {{"query", "x"}, {"max", "0.05"}, {"failureLimit", 1}};
    checks_ = Json::array({Json{{"name", "errors"}, {"prometheus", query}}});
    began_ = now_;
  }
  void Sampled(std::int64_t conclusive, std::int64_t failures, const std::string& message = "0.02") {
    samples_["a"] = {"errors", began_, failures, conclusive, message, began_};
  }
  WallTime began_;
};

TEST_F(SampledChecksTest, PassesAtTheEndOfItsDuration) {
  PoolChecks checks = Run();
  EXPECT_EQ(checks.message, "check errors: waits for the first sample of Prometheus");
  EXPECT_EQ(checks.due, now_ + seconds(600));
  Sampled(1, 0);
  checks = RunAfter(299);
  EXPECT_TRUE(checks.verifying);
  EXPECT_EQ(checks.due, now_ + seconds(1));
  EXPECT_EQ(checks.message, "check errors: 0.02");
  EXPECT_FALSE(RunAfter(1).verifying);
}

TEST_F(SampledChecksTest, OutageOfPrometheusDelaysTheStartOfTheCheck) {
  Run();
  Sampled(5, 1);
  samples_["a"].unanswered = 1;
  EXPECT_TRUE(RunAfter(400).verifying) << "the outage continues";
  Sampled(5, 1);
  samples_["a"].outage = seconds(600);
  const PoolChecks checks = RunAfter(300);
  EXPECT_TRUE(checks.verifying);
  EXPECT_EQ(checks.due, now_ + seconds(600)) << "the timeout is due next";
  EXPECT_EQ(health_.check, (CheckProgress{"errors", began_ + seconds(600), 1, ""}));
}

TEST_F(SampledChecksTest, FailsWithMoreFailuresThanItsLimit) {
  Run();
  Sampled(3, 1);
  EXPECT_EQ(RunAfter(30).message, "check errors: 0.02");
  EXPECT_EQ(health_.check->failures, 1) << "the number of failures is in status";
  EXPECT_EQ(Failure(), "");
  Sampled(4, 2, "0.07 is above max 0.05");
  EXPECT_EQ(RunAfter(30).message, "check errors: 0.07 is above max 0.05");
  EXPECT_EQ(Failure(), "0.07 is above max 0.05");
  Sampled(9, 2, "0.01");
  EXPECT_EQ(RunAfter(300).message, "check errors: 0.07 is above max 0.05") << "the failure stays";
}

TEST_F(SampledChecksTest, FailureWithDryRunPassesTheCheck) {
  checks_[0]["dryRun"] = true;
  Run();
  Sampled(4, 2, "0.07 is above max 0.05");
  const PoolChecks checks = RunAfter(30);
  EXPECT_THAT(checks.tolerated, ElementsAre("check errors (dryRun): 0.07 is above max 0.05"));
  EXPECT_FALSE(checks.verifying);
}

TEST_F(SampledChecksTest, FailsAtTheTimeoutWithoutAConclusiveSample) {
  Run();
  Sampled(0, 0, "no sample: no data");
  EXPECT_TRUE(RunAfter(599).verifying);
  EXPECT_EQ(Failure(), "");
  EXPECT_EQ(RunAfter(1).message, "check errors: not passed within 600 s: no sample: no data");
}

TEST_F(SampledChecksTest, SamplesOfAnotherCheckOrOfAnEarlierRunDoNotCount) {
  Run();
  Sampled(9, 9);
  samples_["a"].check = "other";
  EXPECT_THAT(RunAfter(1).message, HasSubstr("waits for the first sample"));
  Sampled(9, 9);
  samples_["a"].since = began_ - seconds(1);
  EXPECT_THAT(RunAfter(1).message, HasSubstr("waits for the first sample"));
}

TEST_F(SampledChecksTest, FirstConclusiveSampleDeterminesTheResultWithoutADuration) {
  checks_[0]["prometheus"]["durationSeconds"] = 0;
  Run();
  Sampled(0, 0);
  EXPECT_TRUE(Run().verifying);
  Sampled(1, 0);
  EXPECT_FALSE(Run().verifying);
}

class OutdatedCheckJobsTest : public CheckScene {
 protected:
  std::vector<std::string> Outdated() {
    std::vector<std::string> names;
    for (const CheckJobRef& job : OutdatedCheckJobs(Take())) names.push_back(job.object->meta().key.name);
    return names;
  }
};

TEST_F(OutdatedCheckJobsTest, TheLastJobOfEachCheckAndPoolIsKept) {
  checks_.push_back(JobCheckJson("second"));
  AddJob("x3", {}, "smoke", "2026-01-02T03:00:00Z");
  AddJob("x1", {}, "smoke", "2026-01-02T03:10:00Z");
  AddJob("x2", {}, "smoke", "2026-01-02T02:00:00Z");
  AddJob("y", {}, "second", "2026-01-01T00:00:00Z");
  EXPECT_THAT(Outdated(), ::testing::UnorderedElementsAre("x2", "x3"));
}

TEST_F(OutdatedCheckJobsTest, JobsOfRemovedChecksAndPoolsAreOutdated) {
  AddJob("kept");
  AddJob("removed-check", {}, "gone");
  AddJob("removed-pool", {}, "smoke", "2026-01-02T03:10:00Z", "z");
  EXPECT_THAT(Outdated(), ElementsAre("removed-check", "removed-pool"));
}

TEST_F(OutdatedCheckJobsTest, JobThatIsBeingDeletedIsIgnored) {
  AddJob("new");
  AddJob("old", {}, "smoke", "2026-01-02T03:00:00Z");
  jobs_["new"]["metadata"]["deletionTimestamp"] = "2026-01-02T03:10:00Z";
  EXPECT_THAT(Outdated(), IsEmpty());
}

TEST_F(OutdatedCheckJobsTest, OneOfTwoJobsOfTheSameSecondIsKept) {
  AddJob("x1");
  AddJob("x2");
  EXPECT_THAT(Outdated(), ElementsAre("x1"));
}

}  // namespace
}  // namespace yad::testing
