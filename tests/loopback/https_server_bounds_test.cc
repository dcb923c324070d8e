// The limits of the webhook's server: memory, connections, and the time in the queue.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>
#include <vector>

#include "tests/loopback/https_server_fixture.h"

namespace yad::testing {
namespace {

class HttpsServerBoundsTest : public HttpsServerTest {};

TEST_F(HttpsServerBoundsTest, TotalSizeOfTheLargeBodiesOfAllConnectionsIsLimited) {
  HttpsServerOptions options = TestOptions();
  options.max_bodies = 200;
  options.large_body = 50;
  Start(options);
  // A Content-Length does not use the budget until the first bytes of the body arrive.
  HttpsClient slow = Connect();
  slow.Send("POST /wait HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 150\r\n\r\n");
  EXPECT_EQ(slow.Read().status, 100);
  EXPECT_EQ(Ask("POST /echo HTTP/1.1", std::string(120, 'y')).body, "120");
  slow.Send(std::string(150, 'x'));
  AwaitHandlers(1);
  const HttpsAnswer answer = Ask("POST /echo HTTP/1.1", std::string(120, 'y'));
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.body, "the memory for request bodies is used up; try again\n");
  EXPECT_EQ(Ask("POST /echo HTTP/1.1", std::string(50, 'y')).status, 200) << "the budget does not limit small bodies";
  Release();
  EXPECT_EQ(slow.Read().body, "150");
  // The server releases the bytes shortly after the client has its response.
  Eventually("the server accepts a body again",
             [&] { return Ask("POST /echo HTTP/1.1", std::string(120, 'y')).status == 200; });
  // A connection that is closed in the middle of a body releases its share of the budget.
  {
    HttpsClient gone = Connect();
    gone.Send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 150\r\n\r\n" + std::string(110, 'x'));
  }
  EXPECT_EQ(Ask("POST /echo HTTP/1.1", std::string(120, 'y')).status, 200);
}

// Clients with incomplete bodies must not block the apiserver.
TEST_F(HttpsServerBoundsTest, IncompleteLargeBodiesDelayNoOtherRequest) {
  Start();
  const std::size_t size = TestOptions().max_body;
  std::vector<HttpsClient> slow;
  for (int i = 0; i < 6; ++i) {
    slow.push_back(Connect());
    slow.back().Send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
                     std::string(size - 1, 'x'));
  }
  EXPECT_EQ(Ask("POST /echo HTTP/1.1", "small").body, "small");
  EXPECT_EQ(Ask("POST /echo HTTP/1.1", std::string(size, 'y')).body, std::to_string(size));
  EXPECT_TRUE(slow.front().AtEnd()) << "this connection has waited longest";
}

TEST_F(HttpsServerBoundsTest, LargeBodiesAreHandledOneAtATime) {
  HttpsServerOptions options = TestOptions();
  options.large_body = 1000;
  Start(options);
  std::vector<std::future<HttpsAnswer>> answers;
  for (int i = 0; i < 6; ++i) {
    answers.push_back(
        std::async(std::launch::async, [this] { return Ask("POST /overlap HTTP/1.1", std::string(1001, 'x')); }));
  }
  for (auto& answer : answers) EXPECT_EQ(answer.get().body, "1001");
  EXPECT_EQ(most_, 1);
}

TEST_F(HttpsServerBoundsTest, ConnectionWithALargeResponseThatIsNotReadIsClosedIfAnotherOneNeedsTheMemory) {
  HttpsServerOptions options = TestOptions();
  options.max_bodies = kLargeAnswer + 1000;
  options.large_body = 1000;
  Start(options);
  HttpsClient reader = Connect();
  reader.Send("POST /large HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx");
  ASSERT_TRUE(reader.AwaitAnswer());
  EXPECT_EQ(Ask("POST /echo HTTP/1.1", "small").body, "small");
  EXPECT_EQ(Ask("POST /echo HTTP/1.1", std::string(2000, 'y')).status, 200);
  EXPECT_EQ(reader.Read().status, 0);
}

TEST_F(HttpsServerBoundsTest, ResponseBeyondTheBudgetIsReplacedByAShortOne) {
  HttpsServerOptions options = TestOptions();
  options.max_bodies = 1000;
  options.large_body = 0;
  Start(options);
  HttpsClient client = Connect();
  const HttpsAnswer answer = client.Ask("POST /large HTTP/1.1", "hello");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.body, "the memory for response bodies is used up; try again\n");
  EXPECT_EQ(client.Ask("POST /echo HTTP/1.1", std::string(1000, 'x')).body, "1000") << "the budget must be free again";
}

TEST_F(HttpsServerBoundsTest, QuickCallsWaitNeitherForHandlersNorForLargeBodies) {
  HttpsServerOptions options = TestOptions();
  options.handler_threads = 1;
  options.large_body = 1000;
  options.is_quick = [](const HttpsCall& call) { return call.target == "/quick"; };
  Start(options);
  std::vector<HttpsClient> busy;
  for (const std::size_t size : {5, 1001}) {
    busy.push_back(Connect());
    busy.back().Send("POST /wait HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
                     std::string(size, 'x'));
  }
  AwaitHandlers(2);
  EXPECT_EQ(Ask("POST /quick HTTP/1.1", "hello").body, "hello");
  EXPECT_EQ(Ask("POST /quick HTTP/1.1", std::string(1001, 'x')).body, "1001");
  Release();
  EXPECT_EQ(busy[0].Read().body, "xxxxx");
  EXPECT_EQ(busy[1].Read().body, "1001");
}

