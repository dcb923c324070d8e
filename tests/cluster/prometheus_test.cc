// The Prometheus client with a real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "operator/prometheus/client.h"
#include "operator/prometheus/pool_query.h"
#include "operator/prometheus/sample_bounds.h"
#include "tests/support/prometheus_server.h"
#include "tests/support/test_run.h"

namespace yad::testing {
namespace {

using ::testing::HasSubstr;

constexpr char kMetrics[] = R"(
errors{pool="shop-1"} 0.01
errors{pool="shop-2"} 0.03
errors{pool="shop-3"} 7
errors{pool="shop.3"} 0.5
errors{pool="a\"b"} 11
undefined NaN
infinite +Inf
)";

class PrometheusTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!PrometheusServer::Missing().empty()) return;
    server_ = std::make_unique<PrometheusServer>("/team-a");
    server_->Export(kMetrics);
    auto client = PrometheusClient::Make({server_->url(), "", "", "test/1"});
    ASSERT_TRUE(client) << client.error().ToString();
    client_ = *std::move(client);
  }
  static void TearDownTestSuite() {
    client_.reset();
    server_.reset();
  }
  void SetUp() override {
    if (server_ != nullptr) return;
    if (InCi()) FAIL() << PrometheusServer::Missing();
    GTEST_SKIP() << PrometheusServer::Missing();
  }

  static Result<std::optional<double>> Query(const std::string& text, WallTime at = std::chrono::system_clock::now()) {
    return client_->Query(text, at);
  }
  static std::optional<double> Value(const std::string& text) {
    const auto value = Query(text);
    EXPECT_TRUE(value) << text << ": " << value.error().ToString();
    return value ? *value : std::nullopt;
  }
  static Error ErrorOf(const std::string& text) {
    const auto value = Query(text);
    EXPECT_FALSE(value) << text;
    return value ? Error{} : value.error();
  }
  // Returns the same selector with each kind of quotes.
  static std::vector<std::string> Selectors(const std::string& op) {
    std::vector<std::string> texts;
    for (const std::string quote : {"\"", "'", "`"})
      texts.push_back("sum(errors{pool" + op + quote + "{{nodepool-name}}" + quote + "})");
    return texts;
  }

  static inline std::unique_ptr<PrometheusServer> server_;
  static inline std::unique_ptr<PrometheusClient> client_;
};

