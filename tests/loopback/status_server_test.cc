#include "operator/runtime/status_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace yad {
namespace {

// A connection to 127.0.0.1.
class ClientConnection {
 public:
  explicit ClientConnection(int port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ClientConnection(const ClientConnection&) = delete;
  ClientConnection& operator=(const ClientConnection&) = delete;
  ~ClientConnection() { close(fd_); }

  bool connected() const { return connected_; }
  void Send(const std::string& text) {
    EXPECT_EQ(send(fd_, text.data(), text.size(), MSG_NOSIGNAL), ssize_t(text.size()));
  }
  // Reads until the server closes the connection.
  std::string ReadAll() {
    std::string all;
    char buffer[4096];
    for (ssize_t n; (n = recv(fd_, buffer, sizeof buffer, 0)) > 0;) all.append(buffer, static_cast<std::size_t>(n));
    return all;
  }
  std::string ReadUntil(const std::string& end) {
    std::string all;
    char c;
    while (all.find(end) == std::string::npos && recv(fd_, &c, 1, 0) == 1) all.push_back(c);
    return all;
  }

 private:
  int fd_;
  bool connected_;
};

class StatusServerTest : public ::testing::Test {
 protected:
  void Start(StatusServerOptions options = {"127.0.0.1:0"}) {
    server_ = std::make_unique<StatusServer>(options);
    server_->Handle("/healthz", [] { return StatusServer::Reply{200, "ok"}; });
    server_->Handle("/readyz", [] { return StatusServer::Reply{503, "not synced"}; });
    server_->Handle("/throws", []() -> StatusServer::Reply { throw std::runtime_error("oh"); });
    server_->Handle("/large", [] { return StatusServer::Reply{200, std::string(4'000'000, 'x'), "text/plain"}; });
    server_->Handle("/slow", [] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      return StatusServer::Reply{};
    });
    const Status listening = server_->Listen();
    ASSERT_TRUE(listening) << listening.error().ToString();
    thread_ = std::jthread([this](std::stop_token stop) { EXPECT_TRUE(server_->Run(stop)); });
  }
  std::string Ask(const std::string& first_line) {
    ClientConnection connection(server_->port());
    connection.Send(first_line + "\r\nHost: x\r\nConnection: close\r\n\r\n");
    return connection.ReadAll();
  }

  std::vector<std::unique_ptr<ClientConnection>> Connect(int count) {
    std::vector<std::unique_ptr<ClientConnection>> connections;
    for (int i = 0; i < count; ++i) connections.push_back(std::make_unique<ClientConnection>(server_->port()));
    return connections;
  }

