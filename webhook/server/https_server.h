// An HTTPS/1.1 server for admission calls: TLS 1.2+, keep-alive, and limits on all resources that a client can use.
#ifndef WEBHOOK_SERVER_HTTPS_SERVER_H_
#define WEBHOOK_SERVER_HTTPS_SERVER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "webhook/certificates/serving_certificate.h"

namespace yad {

struct HttpsCall {
  std::string method;
  std::string target;  // path and query
  std::string content_type;
  std::string body;
  SteadyTime arrived;  // the time at which the server had read the whole request, by Clock::Real()
};

struct HttpsReply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
};

// Returns a reply of plain text, with a newline at its end.
inline HttpsReply PlainReply(int status, const std::string& text) {
  return {status, "text/plain; charset=utf-8", text + "\n"};
}

struct HttpsServerOptions {
  std::string bind = ":9443";  // ":port" (all addresses) or "address:port"; port 0 is any free port
  int handler_threads = 8;     // a handler may wait for the apiserver
  // At this limit, the server still accepts a new connection, and closes the connection that has waited longest for its
  // client. The server never closes a connection whose handler is running.
  std::size_t max_connections = 256;
  std::size_t max_body = 8 * 1024 * 1024;  // of one request; the response to a larger body is 413
  // Requests with larger bodies are handled one at a time, because parsed JSON takes up to twenty times the memory of
  // the body.
  std::size_t large_body = 128 * 1024;
  // Returns whether the handler responds to this call without waiting for another server. These calls have their own
  // thread, so that waiting handlers and large bodies don't delay them. If the function is empty, no call is quick.
  // Must not throw. Several threads call it at the same time.
  std::function<bool(const HttpsCall& call)> is_quick;
  // The maximum number of bytes in memory, over all connections, of received request bodies and unsent replies that are
  // larger than `large_body`. At this limit, the server closes the connections that have waited longest for their
  // clients. It replies with 503 if each of the other connections is handling its request, or has waited
  // for a shorter time.
  std::size_t max_bodies = 32 * 1024 * 1024;
  Duration handshake_timeout = std::chrono::seconds(10);
  // The maximum time between two requests of a connection. It is longer than the 90 s after which an apiserver closes
  // an idle connection. If the server closed the connection first, a request could be lost, because the apiserver does
  // not retry a POST.
  Duration idle_timeout = std::chrono::minutes(2);
  Duration read_timeout = std::chrono::seconds(20);  // for one request, counted from its first byte
  // The server accepts connections for this time after a stop, because clients notice the stop with a delay.
  Duration linger = std::chrono::seconds(3);
  Duration drain_timeout = std::chrono::seconds(10);  // after `linger`, for requests in progress
};

// Listen must return before Run is called. The handler runs on several threads at the same time. If it throws an
// exception, the server replies with 500.
class HttpsServer {
 public:
  using Handler = std::function<HttpsReply(const HttpsCall& call)>;

  // Each new connection uses the newest certificate. The server closes connections that arrive before a certificate is
  // loaded.
  HttpsServer(HttpsServerOptions options, std::shared_ptr<const ServingCertificate> certificate, Handler handler);
  ~HttpsServer();

  // Opens the port. Fails with kConfig if the address is malformed or can't be used.
  Status Listen();
  int port() const;  // valid after Listen
  // Serves until `stop` fires, and for `linger` longer. Then stops accepting connections, replies to the requests in
  // progress, and returns when all handlers have returned. For use as a Runnable of the Manager.
  Status Run(std::stop_token stop);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yad

#endif  // WEBHOOK_SERVER_HTTPS_SERVER_H_
