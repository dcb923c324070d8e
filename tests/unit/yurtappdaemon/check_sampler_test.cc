// Samples of Prometheus checks, with a fake query function and a fake clock.
#include "operator/yurtappdaemon/check_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/fake_clock.h"
#include "tests/unit/yurtappdaemon/check_scene.h"

namespace yad::testing {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Next = ReconcileResult::Next;
using Value = Result<std::optional<double>>;

const ObjectKey kWeb{"ns", "web"};
const ObjectKey kOther{"ns", "other"};

class CheckSamplerTest : public ::testing::Test {
 protected:
  CheckSamplerTest() {
    answer_ = [](const std::string&) { return 0.01; };
    sampler_.Connect([this](const Request& daemon) { requested_.push_back(daemon); },
                     [this](const Request& daemon) { shown_.push_back(daemon); });
  }

  // Returns a check that fails in the pool if the value is above 0.05.
  RunningCheck Running(const std::string& pool = "a", const std::string& name = "errors") const {
    RunningCheck check{pool, name, began_, 0, {}, {}};
    check.spec.query = "errors{pool=\"{{nodepool-name}}\"}";
    check.spec.max = 0.05;
    return check;
  }
  void Begin(std::vector<RunningCheck> checks) { sampler_.SetChecks(kWeb, std::move(checks)); }
  CheckSamples Of(const std::string& pool = "a") const {
    const auto samples = sampler_.SamplesOf(kWeb, {});
    const auto found = samples.find(pool);
    return found == samples.end() ? CheckSamples{"none", {}, -1, -1, ""} : found->second;
  }
  // Takes the samples that are due. Returns the time until the next sample, or -1 if no sample is planned.
  Duration Sample() {
    const auto result = sampler_.Sample(kWeb, {});
    if (!result || result->next != Next::kAfter) return Duration(-1);
    return result->after;
  }
  std::vector<std::string> Queries() {
    std::lock_guard lock(mutex_);
    return std::exchange(queries_, {});
  }

