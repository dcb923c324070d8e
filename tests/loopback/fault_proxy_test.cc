#include "tests/support/fault_proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <optional>
#include <thread>

#include "operator/client/transport/transport_options.h"
#include "tests/support/https_client.h"
#include "tests/support/tls_test_server.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;

constexpr char kWatch[] = "/api/v1/pods?a=b&watch=true";

class FaultProxyTest : public ::testing::Test {
 protected:
  FaultProxyTest() {
    TestServerOptions options;
    options.identity = ca_.Issue();
    server_.emplace(options, [this](TestConnection& connection, const TestRequest& request) {
      if (request.target.find("watch=true") == std::string::npos) {
        connection.Answer(200, request.method + " " + request.target + " " + request.body);
        return;
      }
      connection.StartChunks();
      connection.Chunk("{\"first\": 1}\n");
      connection.Chunk("{\"second\": 2}\n");
      if (endless_) {
        connection.WaitUntilClosed();
        server_saw_the_end_ = true;
      } else {
        connection.Chunk("");
      }
    });
    proxy_.emplace(server_->url(), ca_.cert_pem(), [this](const ProxiedRequest& request) {
      asked_ = request;
      return fault_;
    });
  }
  HttpsClient Connect() { return HttpsClient(proxy_->port(), proxy_->ca_pem()); }
  std::shared_ptr<HttpTransport> Transport() {
    TransportOptions options;
    options.server = proxy_->url();
    options.tls.ca_pem = proxy_->ca_pem();
    return *MakeTransport(options);
  }
  // Appends all bytes of a watch to `text`. Returns the error that ended the watch, or "".
  static std::string Watch(HttpTransport& transport, std::string& text) {
    const auto stream = transport.Open({"GET", kWatch, {}, "", std::chrono::hours(1)}, {});
    if (!stream) return stream.error().ToString();
    for (;;) {
      const Result<bool> more = (*stream)->Read(text);
      if (!more) return more.error().ToString();
      if (!*more) return "";
    }
  }

  TestCa ca_;
  std::atomic<bool> endless_{false};
  std::atomic<bool> server_saw_the_end_{false};
  Fault fault_;  // set by the test before its request
  ProxiedRequest asked_;
  std::optional<TestServer> server_;
  std::optional<FaultProxy> proxy_;
};

