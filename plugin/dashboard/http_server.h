// A small HTTP/1.1 server for the browser of one user. It listens only on 127.0.0.1 and limits the resources that
// clients can use.
#ifndef PLUGIN_DASHBOARD_HTTP_SERVER_H_
#define PLUGIN_DASHBOARD_HTTP_SERVER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "operator/base/error.h"

namespace yad {

struct HttpCall {
  std::string method;
  std::string target;  // path and query
  std::vector<std::string> hosts;
  std::vector<std::string> origins;
  std::string content_type;
  std::string body;
};

// The source of a stream of server-sent events.
class EventFeed {
 public:
  virtual ~EventFeed() = default;
  // Returns the events since the last call in the format of the stream; "" if there are none. The server calls Next
  // only after it has sent the previous events, so that a slow client does not cause a queue. Called on the server's
  // thread; must not block.
  virtual std::string Next() = 0;
};

struct HttpReply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::unique_ptr<EventFeed> feed;  // if set, the response is this stream, without `body`
};

struct HttpServerOptions {
  int port = 0;  // 0: any free port
  // If the server has this many connections, a new connection replaces the oldest connection that waits for a request.
  // If no connection waits for a request, the server closes the new connection.
  std::size_t max_connections = 32;
  std::size_t max_header = 8 * 1024;
  std::size_t max_body = 16 * 1024;
  Duration read_timeout = std::chrono::seconds(10);   // for a whole request, and between two requests
  Duration write_timeout = std::chrono::seconds(30);  // for a response; in a stream, the maximum time without progress
  Duration heartbeat = std::chrono::seconds(15);      // interval of empty messages in a stream without events
};

// Call Listen first, and then Run on one thread.
class HttpServer {
 public:
  // Called on several threads at the same time. May block. If it throws an exception, the response has status 500.
  using Handler = std::function<HttpReply(const HttpCall& call)>;

  HttpServer(HttpServerOptions options, Handler handler);
  ~HttpServer();

  Status Listen();   // fails with kConfig if the port is in use
  int port() const;  // valid after Listen
  // Serves until a stop is requested. Then waits for the handlers that are running.
  Status Run(std::stop_token stop);
  // Sends the new events of all feeds. Thread-safe.
  void Wake();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yad

#endif  // PLUGIN_DASHBOARD_HTTP_SERVER_H_