  FakeClock clock_;
  WallTime began_ = clock_.WallNow();
  std::mutex mutex_;
  std::vector<std::string> queries_;
  std::set<WallTime> instants_;
  std::function<Value(const std::string&)> answer_;
  CheckSampler sampler_{[this](const std::string& query, WallTime at, const std::stop_token&) {
                          std::lock_guard lock(mutex_);
                          queries_.push_back(query);
                          instants_.insert(at);
                          return answer_(query);
                        },
                        clock_};
  std::vector<Request> requested_, shown_;
};

TEST_F(CheckSamplerTest, FirstSampleIsRequestedImmediately) {
  Begin({Running()});
  EXPECT_THAT(requested_, ElementsAre(kWeb));
  EXPECT_EQ(Of(), (CheckSamples{"errors", began_, 0, 0, "waits for the first sample of Prometheus"}));
  EXPECT_EQ(Sample(), Duration(seconds(30)));
  EXPECT_THAT(Queries(), ElementsAre("errors{pool=\"a\"}"));
  EXPECT_EQ(Of().conclusive, 1);
  EXPECT_EQ(Of().failures, 0);
  EXPECT_EQ(Of().message, "the last sample is within the limits");
  EXPECT_EQ(Of().began, began_);
  EXPECT_THAT(shown_, ElementsAre(kWeb));
}

TEST_F(CheckSamplerTest, QueryIsRepeatedInItsIntervalOnly) {
  RunningCheck check = Running();
  check.spec.interval = seconds(7);
  Begin({check});
  EXPECT_EQ(Sample(), Duration(seconds(7)));
  clock_.Advance(seconds(3));
  EXPECT_EQ(Sample(), Duration(seconds(4)));
  EXPECT_THAT(Queries(), SizeIs(1));
  clock_.Advance(seconds(4));
  EXPECT_EQ(Sample(), Duration(seconds(7)));
  EXPECT_THAT(Queries(), SizeIs(1));
  EXPECT_EQ(Of().conclusive, 2);
}

TEST_F(CheckSamplerTest, ReconcileWithoutANewCheckKeepsTheSamples) {
  Begin({Running()});
  Sample();
  requested_.clear();
  Begin({Running()});
  EXPECT_THAT(requested_, IsEmpty());
  EXPECT_EQ(Of().conclusive, 1);
  EXPECT_EQ(Sample(), Duration(seconds(30))) << "no sample is due";
  EXPECT_THAT(Queries(), SizeIs(1));
}

TEST_F(CheckSamplerTest, SamplesOutsideTheLimitsAreCounted) {
  answer_ = [](const std::string&) { return 0.07; };
  Begin({Running()});
  Sample();
  clock_.Advance(seconds(30));
  Sample();
  EXPECT_EQ(Of().failures, 2);
  EXPECT_EQ(Of().conclusive, 2);
  EXPECT_EQ(Of().message, "0.07 is above max 0.05");
  EXPECT_THAT(shown_, ElementsAre(kWeb, kWeb)) << "each failure may fail the check";
}

// A new leader continues from the number of failures in status.
TEST_F(CheckSamplerTest, FailuresCountFromTheNumberInStatus) {
  answer_ = [](const std::string&) { return 0.07; };
  RunningCheck check = Running();
  check.failures = 3;
  Begin({check});
  EXPECT_EQ(Of().failures, 3);
  Sample();
  EXPECT_EQ(Of().failures, 4);
}

TEST_F(CheckSamplerTest, NoDataAndFailedQueriesAreInconclusive) {
  for (const Value& answer : {Value(std::nullopt), Value(Fail(Reason::kTransport, "connection refused"))}) {
    SCOPED_TRACE(answer.has_value());
    answer_ = [answer](const std::string&) { return answer; };
    Begin({});
    Begin({Running()});
    EXPECT_EQ(Sample(), Duration(seconds(30))) << "the query is retried after its interval";
    EXPECT_EQ(Of().conclusive, 0);
    EXPECT_EQ(Of().failures, 0);
    EXPECT_THAT(Of().message, HasSubstr("no sample: "));
  }
  EXPECT_THAT(Of().message, HasSubstr("connection refused"));
}

TEST_F(CheckSamplerTest, SampleWithoutDataOutdatesTheEarlierSamples) {
  Begin({Running()});
  Sample();
  answer_ = [](const std::string&) { return std::nullopt; };
  clock_.Advance(seconds(30));
  Sample();
  EXPECT_EQ(Of().conclusive, 0);
  EXPECT_THAT(shown_, ElementsAre(kWeb, kWeb));
}

TEST_F(CheckSamplerTest, UnchangedSamplesCauseNoReconcile) {
  answer_ = [](const std::string&) { return std::nullopt; };
  Begin({Running()});
  Sample();
  shown_.clear();
  clock_.Advance(seconds(30));
  Sample();
  EXPECT_THAT(shown_, IsEmpty());
}

TEST_F(CheckSamplerTest, LongMessagesAreTruncated) {
  answer_ = [](const std::string&) { return Value(Fail(Reason::kTransport, std::string(100000, 'x'))); };
  Begin({Running()});
  Sample();
  EXPECT_LE(Of().message.size(), 256U);
}

TEST_F(CheckSamplerTest, ValueIsComparedWithTheControlGroupAtTheSameInstant) {
  RunningCheck check = Running();
  check.spec.max.reset();
  check.spec.control_query = "errors{pool=~\"{{nodepool-name}}\"}";
  check.spec.max_ratio = 1.5;
  check.control = std::make_shared<std::vector<std::string>>(std::vector<std::string>{"b", "c"});
  double control = 2;
  answer_ = [&](const std::string& query) { return query.find("=~") == std::string::npos ? 4.0 : control; };
  Begin({check});
  Sample();
  EXPECT_EQ(Of().failures, 1);
  EXPECT_THAT(Queries(), SizeIs(2));
  EXPECT_THAT(instants_, SizeIs(1));
  control = 4;
  clock_.Advance(seconds(30));
  Sample();
  EXPECT_EQ(Of().failures, 1);
  EXPECT_EQ(Of().conclusive, 2);
}

TEST_F(CheckSamplerTest, ValueIsNotComparedWithoutAControlGroup) {
  RunningCheck check = Running();
  check.spec.control_query = "errors{pool=~\"{{nodepool-name}}\"}";
  check.spec.max_ratio = 1;
  Begin({check});
  Sample();
  EXPECT_THAT(Queries(), SizeIs(1));
  EXPECT_EQ(Of().conclusive, 1);
}

TEST_F(CheckSamplerTest, ControlQueryThatFailsIsInconclusive) {
  RunningCheck check = Running();
  check.spec.control_query = "errors{pool=~\"{{nodepool-name}}\"}";
  check.spec.max_ratio = 1;
  check.control = std::make_shared<std::vector<std::string>>(1, "b");
  answer_ = [](const std::string& query) {
    return query.find("=~") == std::string::npos ? Value(0.01) : Value(Fail(Reason::kTransport, "timeout"));
  };
  Begin({check});
  Sample();
  EXPECT_EQ(Of().conclusive, 0);
  EXPECT_THAT(Of().message, HasSubstr("timeout"));
}

TEST_F(CheckSamplerTest, RestartedCheckLosesItsSamples) {
  Begin({Running()});
  Sample();
  for (const bool other_name : {false, true}) {
    SCOPED_TRACE(other_name);
    RunningCheck again = Running("a", other_name ? "latency" : "errors");
    again.since += seconds(60);
    requested_.clear();
    Begin({again});
    EXPECT_EQ(Of().conclusive, 0);
    EXPECT_EQ(Of().since, again.since);
    EXPECT_THAT(requested_, ElementsAre(kWeb));
    Sample();
    EXPECT_EQ(Of().conclusive, 1);
  }
}

TEST_F(CheckSamplerTest, EditedQueryIsSampledImmediatelyAndEarlierSamplesDoNotCount) {
  answer_ = [](const std::string&) { return 0.07; };
  Begin({Running()});
  Sample();
  Queries();
  requested_.clear();
  RunningCheck edited = Running();
  Check check;
  check.name = edited.name;
  check.prometheus = edited.spec;
  EXPECT_EQ(sampler_.SamplesOf(kWeb, {check}).at("a").conclusive, 1);
  check.prometheus->query = edited.spec.query = "other";
  EXPECT_EQ(sampler_.SamplesOf(kWeb, {check}).at("a").conclusive, 0)
      << "earlier samples do not count even before SetChecks";
  Begin({edited});
  EXPECT_EQ(Of().conclusive, 0);
  EXPECT_EQ(Of().failures, 1) << "status contains this failure";
  EXPECT_THAT(requested_, ElementsAre(kWeb));
  Sample();
  EXPECT_THAT(Queries(), ElementsAre("other"));
  EXPECT_EQ(Of().conclusive, 1);
}

TEST_F(CheckSamplerTest, ResponseForAnEditedQueryIsDropped) {
  answer_ = [this](const std::string&) {
    RunningCheck edited = Running();
    edited.spec.max = 1;
    sampler_.SetChecks(kWeb, {edited});
    return 0.07;
  };
  Begin({Running()});
  EXPECT_LT(Sample(), Duration(seconds(1))) << "the next sample is due";
  EXPECT_EQ(Of().failures, 0);
  EXPECT_EQ(Of().conclusive, 0);
}

TEST_F(CheckSamplerTest, SamplingEndsWithTheChecks) {
  Begin({Running()});
  Begin({});
  const auto result = sampler_.Sample(kWeb, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->next, Next::kDone);
  EXPECT_THAT(Queries(), IsEmpty());
  EXPECT_THAT(sampler_.SamplesOf(kWeb, {}), IsEmpty());
}

TEST_F(CheckSamplerTest, DaemonsAreSampledSeparately) {
  Begin({Running()});
  sampler_.SetChecks(kOther, {Running("b")});
  Sample();
  EXPECT_THAT(Queries(), ElementsAre("errors{pool=\"a\"}"));
  EXPECT_EQ(sampler_.SamplesOf(kOther, {}).at("b").conclusive, 0);
}

// A check may end while its query is in progress.
TEST_F(CheckSamplerTest, ResponseForAnEndedCheckIsDropped) {
  answer_ = [this](const std::string&) {
    RunningCheck again = Running();
    again.since += seconds(60);
    sampler_.SetChecks(kWeb, {again});
    return 0.07;
  };
  Begin({Running()});
  Sample();
  EXPECT_EQ(Of().failures, 0);
  EXPECT_EQ(Of().conclusive, 0);
  answer_ = [this](const std::string&) {
    sampler_.SetChecks(kWeb, {});
    return 0.07;
  };
  EXPECT_EQ(Sample(), Duration(-1));
  EXPECT_THAT(sampler_.SamplesOf(kWeb, {}), IsEmpty());
}

TEST_F(CheckSamplerTest, EachOfFiveHundredPoolsIsSampledOnce) {
  std::vector<RunningCheck> checks;
  for (int i = 0; i < 500; ++i) checks.push_back(Running("p" + std::to_string(i)));
  Begin(checks);
  EXPECT_THAT(requested_, SizeIs(1));
  EXPECT_EQ(Sample(), Duration(seconds(30)));
  const std::vector<std::string> queries = Queries();
  EXPECT_THAT(queries, SizeIs(500));
  EXPECT_THAT(std::set(queries.begin(), queries.end()), SizeIs(500));
  EXPECT_THAT(shown_, SizeIs(1)) << "one reconcile for all";
  EXPECT_EQ(Of("p499").conclusive, 1);
}

TEST_F(CheckSamplerTest, QueryThatHangsEndsWithTheStop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  int running = 0;
  CheckSampler sampler(
      [&](const std::string&, WallTime, const std::stop_token& stop) -> Value {
        std::unique_lock lock(mutex);
        ++running;
        changed.notify_all();
        changed.wait(lock, stop, [] { return false; });
        return Fail(Reason::kCancelled, "stopped");
      },
      clock_);
  std::vector<Request> shown;
  sampler.Connect([](const Request&) {}, [&](const Request& daemon) { shown.push_back(daemon); });
  sampler.SetChecks(kWeb, {Running("a"), Running("b")});
  std::optional<Result<ReconcileResult>> result;
  std::jthread thread([&](const std::stop_token& stop) { result = sampler.Sample(kWeb, stop); });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return running == 2; });
  }
  EXPECT_EQ(sampler.SamplesOf(kWeb, {}).size(), 2U) << "a reconcile does not wait for Prometheus";
  thread.request_stop();
  thread.join();
  ASSERT_TRUE(result);
  ASSERT_FALSE(*result);
  EXPECT_EQ(result->error().reason, Reason::kCancelled);
  EXPECT_THAT(shown, IsEmpty());
}

