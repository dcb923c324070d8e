// Messages to receivers that hang, redirect or send too much, with both implementations of HttpTransport.
#include "operator/notify/receiver.h"

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/loopback/transport_fixture.h"
#include "tests/support/fake_clock.h"

namespace yad::testing {
namespace {

class ReceiverLoopbackTest : public TransportTest {
 protected:
  std::unique_ptr<Receiver> ReceiverOf(const TestServer& server, const std::string& path = "/") {
    return std::make_unique<Receiver>(std::make_unique<ServiceClient>(Make(For(server)), nullptr, "test/1"), path,
                                      "text/x", clock_);
  }
  FakeClock clock_;
};
INSTANTIATE_TEST_SUITE_P(Both, ReceiverLoopbackTest, BothTransports(), NameOfTransport);

TEST_P(ReceiverLoopbackTest, AMessageIsPostedUnchangedToTheAddress) {
  TestServer server(Tls(), AnswerOk);
  EXPECT_TRUE(ReceiverOf(server)->Post("a", {}));
  EXPECT_TRUE(ReceiverOf(server, "/v1/events")->Post("b", {}));
  EXPECT_TRUE(ReceiverOf(server, "/v1/events/")->Post("c", {}));
  const std::vector<TestRequest> requests = server.requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(requests[0].target, "/");
  EXPECT_EQ(requests[1].target, "/v1/events");
  EXPECT_EQ(requests[2].target, "/v1/events/");
  EXPECT_EQ(requests[1].method, "POST");
  EXPECT_EQ(requests[1].body, "b");
  EXPECT_EQ(requests[1].headers.at("content-type"), "text/x");
}

TEST_P(ReceiverLoopbackTest, ARequestToASilentReceiverEndsAtTheDeadline) {
  std::atomic<bool> sent = false;
  TestServer server(Plain(), [&](TestConnection& connection, const TestRequest&) {
    sent = true;
    connection.WaitUntilClosed();
  });
  const auto receiver = ReceiverOf(server);
  Status status;
  std::jthread thread([&] { status = receiver->Post("a", {}); });
  while (!sent) std::this_thread::yield();
  clock_.AwaitWaiters(1);
  clock_.Advance(Receiver::kTimeout);
  thread.join();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "the server did not respond within 10 s");
}

TEST_P(ReceiverLoopbackTest, ARedirectIsNotFollowed) {
  TestServer other(Plain(), AnswerOk);
  TestServer server(Plain(), [&](TestConnection& connection, const TestRequest&) {
    connection.Answer(307, "", "Location: " + other.url() + "/\r\n");
  });
  EXPECT_FALSE(ReceiverOf(server)->Post("a", {}));
  EXPECT_TRUE(other.requests().empty());
}

TEST_P(ReceiverLoopbackTest, AResponseBeyondTheLimitIsAnError) {
  TestServer server(Plain(), [&](TestConnection& connection, const TestRequest&) {
    connection.StartChunks();
    for (int i = 0; i < 70; ++i) connection.Chunk(std::string(1024, ' '));
    connection.WaitUntilClosed();
  });
  const Status status = ReceiverOf(server)->Post("a", {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().reason, Reason::kTooLarge);
}

// This test creates the receiver with Make, which reads the CA and the token from files.
TEST(MakeReceiverTest, AddressIsUsedUnchangedWithTheCaAndTheTokenOfTheFiles) {
  const std::string folder = ::testing::TempDir() + "/receiver_files_" + std::to_string(getpid());
  std::filesystem::create_directories(folder);
  const auto file = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder + "/" + name) << text;
    return folder + "/" + name;
  };
  TestCa ca;
  TestServerOptions options;
  options.identity = ca.Issue();
  TestServer server(options, AnswerOk);
  const auto receiver = Receiver::Make(
      {server.url() + "/hook", file("ca.crt", ca.cert_pem()), file("token", "secret\n"), "test/1"}, "text/x");
  ASSERT_TRUE(receiver) << receiver.error().ToString();
  EXPECT_TRUE((*receiver)->Post("a", {}));
  EXPECT_EQ(server.requests().at(0).target, "/hook");
  EXPECT_EQ(server.requests().at(0).headers.at("authorization"), "Bearer secret");
  TestServer plain(
      [] {
        TestServerOptions without_tls;
        without_tls.tls = false;
        return without_tls;
      }(),
      AnswerOk);
  for (const char* path : {"", "/", "/a", "/a/"})
    EXPECT_TRUE((*Receiver::Make({plain.url() + path, "", "", ""}, "text/x"))->Post("a", {}));
  std::vector<std::string> targets;
  for (const TestRequest& request : plain.requests()) targets.push_back(request.target);
  EXPECT_THAT(targets, ::testing::ElementsAre("/", "/", "/a", "/a/"));
  const auto bad = Receiver::Make({"https://x", "/no/such/ca", "", ""}, "text/x");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().reason, Reason::kConfig);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace yad::testing
