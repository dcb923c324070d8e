// The number of objects in each page of a list, which adapts so that no page is too long.
#ifndef OPERATOR_RUNTIME_PAGE_SIZE_H_
#define OPERATOR_RUNTIME_PAGE_SIZE_H_

#include <algorithm>
#include <cstddef>

namespace yad {

// Adapts the number to the size of the objects, because a whole page is in memory. One object may have 9 MB of JSON:
// etcd stores up to 1.5 MiB, and each byte may become six bytes in JSON. Used by one thread.
class PageSize {
 public:
  // The maximum length of a page, which the largest object does not exceed. The client rejects a longer page before all
  // of it has arrived.
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
  // Adapts the limit to the length of the last page.
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