// The Prometheus checks that run in the pools of a plan.
class RunningChecksTest : public CheckScene {
 protected:
  RunningChecksTest() {
    const Json query = {{"query", "x"}, {"compare", {{"query", "y"}, {"maxRatio", 2}}}};
    checks_ = Json::array({ConditionCheckJson(), Json{{"name", "errors"}, {"prometheus", query}}});
    health_.check = CheckProgress{"errors", now_, 2, ""};
  }
  // Returns the running checks. Pool a runs its checks, b is updated, c and d are not updated, and d is offline.
  std::vector<RunningCheck> Running() {
    Plan plan;
    for (const char* name : {"a", "b", "c", "d"}) plan.pools.emplace_back().pool = name;
    plan.pools[0].checks = Run();
    plan.pools[0].health = health_;
    plan.pools[0].offline = offline_;
    for (PoolPlan& pool : plan.pools) pool.workload = snapshot_.workloads.front();
    plan.pools[0].on_update = plan.pools[1].on_update = true;
    plan.pools[3].offline = true;
    return RunningChecks(snapshot_, plan);
  }
};

TEST_F(RunningChecksTest, CheckHasTheOnlinePoolsThatAreNotUpdatedAsItsControlGroup) {
  const std::vector<RunningCheck> running = Running();
  ASSERT_EQ(running.size(), 1U);
  EXPECT_EQ(running[0].pool, "a");
  EXPECT_EQ(running[0].name, "errors");
  EXPECT_EQ(running[0].since, now_);
  EXPECT_EQ(running[0].failures, 2);
  EXPECT_EQ(running[0].spec.query, "x");
  ASSERT_NE(running[0].control, nullptr);
  EXPECT_THAT(*running[0].control, ElementsAre("c"));
}

