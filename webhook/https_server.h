// HTTPS/1.1 for admission calls: TLS 1.2+, keep-alive, and a bound on everything that a client can make it hold.
#ifndef WEBHOOK_HTTPS_SERVER_H_
#define WEBHOOK_HTTPS_SERVER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "webhook/serving_certificate.h"

namespace yad {

struct HttpsCall {
  std::string method;
  std::string target;  // path and query
  std::string content_type;
  std::string body;
  SteadyTime arrived;  // when the server had read the whole request, by Clock::Real()
};

struct HttpsReply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
};

struct HttpsServerOptions {
  std::string bind = ":9443";  // ":port" (all addresses) or "address:port"; port 0: any
  int handler_threads = 8;     // a handler may wait for the apiserver
  // One more closes the one that has waited longest for its client; the one for which a handler works is not closed.
  std::size_t max_connections = 256;
  std::size_t max_body = 8 * 1024 * 1024;  // of one request; a larger one is answered with 413
  // Larger bodies are handled one at a time: parsed JSON takes up to twenty times its text, and that is what fills a
  // container.
  std::size_t large_body = 128 * 1024;
  // Calls whose handler never waits. They have one thread of their own, whatever their size, so that handlers that wait
  // and large bodies don't delay them. Called on several threads at once; must not throw. Empty: no call is quick.
  std::function<bool(const HttpsCall& call)> is_quick;
  // Bytes of all requests, as far as they have arrived, and of all answers until they are written; beyond it 503.
  std::size_t max_bodies = 32 * 1024 * 1024;
  Duration handshake_timeout = std::chrono::seconds(10);
  // Between two requests of a connection. An apiserver closes its idle connections after 90 s: a server that closes
  // them first may do so while a review is on its way, and the apiserver does not repeat a POST.
  Duration idle_timeout = std::chrono::minutes(2);
  Duration read_timeout = std::chrono::seconds(20);  // for one request, from its first byte
  // Once stopped, connections are still taken for that long: whoever sends them here learns of the end later than we.
  Duration linger = std::chrono::seconds(3);
  Duration drain_timeout = std::chrono::seconds(10);  // after that, for what is being answered
};

// Set up by one thread (Listen), run by one (Run). The handler is called on handler threads, several at once; what it
// throws becomes 500.
class HttpsServer {
 public:
  using Handler = std::function<HttpsReply(const HttpsCall& call)>;

  // Each new connection is served with the certificate as it is then. Until there is one, connections are closed.
  HttpsServer(HttpsServerOptions options, std::shared_ptr<const ServingCertificate> certificate, Handler handler);
  ~HttpsServer();

  // kConfig: the address is no address, or can't be listened on.
  Status Listen();
  int port() const;  // after Listen
  // Serves until `stop`, and a little longer (`linger`): then no connection is taken any more, and what has begun is
  // answered. Waits for handlers without limit. A Runnable for the Manager.
  Status Run(std::stop_token stop);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yad

#endif  // WEBHOOK_HTTPS_SERVER_H_
