// The interface between the API client and the network. beast_transport and cpprest_transport implement it; tests use a
// fake.
#ifndef OPERATOR_CLIENT_TRANSPORT_TRANSPORT_H_
#define OPERATOR_CLIENT_TRANSPORT_TRANSPORT_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "operator/base/error.h"

namespace yad {

struct HttpRequest {
  std::string method = {};                          // "GET"
  std::string path = {};                            // path and query, percent-encoded: "/api/v1/pods?limit=500"
  std::map<std::string, std::string> headers = {};  // The client adds Authorization and User-Agent.
  std::string body = {};
  std::chrono::milliseconds timeout{30'000};      // maximum time without a byte from the server
  std::size_t max_answer = 64u << 20;             // maximum length of the response's body; does not apply to streams
  std::chrono::milliseconds grace_after_stop{0};  // after a stop, a request in progress may take this much longer
  // Called immediately before the request is written to a connection, because a new connection may have taken seconds.
  // If it returns false, the request is not sent. If it is empty, the request is sent. Only the Beast transport calls
  // it.
  std::function<bool()> may_send = {};
};

struct HttpResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// A response whose body is read while it arrives, such as a watch. Must be read by one thread.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  virtual const HttpResponse& head() const = 0;  // status and headers; has the body only if the status is not 2xx
  // Blocks until bytes arrive, and appends them to `out`. Returns false if the stream ended normally.
  virtual Result<bool> Read(std::string& out) = 0;
};

// Appends the rest of the stream to `body`. Fails with kDecode if `body` becomes longer than 1 MiB. `what` describes
// the request in the message.
inline Status ReadErrorBody(HttpStream& stream, const std::string& what, std::string& body) {
  for (;;) {
    YAD_TRY(const bool more, stream.Read(body));
    if (!more) return {};
    if (body.size() > 1u << 20) return Fail(Reason::kDecode, what + ": the response is larger than 1 MiB");
  }
}

// Returns a timeout for a message: "30 s" or "500 ms".
inline std::string TimeoutText(std::chrono::milliseconds time) {
  const auto count = time.count();
  if (count % 1000 == 0) return std::to_string(count / 1000) + " s";
  return std::to_string(count) + " ms";
}

// Sends requests. Thread-safe. A response with any HTTP status is a result, not an Error. A request fails with
// - kTransport if there is no response;
// - kTooLarge if the body of the response is longer than `max_answer`;
// - kCancelled if `stop` fires and no response arrives within the request's `grace_after_stop`. A request that the
//   server has certainly not received may fail sooner. In both cases, its connection is closed;
// - kCancelled if the request's `may_send` returns false.
class HttpTransport {
 public:
  virtual ~HttpTransport() = default;
  virtual Result<HttpResponse> Send(const HttpRequest& request, std::stop_token stop) = 0;
  virtual Result<std::unique_ptr<HttpStream>> Open(const HttpRequest& request, std::stop_token stop) = 0;
};

// A transport that makes an Exchange for each request. An Exchange is one request and its response: an HttpStream with
// the methods Start, TakeAll and ReadRejection.
template <typename Exchange, typename Server>
class ExchangeTransport : public HttpTransport {
 public:
  explicit ExchangeTransport(std::shared_ptr<Server> server) : server_(std::move(server)) {}

  Result<HttpResponse> Send(const HttpRequest& request, std::stop_token stop) override {
    Exchange exchange(server_, request, Exchange::Kind::kUnary, std::move(stop));
    YAD_TRY_VOID(exchange.Start(request));
    return exchange.TakeAll();
  }

  Result<std::unique_ptr<HttpStream>> Open(const HttpRequest& request, std::stop_token stop) override {
    auto exchange = std::make_unique<Exchange>(server_, request, Exchange::Kind::kStream, std::move(stop));
    YAD_TRY_VOID(exchange->Start(request));
    if (exchange->head().status / 100 != 2) YAD_TRY_VOID(exchange->ReadRejection());
    return exchange;
  }

 private:
  const std::shared_ptr<Server> server_;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_TRANSPORT_TRANSPORT_H_
