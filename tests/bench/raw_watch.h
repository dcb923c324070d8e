// A watch that is only looked at from outside: when each event arrived. It parses nothing, so that what
// is measured beside it is hardly slowed down.
#ifndef TESTS_BENCH_RAW_WATCH_H_
#define TESTS_BENCH_RAW_WATCH_H_

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "operator/base/clock.h"
#include "operator/client/transport.h"

namespace yad::bench {

struct SeenEvent {
  SteadyTime at;
  WallTime wall;
};

// Thread-safe.
class RawWatch {
 public:
  // Watches `collection` ("/apis/apps/v1/namespaces/ns/deployments") from now on. It is open when the constructor
  // returns. A server under load ends the watch of who reads too slowly: it is then taken up again where it ended.
  RawWatch(HttpTransport& transport, const std::string& collection);
  ~RawWatch();

  std::size_t count() const { return count_; }
  SeenEvent event(std::size_t i) const;
  // TestFailure at the deadline, or where the watch cannot be opened.
  void WaitForCount(std::size_t count, Duration timeout = std::chrono::minutes(2)) const;
  double cpu_seconds() const;  // of the thread that reads

 private:
  // Until the stream ends. The last line that came.
  std::string Follow(HttpStream& stream);

  mutable std::mutex mutex_;
  std::vector<SeenEvent> events_;
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> ended_{false};
  std::string why_;  // it ended; before `ended_` is set
  mutable std::jthread thread_;
};

}  // namespace yad::bench

#endif  // TESTS_BENCH_RAW_WATCH_H_
