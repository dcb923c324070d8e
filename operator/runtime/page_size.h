// Chooses the number of objects in a page of a list, so that no page is too long.
#ifndef OPERATOR_RUNTIME_PAGE_SIZE_H_
#define OPERATOR_RUNTIME_PAGE_SIZE_H_

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "operator/base/clock.h"
#include "operator/base/error.h"

namespace yad {

// Adapts the number of objects to their size, because a whole page is held in memory. Must be used by one thread.
class PageSize {
 public:
  // The maximum length of a page in bytes. The client aborts the download of a longer page. A page of one object always
  // fits: etcd stores at most 1.5 MiB per object. JSON can escape one byte as six, so the object has at most 9 MB of
  // JSON.
  static constexpr std::size_t kMaxBytes = 16u << 20;

  // `most` is the maximum number of objects in a page; 0: no pages.
  explicit PageSize(int most) : most_(most), limit_(most) {}

  int limit() const { return limit_; }
  // Halves the limit after the request of a page has failed. Returns false if a shorter page would fail too.
  bool Halve(const Error& error, Duration took) {
    const bool too_slow = error.reason == Reason::kTransport && took >= kSlow;
    if (!too_slow && error.reason != Reason::kTooLarge) return false;
    const bool halved = Halve();
    if (too_slow) most_ = limit_;
    return halved;
  }
  // Adapts the limit to the length of the last page.
  void Adapt(std::size_t bytes) {
    if (bytes > kMaxBytes / 2) Halve();
    if (bytes < kMaxBytes / 8) limit_ = std::min(most_, limit_ * 2);
  }

 private:
  // The apiserver ends a request after 60 s, even while the client still reads the response over a slow network. If the
  // server can't be reached or sends nothing, the request fails sooner.
  static constexpr Duration kSlow = std::chrono::seconds(50);

  bool Halve() {
    if (limit_ <= 1) return false;
    limit_ /= 2;
    return true;
  }

  int most_;
  int limit_;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_PAGE_SIZE_H_
