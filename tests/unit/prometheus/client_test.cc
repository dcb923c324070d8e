#include "operator/prometheus/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"

namespace yad::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

HttpResponse One(const std::string& number) {
  return JsonResponse(
      {{"status", "success"}, {"data", {{"resultType", "scalar"}, {"result", {1735787045.123, number}}}}});
}

// A transport that responds only after a stop is requested.
class SilentTransport : public HttpTransport {
 public:
  Result<HttpResponse> Send(const HttpRequest&, std::stop_token stop) override {
    ++requests;
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any never;
    never.wait(lock, stop, [] { return false; });
    return Fail(Reason::kCancelled, "cancelled");
  }
  Result<std::unique_ptr<HttpStream>> Open(const HttpRequest&, std::stop_token) override {
    return Fail(Reason::kTransport, "no streams");
  }
  std::atomic<int> requests = 0;
};

class PrometheusClientUnitTest : public ::testing::Test {
 protected:
  Result<std::optional<double>> Query(const std::string& text = "up", std::stop_token stop = {}) {
    return client_.Query(text, clock_.WallNow(), std::move(stop));
  }

  FakeClock clock_;
  std::shared_ptr<FakeTransport> transport_ =
      std::make_shared<FakeTransport>([](const HttpRequest&) { return One("0.5"); });
  PrometheusClient client_{std::make_unique<ServiceClient>(transport_, nullptr, "test/1"), clock_};
};

TEST_F(PrometheusClientUnitTest, AQueryIsSentAsAFormWithItsTimeAndALimit) {
  EXPECT_EQ(Query("sum(up{a=\"b\"})+1").value(), 0.5);
  const HttpRequest request = transport_->requests().at(0);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/api/v1/query");
  EXPECT_EQ(request.body, "query=sum%28up%7Ba%3D%22b%22%7D%29%2B1&time=2026-01-02T03%3A04%3A05.000000Z&timeout=10s");
  EXPECT_EQ(request.headers.at("Content-Type"), "application/x-www-form-urlencoded");
  EXPECT_EQ(request.headers.at("User-Agent"), "test/1");
  EXPECT_FALSE(request.headers.contains("Authorization"));
  EXPECT_LE(request.timeout, PrometheusClient::kTimeout);
  EXPECT_EQ(request.max_answer, 64U << 10);
}

TEST_F(PrometheusClientUnitTest, ALongResponseIsAnErrorThatNamesTheFix) {
  transport_->OnSend([](const HttpRequest&) { return HttpResponse{200, {}, std::string((64 << 10) + 1, ' ')}; });
  const auto value = Query();
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().reason, Reason::kTooLarge);
  EXPECT_THAT(value.error().message, AllOf(HasSubstr("64 KiB"), HasSubstr("sum")));
}

TEST_F(PrometheusClientUnitTest, ACheckedQueryIsInvalidOnlyIfPrometheusRejectsIt) {
  EXPECT_TRUE(client_.CheckQuery("up"));
  transport_->OnSend([](const HttpRequest&) {
    return JsonResponse({{"status", "error"}, {"errorType", "bad_data"}, {"error", "1:1: parse error"}}, 400);
  });
  const Status rejected = client_.CheckQuery("up{");
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().reason, Reason::kInvalid);
  EXPECT_THAT(rejected.error().message, HasSubstr("1:1: parse error"));
  transport_->OnSend([](const HttpRequest&) -> Result<HttpResponse> { return Fail(Reason::kTransport, "rejected"); });
  const Status unreachable = client_.CheckQuery("up");
  ASSERT_FALSE(unreachable);
  EXPECT_EQ(unreachable.error().reason, Reason::kTransport);
}

TEST_F(PrometheusClientUnitTest, ATokenIsReadAgainAfterItIsRejected) {
  const std::string path = ::testing::TempDir() + "prometheus_token_" + std::to_string(getpid());
  std::ofstream(path) << "first\n";
  PrometheusClient client(std::make_unique<ServiceClient>(transport_, std::make_shared<TokenFile>(path, clock_), ""),
                          clock_);
  transport_->OnSend([](const HttpRequest& request) {
    return request.headers.at("Authorization") == "Bearer second" ? One("1") : HttpResponse{401, {}, ""};
  });
  const auto rejected = client.Query("up", clock_.WallNow());
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().reason, Reason::kUnauthorized);
  EXPECT_EQ(transport_->requests().size(), 2U) << "the query is sent twice, and then fails";
  std::ofstream(path) << "second\n";
  EXPECT_EQ(client.Query("up", clock_.WallNow()).value(), 1);
  std::remove(path.c_str());
}

