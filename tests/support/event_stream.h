// A client of server-sent events on 127.0.0.1.
#ifndef TESTS_SUPPORT_EVENT_STREAM_H_
#define TESTS_SUPPORT_EVENT_STREAM_H_

#include <functional>
#include <string>

#include "tests/support/https_client.h"

namespace yad::testing {

struct ServerEvent {
  std::string name;
  std::string data;
};

// Not thread-safe.
class EventStream {
 public:
  // Sends a GET request with this Host header.
  EventStream(int port, const std::string& target, const std::string& host);

  int status() const { return status_; }
  // Blocks until the next event. Throws TestFailure if the stream ends, or after a minute without an event.
  ServerEvent Next();
  // Reads until an event has this name and `matches` returns true for its data. Returns the data.
  std::string Await(const std::string& name, const std::function<bool(const std::string& data)>& matches);

 private:
  HttpsClient client_;
  int status_ = 0;
  std::string text_;  // received, but not returned by Next yet
};

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_EVENT_STREAM_H_
