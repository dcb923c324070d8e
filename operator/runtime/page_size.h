// The number of objects in the pages of a list, chosen so that no page is too long.
#ifndef OPERATOR_RUNTIME_PAGE_SIZE_H_
#define OPERATOR_RUNTIME_PAGE_SIZE_H_

#include <algorithm>
#include <cstddef>

namespace yad {

// Objects may be 10 KB or 9 MB long (1.5 MiB in etcd, where each byte may be six in JSON), and a page is in memory as a
// whole. Used by one thread.
class PageSize {
 public:
  // A longer page is rejected while it arrives. The largest object fits.
  static constexpr std::size_t kMaxBytes = 16u << 20;

  // `most` is the maximum number of objects in a page; 0: no pages.
  explicit PageSize(int most) : most_(most), limit_(most) {}

  int limit() const { return limit_; }
  // Halves the limit after a page was rejected for its length. Returns false if that page had one object.
  bool Halve() {
    if (limit_ <= 1) return false;
    limit_ /= 2;
    return true;
  }
  // Adapts the limit to a page of that many bytes.
  void Adapt(std::size_t bytes) {
    if (bytes > kMaxBytes / 2) Halve();
    if (bytes < kMaxBytes / 8) limit_ = std::min(most_, limit_ * 2);
  }

 private:
  const int most_;
  int limit_;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_PAGE_SIZE_H_
