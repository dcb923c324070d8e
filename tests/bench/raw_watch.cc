#include "tests/bench/raw_watch.h"

#include <pthread.h>
#include <time.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/object.h"
#include "operator/json/json_document.h"
#include "tests/bench/measure.h"
#include "tests/support/eventually.h"

namespace yad::bench {

using testing::TestFailure;

namespace {

// Returns the first resourceVersion in `event`, which is the object's resourceVersion.
std::string VersionIn(const std::string& event) {
  const std::string key = "\"resourceVersion\":\"";
  const std::size_t at = event.find(key);
  if (at == std::string::npos) return "";
  return event.substr(at + key.size(), event.find('"', at + key.size()) - at - key.size());
}

}  // namespace

RawWatch::RawWatch(HttpTransport& transport, const std::string& collection) {
  HttpRequest list{.method = "GET", .path = collection + "?limit=1", .headers = {}, .body = {}};
  const Result<HttpResponse> response = transport.Send(list, {});
  const Result<Json> page = response ? ParseJson(response->body) : Fail(response.error());
  if (!page) throw TestFailure("cannot list " + collection + ": " + page.error().ToString());
  std::atomic<bool> open{false};
  std::string version = StringAt(*page, {"metadata", "resourceVersion"});
  thread_ = std::jthread([this, &transport, &open, collection, version](const std::stop_token& stop) mutable {
    while (!stop.stop_requested()) {
      HttpRequest watch{.method = "GET",
                        .path = collection + "?watch=true&timeoutSeconds=3600&resourceVersion=" + version,
                        .headers = {},
                        .body = {}};
      auto stream = transport.Open(watch, stop);
      const bool opened = stream && (*stream)->head().status == 200;
      if (!opened) why_ = stream ? std::to_string((*stream)->head().status) : stream.error().ToString();
      ended_ = !opened;
      open = true;
      open.notify_all();
      if (!opened) return;
      if (const std::string seen = VersionIn(Follow(**stream)); !seen.empty()) version = seen;
    }
    ended_ = true;
  });
  open.wait(false);
}

RawWatch::~RawWatch() = default;

std::string RawWatch::Follow(HttpStream& stream) {
  std::string text;
  std::string last;
  for (;;) {
    const Result<bool> more = stream.Read(text);
    if (!more || !*more) return last;
    const SteadyTime now = std::chrono::steady_clock::now();
    const WallTime wall = std::chrono::system_clock::now();
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      last.assign(text, begin, end - begin);
      std::lock_guard lock(mutex_);
      events_.push_back({now, wall});
      ++count_;
    }
    text.erase(0, begin);
  }
}

SeenEvent RawWatch::event(std::size_t i) const {
  std::lock_guard lock(mutex_);
  return events_.at(i);
}

void RawWatch::WaitForCount(std::size_t count, Duration timeout) const {
  const SteadyTime begin = std::chrono::steady_clock::now();
  while (count_ < count) {
    if (ended_) throw TestFailure("a watch of the benchmark ended: " + why_);
    if (std::chrono::steady_clock::now() - begin > timeout) {
      throw TestFailure("only " + std::to_string(count_) + " of " + std::to_string(count) + " events arrived");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

double RawWatch::cpu_seconds() const {
  clockid_t clock{};
  timespec time{};
  if (ended_ || pthread_getcpuclockid(thread_.native_handle(), &clock) != 0 || clock_gettime(clock, &time) != 0)
    return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

}  // namespace yad::bench
