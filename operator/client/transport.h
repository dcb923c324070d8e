// The seam between the API client and the network: HTTP requests in, answers or byte streams out.
// Tests put a fake here; beast_transport and cpprest_transport are real.
#ifndef OPERATOR_CLIENT_TRANSPORT_H_
#define OPERATOR_CLIENT_TRANSPORT_H_

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
  std::map<std::string, std::string> headers;  // Authorization and User-Agent are added by the client.
  std::string body;
  std::chrono::milliseconds timeout{30'000};  // the longest silence, before the answer and within it
  std::size_t max_answer = 64u << 20;         // bytes of the body; for a stream there is no limit
};

struct HttpResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// An answer whose body arrives over time. One thread reads.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  virtual const HttpResponse& head() const = 0;  // status and headers; the body where the status is no 2xx
  // Appends what has arrived to `out`, waiting for at least one byte. False: the stream ended in an orderly way.
  virtual Result<bool> Read(std::string& out) = 0;
};

// Thread-safe. A request whose stop token fires fails with kCancelled soon, and its connection is closed.
// An HTTP status of any value is an answer, not an Error. No answer is kTransport, one with a larger body than
// `max_answer` is kTooLarge.
class HttpTransport {
 public:
  virtual ~HttpTransport() = default;
  virtual Result<HttpResponse> Send(const HttpRequest& request, std::stop_token stop) = 0;
  virtual Result<std::unique_ptr<HttpStream>> Open(const HttpRequest& request, std::stop_token stop) = 0;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_TRANSPORT_H_
