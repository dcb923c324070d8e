#include "tests/support/event_stream.h"

#include <chrono>
#include <sstream>

#include "tests/support/eventually.h"

namespace yad::testing {
namespace {

constexpr std::chrono::seconds kPatience{60};

}  // namespace

EventStream::EventStream(int port, const std::string& target, const std::string& host) : client_(port) {
  client_.Send("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
  status_ = client_.Read().status;
}

ServerEvent EventStream::Next() {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  ServerEvent event;
  while (event.name.empty()) {
    std::size_t end = 0;
    while ((end = text_.find("\n\n")) == std::string::npos) {
      // Each heartbeat of the server restarts the timeout of a read, so the loop needs its own deadline.
      if (std::chrono::steady_clock::now() > deadline) throw TestFailure("the stream has no further event");
      const std::string part = client_.ReadPart();
      if (part.empty()) throw TestFailure("the stream has ended");
      text_ += part;
    }
    std::istringstream lines(text_.substr(0, end));
    text_.erase(0, end + 2);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("event: ")) event.name = line.substr(7);
      if (line.starts_with("data: ")) event.data += line.substr(6);
    }
  }
  return event;
}

std::string EventStream::Await(const std::string& name, const std::function<bool(const std::string& data)>& matches) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < end) {
    ServerEvent event = Next();
    if (event.name == name && matches(event.data)) return event.data;
  }
  throw TestFailure("the stream had no matching event " + name);
}

}  // namespace yad::testing
