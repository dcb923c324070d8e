// How a Client handles errors, expired credentials, warnings and its rate limit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "operator/client/client.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/unit/client/client_fixture.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;

TEST_F(ClientTest, ErrorHasTheReasonAndMessageOfTheServersStatus) {
  Answer(StatusResponse(409, "AlreadyExists", "deployments.apps \"b\" already exists"));
  const Result<Json> created = client().Create(kDeployments, Object("a", "b"));
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().reason, Reason::kAlreadyExists);
  EXPECT_EQ(created.error().http_status, 409);
  EXPECT_EQ(created.error().message, "deployments.apps \"b\" already exists");
}

TEST_F(ClientTest, ErrorOfTheTransportIsReturned) {
  transport_->OnSend([](const HttpRequest&) -> Result<HttpResponse> { return Fail(Reason::kTransport, "rejected"); });
  EXPECT_EQ(client().Get(kPods, {"a", "b"}).error().message, "rejected");
}

TEST_F(ClientTest, GetRawReturnsTheBody) {
  Answer({200, {}, "ok"});
  EXPECT_EQ(client().GetRaw("/readyz").value_or(""), "ok");
  EXPECT_EQ(Last().path, "/readyz");
}

TEST_F(ClientTest, AuthorizationIsReadForEachRequest) {
  int asked = 0;
  options_.authorization = [&asked](const std::stop_token&) -> Result<std::string> {
    return "Bearer " + std::to_string(++asked);
  };
  ASSERT_TRUE(client().Get(kPods, {"a", "b"}));
  ASSERT_TRUE(client().Get(kPods, {"a", "b"}));
  EXPECT_EQ(Last().headers.at("Authorization"), "Bearer 2");
}

TEST_F(ClientTest, FailureToGetACredentialFailsTheRequest) {
  options_.authorization = [](const std::stop_token&) -> Result<std::string> {
    return Fail(Reason::kConfig, "no token");
  };
  EXPECT_EQ(client().Get(kPods, {"a", "b"}).error().message, "no token");
  EXPECT_TRUE(transport_->requests().empty());
}

TEST_F(ClientTest, UnauthorizedRequestIsRetriedOnceWithAFreshCredential) {
  std::string token = "old";
  int rejected = 0;
  options_.authorization = [&token](const std::stop_token&) -> Result<std::string> { return "Bearer " + token; };
  options_.on_unauthorized = [&] {
    ++rejected;
    token = "new";
  };
  transport_->OnSend([](const HttpRequest& request) {
    return request.headers.at("Authorization") == "Bearer new" ? JsonResponse({{"kind", "Pod"}})
                                                               : StatusResponse(401, "Unauthorized", "no");
  });
  EXPECT_TRUE(client().Get(kPods, {"a", "b"}));
  EXPECT_EQ(rejected, 1);
  EXPECT_EQ(transport_->requests().size(), 2u);
}

TEST_F(ClientTest, SecondUnauthorizedResponseIsAnErrorWithoutAThirdAttempt) {
  options_.on_unauthorized = [] {};
  Answer(StatusResponse(401, "Unauthorized", "no"));
  EXPECT_EQ(client().Get(kPods, {"a", "b"}).error().reason, Reason::kUnauthorized);
  EXPECT_EQ(transport_->requests().size(), 2u);
}

TEST_F(ClientTest, UnauthorizedWatchIsRetriedOnceWithAFreshCredential) {
  int rejected = 0;
  options_.on_unauthorized = [&] { ++rejected; };
  transport_->OnOpen([&](const HttpRequest&) -> Result<std::shared_ptr<FakeStream>> {
    if (rejected > 0) return std::make_shared<FakeStream>();
    return std::make_shared<FakeStream>(StatusResponse(401, "Unauthorized", "no"));
  });
  EXPECT_TRUE(client().OpenWatch(kPods, {}));
  EXPECT_EQ(rejected, 1);
}

TEST_F(ClientTest, ObserverIsCalledForEachResponse) {
  std::vector<std::string> seen;
  options_.observe = [&](const std::string& method, int status, Duration duration) {
    seen.push_back(method + " " + std::to_string(status) + " " + std::to_string(duration / std::chrono::seconds(1)));
  };
  transport_->OnSend([&](const HttpRequest&) -> Result<HttpResponse> {
    clock_.Advance(std::chrono::seconds(2));
    return Fail(Reason::kTransport, "x");
  });
  (void)client().Get(kPods, {"a", "b"});
  Answer(StatusResponse(404, "NotFound", "x"));
  (void)client().Delete(kPods, {"a", "b"});
  EXPECT_THAT(seen, ElementsAre("GET 0 2", "DELETE 404 0"));
}

TEST_F(ClientTest, WarningsOfAWriteAreReturnedOnlyToItsCaller) {
  std::vector<std::string> seen;
  options_.on_warning = [&](const std::string& text) { seen.push_back(text); };
  const Json pod = {{"metadata", {{"namespace", "a"}, {"name", "b"}}}};
  std::vector<std::string> warnings;
  WriteOptions write;
  write.warnings = &warnings;
  for (const int status : {200, 422}) {
    warnings.clear();
    HttpResponse response = JsonResponse(pod, status);
    response.headers["warning"] = R"(299 - "mind the gap")";
    Answer(response);
    EXPECT_EQ(client().Update(kPods, pod, write).has_value(), status == 200);
    EXPECT_THAT(warnings, ElementsAre("mind the gap"));
  }
  EXPECT_TRUE(seen.empty());
}

TEST_F(ClientTest, WarningsOfARequestWithoutACollectorAreReported) {
  std::vector<std::string> seen;
  options_.on_warning = [&](const std::string& text) { seen.push_back(text); };
  HttpResponse response = JsonResponse({{"kind", "Pod"}});
  response.headers["warning"] = R"(299 - "first, \"quoted\"", 299 - "second")";
  Answer(response);
  ASSERT_TRUE(client().Get(kPods, {"a", "b"}));
  EXPECT_THAT(seen, ElementsAre("first, \"quoted\"", "second"));
  response.headers["warning"] = "299 - \"open";
  Answer(response);
  ASSERT_TRUE(client().Get(kPods, {"a", "b"}));
}

TEST_F(ClientTest, RequestsBeyondTheLimitWaitAndStopEndsTheWait) {
  options_.qps = 1;
  options_.burst = 1;
  ASSERT_TRUE(client().Get(kPods, {"a", "b"}));
  std::stop_source stop;
  std::jthread waiting([&] {
    EXPECT_EQ(client().Get(kPods, {"a", "b"}, stop.get_token()).error().reason, Reason::kCancelled);
  });
  clock_.AwaitWaiters(1);
  stop.request_stop();
  waiting.join();
  EXPECT_EQ(transport_->requests().size(), 1u);
}

TEST_F(ClientTest, MalformedResponsesAreDecodeErrors) {
  for (const std::string& body :
       {std::string(100'000, '['), std::string("\xff"), std::string("[]"), std::string("1")}) {
    Answer({200, {}, body});
    EXPECT_EQ(client().Get(kPods, {"a", "b"}).error().reason, Reason::kDecode);
  }
}

}  // namespace
}  // namespace yad::testing
