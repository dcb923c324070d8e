// A limit on the memory that several threads use at the same time.
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

// A number of bytes that callers lease, in the order of their calls. Thread-safe.
class ByteBudget {
 public:
  // Bytes taken from the budget. The destructor returns them; the budget must outlive the lease.
  class Lease {
   public:
    Lease(ByteBudget& budget, std::size_t bytes) : budget_(budget), bytes_(bytes) {}
    ~Lease() { budget_.Return(bytes_); }
    Lease(Lease&& other) noexcept : budget_(other.budget_), bytes_(std::exchange(other.bytes_, 0)) {}
    Lease& operator=(Lease&&) = delete;

    // Returns all bytes except `bytes` to the budget.
    void ShrinkTo(std::size_t bytes) {
      if (bytes < bytes_) budget_.Return(std::exchange(bytes_, bytes) - bytes);
    }

   private:
    ByteBudget& budget_;
    std::size_t bytes_;
  };

  explicit ByteBudget(std::size_t bytes) : bytes_(bytes), left_(bytes) {}

  // Blocks until `bytes` bytes are free. Callers are served in the order of their calls. A request for more than the
  // whole budget takes the whole budget. If `stop` fires first, the lease is empty, and later callers do not wait for
  // this one.
  Lease Take(std::size_t bytes, const std::stop_token& stop);

 private:
  void Return(std::size_t bytes);

  const std::size_t bytes_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::size_t left_;
  std::uint64_t next_ticket_ = 0;
  std::set<std::uint64_t> waiting_;  // tickets
};

}  // namespace yad

#endif  // OPERATOR_BASE_BYTE_BUDGET_H_
