// Limits the memory that several threads use in total.
#ifndef OPERATOR_BASE_BYTE_BUDGET_H_
#define OPERATOR_BASE_BYTE_BUDGET_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <stop_token>
#include <utility>

namespace yad {

// A number of bytes from which threads can reserve a part. Thread-safe.
class ByteBudget {
 public:
  // Reserved bytes. The destructor returns them to the budget, which must outlive the lease.
  class Lease {
   public:
    Lease(ByteBudget& budget, std::size_t bytes) : budget_(budget), bytes_(bytes) {}
    ~Lease() { budget_.Return(bytes_); }
    Lease(Lease&& other) noexcept : budget_(other.budget_), bytes_(std::exchange(other.bytes_, 0)) {}
    Lease& operator=(Lease&&) = delete;

    // Keeps at most `bytes` bytes, and returns the remaining bytes to the budget.
    void ShrinkTo(std::size_t bytes) {
      if (bytes < bytes_) budget_.Return(std::exchange(bytes_, bytes) - bytes);
    }

   private:
    ByteBudget& budget_;
    std::size_t bytes_;
  };

  explicit ByteBudget(std::size_t bytes) : bytes_(bytes), left_(bytes) {}

  // Waits until `bytes` bytes are free, and reserves them. Waiting calls are served in FIFO order.
  // - If `bytes` is more than the whole budget, reserves the whole budget.
  // - If `stop` fires first, returns an empty lease.
  Lease Take(std::size_t bytes, const std::stop_token& stop);

 private:
  void Return(std::size_t bytes);

  const std::size_t bytes_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::size_t left_;
  std::uint64_t next_ticket_ = 0;
  std::set<std::uint64_t> waiting_;  // tickets of the waiting calls; the lowest ticket is served first
};

}  // namespace yad

#endif  // OPERATOR_BASE_BYTE_BUDGET_H_