class SilentPrometheusTest : public ::testing::Test {
 protected:
  // Starts threads that send one query each.
  void Start(int count) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this] {
        const auto value = client_.Query("up", clock_.WallNow(), stop_.get_token());
        const Error error = value ? Error{} : value.error();
        std::lock_guard lock(mutex_);
        errors_.push_back(error);
      });
    }
  }
  // Waits until `count` requests were sent, and checks that there are no more.
  void AwaitRequests(int count) {
    while (transport_->requests < count) std::this_thread::yield();
    EXPECT_EQ(transport_->requests, count);
  }
  std::vector<Error> End() {
    threads_.clear();
    return errors_;
  }

  FakeClock clock_;
  std::shared_ptr<SilentTransport> transport_ = std::make_shared<SilentTransport>();
  PrometheusClient client_{std::make_unique<ServiceClient>(transport_, nullptr, ""), clock_};
  std::stop_source stop_;
  std::mutex mutex_;
  std::vector<Error> errors_;
  std::vector<std::jthread> threads_;  // last, because the threads use the members above
};

TEST_F(SilentPrometheusTest, AQueryEndsAtItsDeadlineEvenIfTheTransportDoesNotReturn) {
  Start(1);
  clock_.AwaitWaiters(1);
  clock_.Advance(PrometheusClient::kTimeout);
  const std::vector<Error> errors = End();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].reason, Reason::kTransport);
  EXPECT_EQ(errors[0].message, "Prometheus did not respond within 10 s");
}

TEST_F(SilentPrometheusTest, FourQueriesAreInFlightAndOthersWaitUntilTheirDeadline) {
  Start(10);
  clock_.AwaitWaiters(10);
  AwaitRequests(4);
  clock_.Advance(PrometheusClient::kTimeout);
  const std::vector<Error> errors = End();
  ASSERT_EQ(errors.size(), 10U);
  int waited = 0;
  for (const Error& error : errors) {
    EXPECT_EQ(error.reason, Reason::kTransport) << error.ToString();
    waited += error.message.starts_with("no query could be sent for 10 s");
  }
  EXPECT_LE(waited, 6);
}

TEST_F(SilentPrometheusTest, AQueryThatEndsStartsTheNextOne) {
  Start(4);
  clock_.AwaitWaiters(4);
  clock_.Advance(std::chrono::seconds(1));
  Start(1);
  clock_.AwaitWaiters(5);
  AwaitRequests(4);
  clock_.Advance(std::chrono::seconds(9));
  // One of the waiting queries is sent now. It has one second left until its deadline.
  AwaitRequests(5);
  clock_.AwaitWaiters(1);
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(End().size(), 5U);
}

TEST_F(SilentPrometheusTest, AStopEndsQueriesInFlightAndQueriesThatWait) {
  Start(6);
  clock_.AwaitWaiters(6);
  stop_.request_stop();
  const std::vector<Error> errors = End();
  ASSERT_EQ(errors.size(), 6U);
  for (const Error& error : errors) EXPECT_EQ(error.reason, Reason::kCancelled) << error.ToString();
}

class MakePrometheusClientTest : public ::testing::Test {
 protected:
  static std::string Failure(const ServiceOptions& options) {
    const auto client = PrometheusClient::Make(options);
    if (client) return "no failure";
    EXPECT_EQ(client.error().reason, Reason::kConfig);
    return client.error().message;
  }
};

TEST_F(MakePrometheusClientTest, InvalidAddressesAndFilesAreErrorsThatNameThem) {
  EXPECT_THAT(Failure({"prometheus:9090", "", "", ""}), HasSubstr("\"prometheus:9090\" must begin with https://"));
  EXPECT_THAT(Failure({"https://x", "/no/such/ca", "", ""}), HasSubstr("/no/such/ca"));
  EXPECT_THAT(Failure({"https://x", "", "/no/such/token", ""}), HasSubstr("/no/such/token"));
  EXPECT_THAT(Failure({"https://x", "/dev/null", "", ""}), HasSubstr("/dev/null: the file is empty"));
  EXPECT_TRUE(PrometheusClient::Make({"http://prometheus.monitoring:9090/prefix", "", "", ""}));
}

}  // namespace
}  // namespace yad::testing
