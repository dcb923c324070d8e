// The boundary between the API client and the network: requests in, responses or byte streams out. Tests use a fake;
// beast_transport and cpprest_transport are the real implementations.
#ifndef OPERATOR_CLIENT_TRANSPORT_TRANSPORT_H_
#define OPERATOR_CLIENT_TRANSPORT_TRANSPORT_H_

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "operator/base/error.h"

namespace yad {

struct HttpRequest {
  std::string method;                          // "GET"
  std::string path;                            // path and query, percent-encoded: "/api/v1/pods?limit=500"
  std::map<std::string, std::string> headers;  // The client adds Authorization and User-Agent.
  std::string body;
  std::chrono::milliseconds timeout{30'000};  // the longest silence before the response and within it
  std::size_t max_answer = 64u << 20;         // bytes of the body; a stream has no limit
};

struct HttpResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// A response whose body arrives over time. One thread reads it.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  virtual const HttpResponse& head() const = 0;  // status and headers; with the body if the status is not 2xx
  // Blocks until at least one byte has arrived, and appends the bytes to `out`. Returns false if the stream ended
  // normally.
  virtual Result<bool> Read(std::string& out) = 0;
};

// Appends the rest of the stream to `body`. Fails with kDecode if `body` gets longer than 1 MiB; `what` names the
// request.
inline Status ReadErrorBody(HttpStream& stream, const std::string& what, std::string& body) {
  for (;;) {
    YAD_TRY(const bool more, stream.Read(body));
    if (!more) return {};
    if (body.size() > 1u << 20) return Fail(Reason::kDecode, what + ": the answer is larger than 1 MiB");
  }
}

// Sends requests. Thread-safe. If the stop token of a request fires, the request soon fails with kCancelled and its
// connection is closed. A response with any HTTP status is a result, not an Error. A request without a response fails
// with kTransport. A request whose response has more than `max_answer` bytes fails with kTooLarge.
class HttpTransport {
 public:
  virtual ~HttpTransport() = default;
  virtual Result<HttpResponse> Send(const HttpRequest& request, std::stop_token stop) = 0;
  virtual Result<std::unique_ptr<HttpStream>> Open(const HttpRequest& request, std::stop_token stop) = 0;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_TRANSPORT_TRANSPORT_H_
