// The fixture for tests of HttpTransport. Each test runs with both implementations.
#ifndef TESTS_LOOPBACK_TRANSPORT_FIXTURE_H_
#define TESTS_LOOPBACK_TRANSPORT_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>

#include "operator/client/transport/transport_options.h"
#include "tests/support/test_pki.h"
#include "tests/support/tls_test_server.h"

namespace yad::testing {

using ::testing::AllOf;
using ::testing::HasSubstr;

// For waits that another event must end.
constexpr std::chrono::hours kForever{1};

inline HttpRequest Get(const std::string& path) {
  HttpRequest request;
  request.method = "GET";
  request.path = path;
  request.timeout = kForever;
  return request;
}

inline HttpRequest Post(std::string body) {
  HttpRequest request = Get("/");
  request.method = "POST";
  request.body = std::move(body);
  return request;
}

inline void AnswerOk(TestConnection& connection, const TestRequest&) { connection.Answer(200, "{}"); }

struct Implementation {
  const char* name;
  Result<std::shared_ptr<HttpTransport>> (*make)(const TransportOptions&);
};

inline auto BothTransports() {
  return ::testing::Values(Implementation{"Beast", MakeBeastTransport},
                           Implementation{"Cpprestsdk", MakeCpprestTransport});
}

inline std::string NameOfTransport(const ::testing::TestParamInfo<Implementation>& info) { return info.param.name; }

class TransportTest : public ::testing::TestWithParam<Implementation> {
 protected:
  TestServerOptions Tls(const LeafOptions& leaf = {}) {
    TestServerOptions options;
    options.identity = ca_.Issue(leaf);
    return options;
  }
  static TestServerOptions Plain() { return PlainServer(); }
  TransportOptions For(const TestServer& server) {
    TransportOptions options;
    options.server = server.url();
    options.tls.ca_pem = ca_.cert_pem();
    return options;
  }
  static std::shared_ptr<HttpTransport> Make(const TransportOptions& options) {
    Result<std::shared_ptr<HttpTransport>> made = GetParam().make(options);
    EXPECT_TRUE(made) << (made ? "" : made.error().ToString());
    return made ? *made : nullptr;
  }
  // Sends the request through a proxy that never responds. Requests a stop once the proxy has a connection.
  static Result<HttpResponse> SendThroughSilentProxy(const HttpRequest& request) {
    std::stop_source stop;
    TestServer proxy(Plain(), [&](TestConnection& connection, const TestRequest&) {
      stop.request_stop();
      connection.WaitUntilClosed();
    });
    TransportOptions options;
    options.server = "https://127.0.0.1:1";
    options.proxy_url = proxy.url();
    return Make(options)->Send(request, stop.get_token());
  }
  // Sends a request that must fail with kTransport. Returns the message of its error.
  static std::string Failure(const TransportOptions& options) {
    const Result<HttpResponse> response = Make(options)->Send(Get("/version"), {});
    if (response) return "no failure, but status " + std::to_string(response->status);
    EXPECT_EQ(response.error().reason, Reason::kTransport) << response.error().ToString();
    return response.error().message;
  }

  TestCa ca_{"cluster-ca"};
};

}  // namespace yad::testing

#endif  // TESTS_LOOPBACK_TRANSPORT_FIXTURE_H_
