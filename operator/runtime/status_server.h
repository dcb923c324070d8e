// A small HTTP server for /metrics, /healthz and /readyz: without TLS, GET and HEAD only.
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
  std::string bind;          // ":8080" (all addresses), "127.0.0.1:0" (any port), "[::1]:8080"; "0" or "": no server
  int max_connections = 64;  // one more connection closes the oldest one
  Duration read_timeout = std::chrono::seconds(10);  // for a whole request, and between two requests of one connection
};

// Must be set up on one thread (Handle, Listen); then one thread calls Run.
class StatusServer {
 public:
  struct Reply {
    int status = 200;
    std::string content_type = "text/plain; charset=utf-8";
    std::string body;
  };
  // Called on the server's only thread, so it should not wait for anything.
  using Handler = std::function<Reply()>;

  explicit StatusServer(StatusServerOptions options);
  ~StatusServer();

  void Handle(std::string path, Handler handler);
  // Fails with kConfig if the address is malformed or can't be listened on.
  Status Listen();
  int port() const;  // valid after Listen; 0: no server
  // Serves until `stop` fires. Can be a Runnable of the Manager.
  Status Run(std::stop_token stop);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_STATUS_SERVER_H_
