#include "operator/base/byte_budget.h"

#include <algorithm>

namespace yad {

ByteBudget::Lease ByteBudget::Take(std::size_t bytes, const std::stop_token& stop) {
  bytes = std::min(bytes, bytes_);
  std::unique_lock lock(mutex_);
  const std::uint64_t ticket = next_ticket_++;
  waiting_.insert(ticket);
  const bool taken = changed_.wait(lock, stop, [&] { return ticket == *waiting_.begin() && bytes <= left_; });
  waiting_.erase(ticket);
  if (!taken) bytes = 0;
  left_ -= bytes;
  lock.unlock();
  changed_.notify_all();
  return {*this, bytes};
}

void ByteBudget::Return(std::size_t bytes) {
  {
    std::lock_guard lock(mutex_);
    left_ += bytes;
  }
  changed_.notify_all();
}

}  // namespace yad
