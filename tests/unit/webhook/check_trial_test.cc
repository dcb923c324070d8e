#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/webhook/admission.h"
#include "webhook/admission/trials.h"

namespace yad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kQuery[] = "spec.updateStrategy.rollingUpdate.checks[0].prometheus.query";

class CheckTrialTest : public ::testing::Test {
 protected:
  CheckTrialTest() {
    Check check;
    check.name = "errors";
    check.prometheus.emplace();
    check.prometheus->query = "up{pool=\"{{nodepool-name}}\"}";
    daemon_.strategy.rolling.checks.push_back(check);
  }

  Findings Try(const QueryCheck& check_query, const YurtAppDaemon* before = nullptr) {
    Deadline deadline(world_.clock, world_.clock.Now() + std::chrono::seconds(5));
    return TryChecks(daemon_, before, world_.client, check_query, deadline);
  }

  testing::AdmissionWorld world_;
  YurtAppDaemon daemon_;
};

TEST_F(CheckTrialTest, InvalidQueryIsRejectedWithItsField) {
  const Findings found = Try([](const std::string& query, std::stop_token) -> Status {
    EXPECT_EQ(query, "up{pool=\"any\"}");
    return Fail(Reason::kInvalid, "parse error");
  });
  ASSERT_EQ(found.rejections.size(), 1U);
  EXPECT_EQ(found.rejections[0].field, kQuery);
  EXPECT_THAT(found.rejections[0].message, HasSubstr("parse error"));
}

TEST_F(CheckTrialTest, InvalidQueryOfTheControlGroupIsRejectedWithItsField) {
  daemon_.strategy.rolling.checks[0].prometheus->control_query = "sum(errors{pool=~\"{{nodepool-name}}\"})";
  const Findings found = Try([](const std::string& query, std::stop_token) -> Status {
    if (!query.starts_with("sum(")) return {};
    return Fail(Reason::kInvalid, "parse error");
  });
  ASSERT_EQ(found.rejections.size(), 1U);
  EXPECT_EQ(found.rejections[0].field, "spec.updateStrategy.rollingUpdate.checks[0].prometheus.compare.query");
  EXPECT_THAT(found.warnings, IsEmpty());
}

TEST_F(CheckTrialTest, QueryThatCannotBeTriedIsAWarning) {
  const Findings found =
      Try([](const std::string&, std::stop_token) -> Status { return Fail(Reason::kInternalError, "no response"); });
  EXPECT_THAT(found.rejections, IsEmpty());
  EXPECT_THAT(found.warnings, ElementsAre(std::string(kQuery) + ": Prometheus could not check the query: no response"));
}

TEST_F(CheckTrialTest, WarningNamesTheFlagIfPrometheusIsNotConfigured) {
  const Findings found = Try(nullptr);
  EXPECT_THAT(found.rejections, IsEmpty());
  EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("--prometheus-url")));
}

TEST_F(CheckTrialTest, WarningWithoutPrometheusStatesThatDryRunDoesNotStopUpdates) {
  daemon_.strategy.rolling.checks[0].dry_run = true;
  EXPECT_THAT(Try(nullptr).warnings, ElementsAre(HasSubstr("the check never passes, and each updated pool waits")));
}

TEST_F(CheckTrialTest, PoolOutsideAStringLiteralIsAWarning) {
  PrometheusCheck& prometheus = *daemon_.strategy.rolling.checks[0].prometheus;
  prometheus.query = "errors_{{nodepool-name}}";
  prometheus.control_query = "sum(errors{pool=~\"{{nodepool-name}}\"})";
  const Findings found = Try([](const std::string&, std::stop_token) { return Status(); });
  EXPECT_THAT(found.rejections, IsEmpty());
  EXPECT_THAT(found.warnings, ElementsAre(std::string(kQuery) + ": {{nodepool-name}} must be inside a string literal, "
                                                                "as in {pool=\"{{nodepool-name}}\"}"));
}

TEST_F(CheckTrialTest, KnownQueryIsNotTriedAgain) {
  const YurtAppDaemon before = daemon_;
  const Findings found = Try(nullptr, &before);
  EXPECT_THAT(found.rejections, IsEmpty());
  EXPECT_THAT(found.warnings, IsEmpty());
}

}  // namespace
}  // namespace yad