TEST_F(FaultProxyTest, RequestsAndResponsesAreForwardedOverOneConnection) {
  HttpsClient client = Connect();
  ASSERT_TRUE(client.connected());
  EXPECT_EQ(client.Ask("GET /api/v1/pods?limit=5 HTTP/1.1").body, "GET /api/v1/pods?limit=5 ");
  EXPECT_EQ(asked_.path, "/api/v1/pods");
  EXPECT_EQ(asked_.query, "limit=5");
  EXPECT_FALSE(asked_.IsWrite());
  EXPECT_FALSE(asked_.IsWatch());
  const std::string large(200'000, 'x');
  EXPECT_EQ(client.Ask("POST /api/v1/pods HTTP/1.1", large).body, "POST /api/v1/pods " + large);
  EXPECT_EQ(asked_.body, large);
  EXPECT_EQ(asked_.connection, 1);
  EXPECT_TRUE(asked_.IsWrite());
  EXPECT_EQ(server_->connections(), 1);
}

TEST_F(FaultProxyTest, IdleConnectionThatTheServerClosedIsReopened) {
  HttpsClient client = Connect();
  EXPECT_EQ(client.Ask("GET /a HTTP/1.1").status, 200);
  server_->DropConnections();
  EXPECT_EQ(client.Ask("GET /b HTTP/1.1").status, 200);
  EXPECT_EQ(server_->connections(), 2);
}

TEST_F(FaultProxyTest, RepeatedWatchesAreForwarded) {
  const auto transport = Transport();
  std::string text;
  EXPECT_EQ(Watch(*transport, text), "");
  EXPECT_EQ(text, "{\"first\": 1}\n{\"second\": 2}\n");
  EXPECT_TRUE(asked_.IsWatch());
  EXPECT_EQ(Watch(*transport, text), "");
}

TEST_F(FaultProxyTest, AnEventIsForwardedWhileTheWatchIsOpen) {
  endless_ = true;
  HttpRequest request{"GET", kWatch, {}, "", std::chrono::hours(1)};
  std::stop_source stop;
  const auto stream = Transport()->Open(request, stop.get_token());
  ASSERT_TRUE(stream);
  std::string text;
  while (text.find("second") == std::string::npos) ASSERT_TRUE((*stream)->Read(text));
}

TEST_F(FaultProxyTest, AStreamIsTruncatedInTheMiddleOfALine) {
  fault_.cut_after = std::string("d\r\n{\"first\": 1}\n\r\ne\r\n{\"sec").size();
  std::string text;
  EXPECT_NE(Watch(*Transport(), text), "");
  EXPECT_EQ(text.substr(0, 13), "{\"first\": 1}\n");
  EXPECT_EQ(text.find("ond"), std::string::npos);
}

TEST_F(FaultProxyTest, ServerDetectsThatTheClientClosesAnIdleWatch) {
  endless_ = true;
  {
    HttpsClient client = Connect();
    ASSERT_TRUE(client.Send(std::string("GET ") + kWatch + " HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    EXPECT_EQ(client.Read().status, 200);
  }
  while (!server_saw_the_end_) std::this_thread::yield();
}

TEST_F(FaultProxyTest, RequestToWhichTheProxyRespondsIsNotForwarded) {
  fault_.instead = ProxyReply{429, "slow down", "Retry-After: 1\r\n"};
  HttpsClient client = Connect();
  const HttpsAnswer answer = client.Ask("GET /a HTTP/1.1");
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.body, "slow down");
  EXPECT_EQ(answer.headers.at("retry-after"), "1");
  EXPECT_EQ(server_->connections(), 0);
}

TEST_F(FaultProxyTest, ADroppedRequestIsNotForwarded) {
  fault_.drop = true;
  EXPECT_EQ(Connect().Ask("DELETE /a HTTP/1.1").status, 0);
  EXPECT_EQ(server_->connections(), 0);
}

TEST_F(FaultProxyTest, AResponseIsDroppedAfterTheServerHasHandledTheRequest) {
  std::vector<int> statuses;
  fault_.pass_on = [&](int status) {
    statuses.push_back(status);
    return false;
  };
  EXPECT_EQ(Connect().Ask("PUT /a HTTP/1.1").status, 0);
  proxy_.reset();  // joins the thread that called the hook
  EXPECT_THAT(statuses, ElementsAre(200));
  EXPECT_EQ(server_->requests().size(), 1U);
}

TEST_F(FaultProxyTest, HookGetsStatusZeroWhenTheServerIsDown) {
  server_.reset();
  std::vector<int> statuses;
  fault_.pass_on = [&](int status) {
    statuses.push_back(status);
    return true;
  };
  EXPECT_EQ(Connect().Ask("PUT /a HTTP/1.1").status, 0);
  proxy_.reset();  // joins the thread that called the hook
  EXPECT_THAT(statuses, ElementsAre(0));
}

TEST_F(FaultProxyTest, BlockedRequestsAreForwardedWhenTheBlockEnds) {
  HttpsClient client = Connect();
  EXPECT_EQ(client.Ask("GET /a HTTP/1.1").status, 200);
  proxy_->Stall(true);
  auto answer = std::async(std::launch::async, [&] { return client.Ask("GET /b HTTP/1.1").status; });
  auto other = std::async(std::launch::async, [&] { return Connect().Ask("GET /c HTTP/1.1").status; });
  EXPECT_EQ(answer.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  EXPECT_EQ(other.wait_for(std::chrono::milliseconds(0)), std::future_status::timeout);
  EXPECT_EQ(asked_.path, "/a");
  proxy_->Stall(false);
  EXPECT_EQ(answer.get(), 200);
  EXPECT_EQ(other.get(), 200);
}

TEST_F(FaultProxyTest, OpenConnectionsCanBeBlockedWhileNewConnectionsAreForwarded) {
  endless_ = true;
  std::stop_source stop;
  const auto stream = Transport()->Open({"GET", kWatch, {}, "", std::chrono::hours(1)}, stop.get_token());
  ASSERT_TRUE(stream);
  HttpsClient client = Connect();
  EXPECT_EQ(client.Ask("GET /a HTTP/1.1").status, 200);
  proxy_->StallOpenConnections();
  EXPECT_EQ(Connect().Ask("GET /b HTTP/1.1").status, 200);
  ASSERT_TRUE(client.Send("GET /c HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  EXPECT_EQ(Connect().Ask("GET /d HTTP/1.1").status, 200);
  EXPECT_EQ(asked_.path, "/d");
  server_->DropConnections();  // A stalled connection stays open for the client.
  EXPECT_EQ(Connect().Ask("GET /e HTTP/1.1").status, 200);
  proxy_.reset();
}

TEST_F(FaultProxyTest, ADelayedResponseIsForwardedCompletely) {
  fault_.lag = std::chrono::milliseconds(20);
  std::string text;
  EXPECT_EQ(Watch(*Transport(), text), "");
  EXPECT_EQ(text, "{\"first\": 1}\n{\"second\": 2}\n");
}

TEST_F(FaultProxyTest, ProxyThatIsDownClosesAndRefusesConnections) {
  HttpsClient client = Connect();
  EXPECT_EQ(client.Ask("GET /a HTTP/1.1").status, 200);
  proxy_->GoDown();
  EXPECT_EQ(client.Ask("GET /a HTTP/1.1").status, 0);
  EXPECT_FALSE(Connect().connected());
  proxy_->ComeBack();
  HttpsClient again = Connect();
  EXPECT_EQ(again.Ask("GET /a HTTP/1.1").status, 200);
  proxy_->CloseConnections();
  EXPECT_EQ(again.Ask("GET /a HTTP/1.1").status, 0);
  EXPECT_EQ(Connect().Ask("GET /a HTTP/1.1").status, 200);
}

TEST_F(FaultProxyTest, ADelayEndsWhenTheProxyStops) {
  fault_.delay = std::chrono::hours(1);
  HttpsClient client = Connect();
  ASSERT_TRUE(client.Send("GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  proxy_.reset();
  EXPECT_EQ(client.Read().status, 0);
}

}  // namespace
}  // namespace yad::testing
