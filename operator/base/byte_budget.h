// A bound on the memory that several threads use at once.
#ifndef OPERATOR_BASE_BYTE_BUDGET_H_
#define OPERATOR_BASE_BYTE_BUDGET_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stop_token>

namespace yad {

// A number of bytes that callers lease, first come, first served. Thread-safe.
class ByteBudget {
 public:
  // Bytes taken from the budget. The destructor returns them; the budget must outlive the lease.
  class Lease {
   public:
    Lease(ByteBudget& budget, std::size_t bytes) : budget_(budget), bytes_(bytes) {}
    ~Lease() { budget_.Return(bytes_); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

   private:
    ByteBudget& budget_;
    const std::size_t bytes_;
  };

  explicit ByteBudget(std::size_t bytes) : bytes_(bytes), left_(bytes) {}

  // Blocks until `bytes` bytes are free; callers are served in the order of their calls. A request for more than the
  // whole budget takes the whole budget. If `stop` fires first, the lease is empty unless the bytes are free when the
  // turn comes.
  Lease Take(std::size_t bytes, const std::stop_token& stop);

 private:
  void Return(std::size_t bytes);

  const std::size_t bytes_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::size_t left_;
  std::uint64_t next_ticket_ = 0;
  std::uint64_t now_serving_ = 0;
};

}  // namespace yad

#endif  // OPERATOR_BASE_BYTE_BUDGET_H_
