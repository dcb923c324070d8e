#include "operator/base/byte_budget.h"

#include <algorithm>

namespace yad {

ByteBudget::Lease ByteBudget::Take(std::size_t bytes, const std::stop_token& stop) {
  bytes = std::min(bytes, bytes_);
  std::unique_lock lock(mutex_);
  const std::uint64_t ticket = next_ticket_++;
  changed_.wait(lock, stop, [&] { return ticket == now_serving_ && bytes <= left_; });
  // A caller that gives up still waits for its turn. The callers before it are served or give up at the same moment.
  changed_.wait(lock, [&] { return ticket == now_serving_; });
  ++now_serving_;
  if (bytes > left_) bytes = 0;
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
