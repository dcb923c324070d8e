// Queries to servers that hang, send invalid responses or send too much, with both implementations of HttpTransport.
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "operator/prometheus/client.h"
#include "tests/loopback/transport_fixture.h"
#include "tests/support/fake_clock.h"

namespace yad::testing {
namespace {

using ::testing::Not;

const std::string kOne = R"({"status":"success","data":{"resultType":"vector","result":[{"value":[1,"0.5"]}]}})";

class PrometheusClientTest : public TransportTest {
 protected:
  std::unique_ptr<PrometheusClient> ClientOf(const TestServer& server, const std::string& prefix = "") {
    TransportOptions options = For(server);
    options.server += prefix;
    return std::make_unique<PrometheusClient>(std::make_unique<ServiceClient>(Make(options), nullptr, "test/1"),
                                              clock_);
  }
  Error ErrorOf(PrometheusClient& client, std::stop_token stop = {}) {
    const auto value = client.Query("up", clock_.WallNow(), std::move(stop));
    EXPECT_FALSE(value);
    return value ? Error{} : value.error();
  }
  // Runs a query, advances the clock to its deadline once the request is `sent`, and returns its error.
  Error ErrorAtDeadline(PrometheusClient& client, const std::atomic<bool>& sent) {
    Error error;
    std::jthread thread([&] { error = ErrorOf(client); });
    while (!sent) std::this_thread::yield();
    clock_.AwaitWaiters(1);
    clock_.Advance(PrometheusClient::kTimeout);
    thread.join();
    return error;
  }
  FakeClock clock_;
};
INSTANTIATE_TEST_SUITE_P(Both, PrometheusClientTest, BothTransports(), NameOfTransport);

TEST_P(PrometheusClientTest, APathPrefixAndTlsAreUsed) {
  TestServer server(Tls(), [](TestConnection& connection, const TestRequest&) { connection.Answer(200, kOne); });
  EXPECT_EQ(ClientOf(server, "/metrics/team-a/")->Query("up", clock_.WallNow()).value(), 0.5);
  const TestRequest request = server.requests().at(0);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/metrics/team-a/api/v1/query");
  EXPECT_EQ(request.headers.at("content-type"), "application/x-www-form-urlencoded");
  EXPECT_THAT(request.body, HasSubstr("query=up&time="));
}

TEST_P(PrometheusClientTest, ARedirectIsNotFollowed) {
  TestServer other(Plain(), [](TestConnection& connection, const TestRequest&) { connection.Answer(200, kOne); });
  for (const int status : {301, 302, 307, 308}) {
    TestServer server(Plain(), [&](TestConnection& connection, const TestRequest&) {
      connection.Answer(status, "", "Location: " + other.url() + "/api/v1/query\r\n");
    });
    const Error error = ErrorOf(*ClientOf(server));
    EXPECT_EQ(error.reason, Reason::kUnknown);
    EXPECT_THAT(error.message, AllOf(HasSubstr(other.url()), HasSubstr("not followed")));
  }
  EXPECT_TRUE(other.requests().empty());
}

TEST_P(PrometheusClientTest, AnUnreachableServerIsAnError) {
  TransportOptions options;
  options.server = "http://127.0.0.1:" + std::to_string(ClosedPort());
  PrometheusClient client(std::make_unique<ServiceClient>(Make(options), nullptr, ""), clock_);
  const Error error = ErrorOf(client);
  EXPECT_EQ(error.reason, Reason::kTransport);
  EXPECT_THAT(error.message, HasSubstr("connection refused"));
}

TEST_P(PrometheusClientTest, ACertificateOfAnotherCaIsNotTrusted) {
  TestCa another("another");
  TestServerOptions options;
  options.identity = another.Issue();
  TestServer server(options, [](TestConnection& connection, const TestRequest&) { connection.Answer(200, kOne); });
  EXPECT_EQ(ErrorOf(*ClientOf(server)).reason, Reason::kTransport);
  EXPECT_TRUE(server.requests().empty());
}

TEST_P(PrometheusClientTest, AQueryToASilentServerEndsAtTheDeadline) {
  std::atomic<bool> sent = false;
  TestServer server(Plain(), [&](TestConnection& connection, const TestRequest&) {
    sent = true;
    connection.WaitUntilClosed();
  });
  const auto client = ClientOf(server);
  const Error error = ErrorAtDeadline(*client, sent);
  EXPECT_EQ(error.reason, Reason::kTransport);
  EXPECT_EQ(error.message, "Prometheus did not respond within 10 s");
}

TEST_P(PrometheusClientTest, AQueryToASlowServerEndsAtTheDeadline) {
  std::atomic<bool> sent = false;
  std::atomic<bool> over = false;
  TestServer server(Plain(), [&](TestConnection& connection, const TestRequest&) {
    connection.StartChunks();
    connection.Chunk("{");
    sent = true;
    while (!over) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      connection.Chunk(" ");
    }
    connection.Close();
  });
  const auto client = ClientOf(server);
  const Error error = ErrorAtDeadline(*client, sent);
  over = true;
  // Before the deadline, the client may already have read more than its limit. So both errors are correct.
  EXPECT_TRUE(error.reason == Reason::kTransport || error.reason == Reason::kTooLarge) << error.ToString();
}

TEST_P(PrometheusClientTest, AStopEndsAQueryImmediately) {
  std::stop_source stop;
  TestServer server(Plain(), [&](TestConnection& connection, const TestRequest&) {
    stop.request_stop();
    connection.WaitUntilClosed();
  });
  EXPECT_EQ(ErrorOf(*ClientOf(server), stop.get_token()).reason, Reason::kCancelled);
}

TEST_P(PrometheusClientTest, AResponseBeyondTheLimitIsAnError) {
  for (const bool with_length : {true, false}) {
    TestServer server(Plain(), [&](TestConnection& connection, const TestRequest&) {
      if (with_length)
        return connection.Write("HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n" +
                                std::string(200 << 10, ' '));
      connection.StartChunks();
      for (int i = 0; i < 70; ++i) connection.Chunk(std::string(1024, ' '));
      connection.WaitUntilClosed();
    });
    const Error error = ErrorOf(*ClientOf(server));
    EXPECT_EQ(error.reason, Reason::kTooLarge) << error.ToString();
    EXPECT_THAT(error.message, HasSubstr("64 KiB"));
  }
}

TEST_P(PrometheusClientTest, MalformedResponsesAreErrors) {
  const std::vector<std::string> answers = {
      "",
      "\r\n\r\n",
      "SSH-2.0-OpenSSH_9.2\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{",
      "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull",
      "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n\xff\xfe\x00",
      "HTTP/1.1 204 No Content\r\n\r\n",
      "HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n",
  };
  for (const std::string& answer : answers) {
    TestServer server(Plain(), [&](TestConnection& connection, const TestRequest&) {
      connection.Write(answer);
      connection.Close();
    });
    const Error error = ErrorOf(*ClientOf(server));
    EXPECT_NE(error.reason, Reason::kInvalid) << answer.substr(0, 80);
    EXPECT_LE(error.message.size(), 1024U);
  }
}

// These tests create the client with Make, which reads the CA and the token from files.
class PrometheusFilesTest : public ::testing::Test {
 protected:
  PrometheusFilesTest() { std::filesystem::create_directories(folder_); }
  ~PrometheusFilesTest() override { std::filesystem::remove_all(folder_); }
  std::string File(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }
  const std::string folder_ = ::testing::TempDir() + "/prometheus_files_" + std::to_string(getpid());
};

TEST_F(PrometheusFilesTest, CaAndTokenAreUsedAndARejectedTokenIsReadAgain) {
  TestCa ca;
  TestServerOptions options;
  options.identity = ca.Issue();
  TestServer server(options, [](TestConnection& connection, const TestRequest& request) {
    const auto token = request.headers.find("authorization");
    const bool right = token != request.headers.end() && token->second == "Bearer second";
    connection.Answer(right ? 200 : 401, right ? kOne : "no");
  });
  const auto client =
      PrometheusClient::Make({server.url() + "/p", File("ca.crt", ca.cert_pem()), File("token", "first\n"), "test/1"});
  ASSERT_TRUE(client) << client.error().ToString();
  const auto now = std::chrono::system_clock::now();
  const auto rejected = (*client)->Query("up", now);
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().reason, Reason::kUnauthorized);
  EXPECT_THAT(rejected.error().message, Not(HasSubstr("first")));
  File("token", "second\n");
  EXPECT_EQ((*client)->Query("up", now).value(), 0.5);
  EXPECT_EQ(server.requests().front().target, "/p/api/v1/query");
  EXPECT_EQ(server.requests().front().headers.at("user-agent"), "test/1");
}

}  // namespace
}  // namespace yad::testing
