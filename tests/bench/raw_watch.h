// A watch that is only looked at from outside: when each event arrived, and its text. It parses nothing, so that what
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
  std::string text;  // one line of JSON; "" where texts are not kept
};

// Thread-safe.
class RawWatch {
 public:
  // Watches `collection` ("/apis/apps/v1/namespaces/ns/deployments") from now on. It is open when the constructor
  // returns.
  RawWatch(HttpTransport& transport, const std::string& collection, bool keep_texts = false);
  ~RawWatch();

  std::size_t count() const { return count_; }
  SeenEvent event(std::size_t i) const;
  // TestFailure at the deadline, or where the server ends the watch.
  void WaitForCount(std::size_t count, Duration timeout = std::chrono::minutes(2)) const;
  double cpu_seconds() const;  // of the thread that reads

 private:
  void Run(const std::stop_token& stop, HttpStream& stream);

  const bool keep_texts_;
  mutable std::mutex mutex_;
  std::vector<SeenEvent> events_;
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> ended_{false};
  mutable std::jthread thread_;
};

}  // namespace yad::bench

#endif  // TESTS_BENCH_RAW_WATCH_H_