// If each check had its own list, the lists of a large fleet would not fit into the memory of the operator.
TEST_F(RunningChecksTest, ChecksShareTheListOfTheControlGroup) {
  PoolPlan verified;
  verified.checks = Run();
  verified.health = health_;
  verified.on_update = true;
  verified.workload = snapshot_.workloads.front();
  PoolPlan waiting;
  waiting.workload = verified.workload;
  Plan plan;
  plan.pools.assign(500, verified);
  plan.pools.insert(plan.pools.end(), 4500, waiting);
  const std::vector<RunningCheck> running = RunningChecks(snapshot_, plan);
  ASSERT_EQ(running.size(), 500U);
  EXPECT_THAT(*running[0].control, SizeIs(4500));
  for (const RunningCheck& check : running) EXPECT_EQ(check.control, running[0].control);
}

TEST_F(RunningChecksTest, OnlyARunningPrometheusCheckOfAnOnlinePoolIsSampled) {
  health_.check->failure = "failed";
  EXPECT_THAT(Running(), IsEmpty()) << "failed";
  health_.check->failure = "";
  offline_ = true;
  EXPECT_THAT(Running(), IsEmpty()) << "offline";
  offline_ = false;
  health_.check.reset();
  EXPECT_THAT(Running(), IsEmpty()) << "a condition is checked";
  health_.verified = true;
  EXPECT_THAT(Running(), IsEmpty()) << "verified";
}