TEST_F(PrometheusTest, SamplesAndScalarsAreValuesAndEmptyVectorsAreNoData) {
  EXPECT_EQ(Value("errors{pool='shop-1'}"), 0.01);
  EXPECT_EQ(Value("scalar(errors{pool='shop-1'})"), 0.01);
  EXPECT_EQ(Value("1 / 4"), 0.25);
  EXPECT_EQ(Value("infinite"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(Value("undefined"), std::nullopt);
  EXPECT_EQ(Value("unknown"), std::nullopt);
}

TEST_F(PrometheusTest, AQueryIsEvaluatedAtItsTime) {
  const WallTime now = std::chrono::system_clock::now();
  EXPECT_EQ(Query("errors{pool='shop-1'}", now - std::chrono::hours(1)).value(), std::nullopt);
  const WallTime then = ParseTime("2026-01-02T03:04:05Z") + std::chrono::milliseconds(250);
  EXPECT_EQ(Query("time() - 1767323045", then).value(), 0.25);
}

TEST_F(PrometheusTest, SeveralSamplesAreAnError) {
  const Error error = ErrorOf("errors");
  EXPECT_EQ(error.reason, Reason::kBadRequest);
  EXPECT_THAT(error.message, HasSubstr("5 samples"));
}

TEST_F(PrometheusTest, RejectedQueriesAreInvalidWithTheReason) {
  const Status checked = client_->CheckQuery("sum(errors{pool=})");
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().reason, Reason::kInvalid);
  EXPECT_THAT(checked.error().message, HasSubstr("parse error"));
  EXPECT_EQ(ErrorOf("").reason, Reason::kInvalid);
  EXPECT_EQ(ErrorOf("sum(errors) by").reason, Reason::kInvalid);
  EXPECT_EQ(ErrorOf("errors[5m]").reason, Reason::kInvalid);
  EXPECT_EQ(ErrorOf("\"text\"").reason, Reason::kInvalid);
  const Error execution = ErrorOf("errors + on(job) errors");
  EXPECT_EQ(execution.reason, Reason::kInvalid);
  EXPECT_THAT(execution.message, HasSubstr("many-to-many"));
  EXPECT_TRUE(client_->CheckQuery("unknown"));
}

TEST_F(PrometheusTest, APoolsNameSelectsOnlyThatPoolAndIsEscapedInTheQuery) {
  for (const std::string& query : Selectors("=")) {
    EXPECT_EQ(Value(WithPool(query, "shop-2")), 0.03) << query;
    for (const char* name : {"\"}) or vector(1) #", "'}) or vector(1) #", "`}) or vector(1) #", "\\", "\n", "{{x}}"})
      EXPECT_EQ(Value(WithPool(query, name)), std::nullopt) << query << name;
  }
  EXPECT_EQ(Value(WithPool(Selectors("=")[0], "a\"b")), 11) << "the escaped name must select the same pool";
}

TEST_F(PrometheusTest, SeveralPoolsAreSelectedExactly) {
  for (const std::string& query : Selectors("=~")) {
    EXPECT_EQ(Value(WithPools(query, {"shop.3", "shop-2"})), 0.53) << query;
    EXPECT_EQ(Value(WithPools(query, {"shop-"})), std::nullopt) << query;
    EXPECT_EQ(Value(WithPools(query, {})), std::nullopt) << query;
    EXPECT_EQ(Value(WithPools(query, {".*", "a\"b", "shop-2|shop-3"})), std::nullopt) << query;
  }
  EXPECT_EQ(Value(WithPools("sum(errors{pool!~'{{nodepool-name}}'})", {"shop.3", "shop-1", "shop-2"})), 18);
  EXPECT_EQ(Value(WithPools("sum(errors{pool=~'(shop|x)[-]{{nodepool-name}}'})", {"2", "3"})), 7.03);
}

TEST_F(PrometheusTest, PrometheusAcceptsAQueryForThousandsOfPools) {
  std::vector<std::string> pools;
  for (int i = 0; i < 5000; ++i) pools.push_back("shop-" + std::to_string(i));
  EXPECT_EQ(Value(WithPools("sum(errors{pool=~\"{{nodepool-name}}\"})", pools)), 0.01);
}

TEST_F(PrometheusTest, AStopEndsAQueryToAHangingServerAndLaterQueriesSucceed) {
  server_->Signal(SIGSTOP);
  std::stop_source stop;
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop.request_stop();
  });
  const auto hung = client_->Query("1", std::chrono::system_clock::now(), stop.get_token());
  server_->Signal(SIGCONT);
  ASSERT_FALSE(hung);
  EXPECT_EQ(hung.error().reason, Reason::kCancelled);
  EXPECT_EQ(Value("1"), 1);
}

TEST_F(PrometheusTest, APoolIsComparedWithThePoolsThatAreNotUpdated) {
  const auto judge = [](const std::string& updated, const std::vector<std::string>& others) {
    return EvaluateSample({std::nullopt, std::nullopt, 2},
                          Value(WithPool("max(errors{pool=\"{{nodepool-name}}\"})", updated)),
                          Value(WithPools("max(errors{pool=~\"{{nodepool-name}}\"})", others)));
  };
  EXPECT_EQ(judge("shop-2", {"shop-1"}).message,
            "3 times the value of the pools that are not updated (0.01), above maxRatio 2");
  EXPECT_EQ(judge("shop-2", {"shop-1", "shop.3"}).result, SampleResult::kGood);
  EXPECT_EQ(judge("shop-2", {"shop-9"}).result, SampleResult::kNoData);
  EXPECT_EQ(judge("shop-9", {"shop-1"}).result, SampleResult::kNoData);
}

}  // namespace
}  // namespace yad::testing
