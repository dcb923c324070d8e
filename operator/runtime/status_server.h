// A small HTTP server for /metrics, /healthz and /readyz. It has no TLS, and handles only GET and HEAD. If clients do
// not read their replies, the server drops the replies that have waited longest, and closes their connections.
#ifndef OPERATOR_RUNTIME_STATUS_SERVER_H_
#define OPERATOR_RUNTIME_STATUS_SERVER_H_

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/base/error.h"

namespace yad {

struct StatusServerOptions {
  std::string bind;  // ":8080" (all addresses), "127.0.0.1:0" (any free port), "[::1]:8080"; "0" or "": no server
  int max_connections = 64;                          // if there are more, the oldest connection is closed
  Duration read_timeout = std::chrono::seconds(10);  // for reading a request, and between two requests
};

// Handle and Listen must be called on one thread. After that, one thread calls Run.
class StatusServer {
 public:
  struct Reply {
    int status = 200;
    std::string body = {};
    std::string content_type = "text/plain; charset=utf-8";
  };
  // Returns the response to a request. Called on the server's only thread, so it should not wait for anything.
  using Handler = std::function<Reply()>;

  explicit StatusServer(StatusServerOptions options);
  ~StatusServer();

  void Handle(std::string path, Handler handler);
  // Opens the port. Fails with kConfig if the address is malformed or can't be used.
  Status Listen();
  int port() const;  // the port that Listen has opened; 0: no server
  // Serves requests until `stop` fires. Can be used as a Runnable of the Manager.
  Status Run(std::stop_token stop);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_STATUS_SERVER_H_