  static constexpr char kAskLarge[] = "GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  std::unique_ptr<StatusServer> server_;
  std::jthread thread_;
};

TEST_F(StatusServerTest, EachPathHasItsResponse) {
  Start();
  const std::string healthy = Ask("GET /healthz?verbose=1 HTTP/1.1");
  EXPECT_TRUE(healthy.starts_with("HTTP/1.1 200 OK\r\n")) << healthy;
  EXPECT_NE(healthy.find("Content-Type: text/plain; charset=utf-8\r\n"), std::string::npos) << healthy;
  EXPECT_TRUE(healthy.ends_with("\r\n\r\nok")) << healthy;
  EXPECT_TRUE(Ask("GET /readyz HTTP/1.1").starts_with("HTTP/1.1 503 "));
  EXPECT_TRUE(Ask("GET /other HTTP/1.1").starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(Ask("GET /throws HTTP/1.1").starts_with("HTTP/1.1 500 "));
  EXPECT_TRUE(Ask("POST /healthz HTTP/1.1").starts_with("HTTP/1.1 405 "));
  EXPECT_TRUE(Ask("nonsense").starts_with("HTTP/1.1 400 "));
  const std::string large = Ask("GET /large HTTP/1.1");
  EXPECT_EQ(large.size() - large.find("\r\n\r\n"), 4'000'004u);
}

TEST_F(StatusServerTest, ResponseToHeadHasTheLengthAndNoBody) {
  Start();
  const std::string head = Ask("HEAD /healthz HTTP/1.1");
  EXPECT_NE(head.find("Content-Length: 2\r\n"), std::string::npos) << head;
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
}

TEST_F(StatusServerTest, OneConnectionServesTwoRequests) {
  Start();
  ClientConnection connection(server_->port());
  for (int i = 0; i < 2; ++i) {
    connection.Send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_TRUE(connection.ReadUntil("\r\n\r\nok").starts_with("HTTP/1.1 200 OK"));
  }
}

TEST_F(StatusServerTest, ClientThatSendsNothingIsDisconnected) {
  Start({"127.0.0.1:0", 64, std::chrono::milliseconds(100)});
  ClientConnection silent(server_->port());
  EXPECT_EQ(silent.ReadAll(), "");
  ClientConnection slow(server_->port());
  slow.Send("GET /heal");
  EXPECT_EQ(slow.ReadAll(), "");
}

TEST_F(StatusServerTest, ConnectionBeyondTheLimitClosesTheOldest) {
  Start({"127.0.0.1:0", 2});
  ClientConnection first(server_->port());
  ClientConnection second(server_->port());
  EXPECT_TRUE(Ask("GET /healthz HTTP/1.1").ends_with("ok"));
  EXPECT_EQ(first.ReadAll(), "");
  second.Send("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(second.ReadAll().ends_with("ok"));
}

TEST_F(StatusServerTest, UnsentRepliesBeyondTheLimitCloseTheConnectionsThatWaitLongest) {
  Start();
  const auto clients = Connect(12);
  for (const auto& client : clients) {
    client->Send(kAskLarge);
    EXPECT_TRUE(client->ReadUntil("\r\n\r\n").starts_with("HTTP/1.1 200 "));
  }
  // The limit is 16 MiB. It is checked before a reply is added, so five replies of 4 MB stay.
  for (std::size_t i = 0; i < clients.size(); ++i) EXPECT_EQ(clients[i]->ReadAll().size() == 4'000'000, i >= 7) << i;
}

TEST_F(StatusServerTest, RequestsThatArriveTogetherGetResponsesWithinTheLimit) {
  Start();
  ClientConnection busy(server_->port());
  const auto clients = Connect(12);
  busy.Send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  for (const auto& client : clients) client->Send(kAskLarge);
  for (const auto& client : clients) EXPECT_TRUE(client->ReadUntil("\r\n\r\n").starts_with("HTTP/1.1 200 "));
  std::size_t complete = 0;
  for (const auto& client : clients) complete += client->ReadAll().size() == 4'000'000;
  EXPECT_EQ(complete, 5U);
}

TEST_F(StatusServerTest, EndlessHeaderIsRejected) {
  Start();
  ClientConnection connection(server_->port());
  connection.Send("GET /healthz HTTP/1.1\r\nX: " + std::string(8192, 'x'));
  EXPECT_EQ(connection.ReadUntil("\r\n\r\n").find("HTTP/1.1 200"), std::string::npos);
}

TEST_F(StatusServerTest, StopClosesConnectionsAndThePort) {
  Start();
  const int port = server_->port();
  ClientConnection idle(port);
  idle.Send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  idle.ReadUntil("ok");
  thread_.request_stop();
  thread_.join();
  EXPECT_FALSE(ClientConnection(port).connected());
  server_.reset();
  EXPECT_EQ(idle.ReadAll(), "");
}

TEST_F(StatusServerTest, EmptyHostListensOnIpv4Too) {
  Start({":0"});
  EXPECT_TRUE(Ask("GET /healthz HTTP/1.1").ends_with("ok"));
}

TEST_F(StatusServerTest, ZeroOrEmptyAddressDisablesTheServer) {
  for (const char* bind : {"0", ""}) {
    StatusServer server({bind});
    EXPECT_TRUE(server.Listen());
    EXPECT_EQ(server.port(), 0);
    EXPECT_TRUE(server.Run({}));
  }
}

TEST_F(StatusServerTest, InvalidOrOccupiedAddressIsAConfigErrorThatNamesIt) {
  Start();
  for (const std::string& bind : {std::string("8080"), std::string("127.0.0.1:x"), std::string("127.0.0.1:70000"),
                                  std::string("127.0.0.1:"), "127.0.0.1:" + std::to_string(server_->port())}) {
    StatusServer server({bind});
    const Status listening = server.Listen();
    ASSERT_FALSE(listening) << bind;
    EXPECT_EQ(listening.error().reason, Reason::kConfig);
    EXPECT_NE(listening.error().message.find(bind), std::string::npos) << listening.error().message;
  }
}

}  // namespace
}  // namespace yad
