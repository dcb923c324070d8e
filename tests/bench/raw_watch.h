// A watch that records when each event arrives. It does not parse the events, so it needs little CPU beside the
// measured process.
#ifndef TESTS_BENCH_RAW_WATCH_H_
#define TESTS_BENCH_RAW_WATCH_H_

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "operator/base/clock.h"
#include "operator/client/transport/transport.h"

namespace yad::bench {

struct SeenEvent {
  SteadyTime at;
  WallTime wall;
};

// Thread-safe.
class RawWatch {
 public:
  // Opens a watch of `collection`, such as "/apis/apps/v1/namespaces/ns/deployments", from now on. If the server ends
  // the watch, a new watch continues after the last event.
  RawWatch(HttpTransport& transport, const std::string& collection);
  ~RawWatch();

  std::size_t count() const { return count_; }
  SeenEvent event(std::size_t i) const;
  // Throws TestFailure at the deadline, or if the watch cannot be opened.
  void WaitForCount(std::size_t count, Duration timeout = std::chrono::minutes(2)) const;
  double cpu_seconds() const;  // of the thread that reads

 private:
  // Reads until the stream ends. Returns the last line.
  std::string Follow(HttpStream& stream);

  mutable std::mutex mutex_;
  std::vector<SeenEvent> events_;
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> ended_{false};
  std::string why_;  // why the watch ended; set before `ended_`
  mutable std::jthread thread_;
};

}  // namespace yad::bench

#endif  // TESTS_BENCH_RAW_WATCH_H_
