// The webhook's server on 127.0.0.1. The path of a request selects what the handler does.
#ifndef TESTS_LOOPBACK_HTTPS_SERVER_FIXTURE_H_
#define TESTS_LOOPBACK_HTTPS_SERVER_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/eventually.h"
#include "tests/support/https_client.h"
#include "tests/support/test_pki.h"
#include "webhook/server/https_server.h"

namespace yad::testing {

// The size of a response that is larger than the kernel's buffers of a connection.
inline constexpr std::size_t kLargeAnswer = 8 << 20;

// Returns options with time limits that no test reaches. The linger time is zero, so that the server stops immediately.
inline HttpsServerOptions TestOptions() {
  HttpsServerOptions options;
  options.bind = "127.0.0.1:0";
  options.handshake_timeout = options.idle_timeout = options.read_timeout = options.drain_timeout =
      std::chrono::hours(1);
  options.linger = {};
  return options;
}

class HttpsServerTest : public ::testing::Test {
 protected:
  void SetUp() override { Load("leaf"); }
  void TearDown() override { Release(); }

  void Load(const std::string& name) {
    const auto pair = ca_.Issue({.common_name = name});
    ASSERT_TRUE(certificate_->Load(pair.cert_pem, pair.key_pem));
  }
  void Start(HttpsServerOptions options = TestOptions()) {
    server_.emplace(std::move(options), certificate_, [this](const HttpsCall& call) { return Handle(call); });
    const Status listening = server_->Listen();
    ASSERT_TRUE(listening) << listening.error().ToString();
    thread_ = std::jthread([this](std::stop_token stop) { EXPECT_TRUE(server_->Run(stop)); });
  }
  void Stop() {
    thread_.request_stop();
    thread_.join();
  }
  HttpsClient Connect(int tls_version = 0) { return HttpsClient(server_->port(), ca_.cert_pem(), tls_version); }
  // Sends one request on a new connection.
  HttpsAnswer Ask(const std::string& first_line = "POST /echo HTTP/1.1", const std::string& body = "hello") {
    return Connect().Ask(first_line, body);
  }
  void AwaitHandlers(int count) {
    Eventually("the handlers have started", [&] { return in_handler_ == count; });
  }

  void Release() {
    released_ = true;
    released_.notify_all();
  }

  HttpsReply Handle(const HttpsCall& call) {
    {
      std::lock_guard lock(mutex_);
      calls_.push_back(call);
    }
    if (call.target == "/throw") throw std::runtime_error("oh");
    if (call.target == "/throw-anything") throw 1;
    ++in_handler_;
    if (call.target == "/wait") released_.wait(false);
    if (call.target == "/overlap") {
      most_ = std::max<int>(most_, in_handler_);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    --in_handler_;
    if (call.target == "/mirror") return {200, "text/plain", call.body};
    if (call.target == "/large") return {200, "text/plain", std::string(kLargeAnswer, 'x')};
    return {200, "text/plain", call.body.size() < 100 ? call.body : std::to_string(call.body.size())};
  }

  const TestCa ca_;
  const std::shared_ptr<ServingCertificate> certificate_ = std::make_shared<ServingCertificate>();
  std::mutex mutex_;
  std::vector<HttpsCall> calls_;
  std::atomic<int> in_handler_{0};
  std::atomic<int> most_{0};
  std::atomic<bool> released_{false};  // ends /wait
  std::optional<HttpsServer> server_;
  std::jthread thread_;
};

}  // namespace yad::testing

#endif  // TESTS_LOOPBACK_HTTPS_SERVER_FIXTURE_H_