// While a pool soaks again, its status still has the name of its check.
TEST_F(RunningChecksTest, PoolThatHasNotSoakedIsNotSampled) {
  std::swap(checks_[0], checks_[1]);
  health_.soaked = false;
  EXPECT_THAT(Running(), IsEmpty());
}

TEST_F(CheckSamplerTest, OutageAtTheStartOfTheProcessCountsFromTheStartOfTheCheck) {
  RunningCheck check = Running();
  check.since -= seconds(600);
  Begin({check});
  answer_ = [](const std::string&) -> Value { return Fail(Reason::kTransport, "connection refused"); };
  Sample();
  clock_.Advance(seconds(30));
  answer_ = [](const std::string&) { return 0.01; };
  Sample();
  EXPECT_EQ(Of().outage, seconds(630));
}

TEST_F(CheckSamplerTest, FailedQueriesAreCountedUntilPrometheusResponds) {
  Begin({Running()});
  // Each query takes ten seconds.
  answer_ = [this](const std::string&) -> Value {
    clock_.Advance(seconds(10));
    return Fail(Reason::kTransport, "connection refused");
  };
  for (int i = 1; i <= kUnansweredQueries; ++i) {
    shown_.clear();
    Sample();
    EXPECT_EQ(Of().unanswered, i);
    clock_.Advance(seconds(30));
  }
  EXPECT_THAT(shown_, SizeIs(1)) << "Prometheus counts as unavailable";
  EXPECT_EQ(Of().began, WallTime());
  answer_ = [](const std::string&) -> Value { return Fail(Reason::kBadRequest, "several samples"); };
  Sample();
  EXPECT_EQ(Of().unanswered, 0) << "an error about the query shows that Prometheus responds";
  EXPECT_EQ(Of().began, clock_.WallNow()) << "the timeout must restart";
  EXPECT_EQ(Of().outage, seconds(kUnansweredQueries * 40)) << "from the start of the first query";
}

}  // namespace
}  // namespace yad::testing