TEST_F(HttpsServerBoundsTest, ArrivalTimeIsWhenTheCallIsReadAndNotWhenItsHandlerStarts) {
  std::atomic<bool> read{false};
  HttpsServerOptions options = TestOptions();
  options.handler_threads = 1;
  // The server calls is_quick as soon as it has read a request.
  options.is_quick = [&](const HttpsCall& call) {
    if (call.target == "/echo") read = true;
    return false;
  };
  Start(options);
  HttpsClient busy = Connect();
  busy.Send("POST /wait HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbusy");
  AwaitHandlers(1);
  HttpsClient waits = Connect();
  const SteadyTime sent = Clock::Real().Now();
  waits.Send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
  Eventually("the server has read the second request", [&] { return read.load(); });
  const SteadyTime released = Clock::Real().Now();
  Release();
  EXPECT_EQ(busy.Read().body, "busy");
  EXPECT_EQ(waits.Read().body, "hello");
  Stop();
  EXPECT_GE(calls_.back().arrived, sent);
  EXPECT_LE(calls_.back().arrived, released);
}

TEST_F(HttpsServerBoundsTest, ConnectionBeyondTheLimitClosesTheLongestIdleOne) {
  HttpsServerOptions options = TestOptions();
  options.max_connections = 3;
  Start(options);
  HttpsClient busy = Connect();
  busy.Send("POST /wait HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbusy");
  AwaitHandlers(1);
  HttpsClient silent(server_->port());
  HttpsClient asks = Connect();
  EXPECT_EQ(asks.Ask("POST /echo HTTP/1.1", "hello").status, 200);
  HttpsClient newest = Connect();
  EXPECT_EQ(newest.Ask("POST /echo HTTP/1.1", "hello").status, 200);
  EXPECT_TRUE(silent.AtEnd());
  EXPECT_EQ(asks.Ask("POST /echo HTTP/1.1", "hello").status, 200);
  Release();
  EXPECT_EQ(busy.Read().body, "busy");
}

// Clients with incomplete requests must not block the apiserver.
TEST_F(HttpsServerBoundsTest, ConnectionsWithAnIncompleteRequestAreClosedForNewOnes) {
  HttpsServerOptions options = TestOptions();
  options.max_connections = 3;
  Start(options);
  std::vector<HttpsClient> halves;
  for (const char* half :
       {"P", "POST /echo HTTP/1.1\r\n", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nx"}) {
    halves.push_back(Connect());
    halves.back().Send(half);
  }
  for (int i = 0; i < 3; ++i) {
    HttpsClient asks = Connect();
    EXPECT_EQ(asks.Ask("POST /echo HTTP/1.1", "hello").status, 200) << i;
  }
}

// Clients that stay connected after a malformed request must not block the apiserver.
TEST_F(HttpsServerBoundsTest, ConnectionsWithARejectedRequestAreClosedForNewOnes) {
  HttpsServerOptions options = TestOptions();
  options.max_connections = 3;
  Start(options);
  std::vector<HttpsClient> rejected;
  for (int i = 0; i < 3; ++i) {
    rejected.push_back(Connect());
    rejected.back().Send("garbage\r\n\r\n");
    EXPECT_EQ(rejected.back().Read().status, 400);
  }
  HttpsClient fourth = Connect();
  EXPECT_EQ(fourth.Ask("POST /echo HTTP/1.1", "hello").status, 200);
}

TEST_F(HttpsServerBoundsTest, ConnectionsWithAnUnreadResponseAreClosedForNewOnes) {
  HttpsServerOptions options = TestOptions();
  options.max_connections = 3;
  Start(options);
  std::vector<HttpsClient> unread;
  for (int i = 0; i < 3; ++i) {
    unread.push_back(Connect());
    unread.back().Send("POST /large HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx");
    ASSERT_TRUE(unread.back().AwaitAnswer());
  }
  HttpsClient fourth = Connect();
  EXPECT_EQ(fourth.Ask("POST /echo HTTP/1.1", "hello").status, 200);
  EXPECT_EQ(unread[0].Read().status, 0) << "this connection has waited longest";
  EXPECT_EQ(unread[1].Read().body.size(), kLargeAnswer);
  EXPECT_EQ(unread[2].Read().body.size(), kLargeAnswer);
}

TEST_F(HttpsServerBoundsTest, NewConnectionIsClosedWhenAllOthersAreBusy) {
  HttpsServerOptions options = TestOptions();
  options.max_connections = 2;
  Start(options);
  std::vector<HttpsClient> busy;
  for (int i = 0; i < 2; ++i) {
    busy.push_back(Connect());
    busy.back().Send("POST /wait HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbusy");
  }
  AwaitHandlers(2);
  EXPECT_FALSE(Connect().connected());
  Release();
  for (HttpsClient& client : busy) EXPECT_EQ(client.Read().body, "busy");
  // The server may count the connection as idle shortly after the client has received its response.
  Eventually("the server accepts a connection again", [&] { return Connect().connected(); });
}

TEST_F(HttpsServerBoundsTest, IdleTimeoutIsLongerThanTheIdleTimeoutOfTheApiserver) {
  EXPECT_GT(HttpsServerOptions().idle_timeout, std::chrono::seconds(90));
}

}  // namespace
}  // namespace yad::testing
