#include "webhook/server/body_budget.h"

namespace yad {

bool BodyBudget::Set(Holder& holder, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto release = [this](Holder* from) {
    const auto found = taken_.find(from);
    if (found == taken_.end()) return;
    left_ += found->second;
    taken_.erase(found);
  };
  release(&holder);
  if (bytes == 0) return true;
  const SteadyTime::rep waits_since = holder.waits_since();
  if (waits_since == 0) return false;
  while (left_ < bytes) {
    Holder* oldest = nullptr;
    SteadyTime::rep since = waits_since;
    for (const auto& [other, size] : taken_) {
      const SteadyTime::rep others = other->waits_since();
      if (others == 0 || others >= since) continue;
      since = others;
      oldest = other;
    }
    if (oldest == nullptr) return false;
    // These bytes are free a moment later, when the connection is closed.
    release(oldest);
    oldest->Abort();
  }
  taken_.emplace(&holder, bytes);
  left_ -= bytes;
  return true;
}

}  // namespace yad
