#include "operator/client/transport/connection_pool.h"

#include <utility>
#include <vector>

namespace yad {

PooledConnection ConnectionPool::Take() {
  const SteadyTime now = std::chrono::steady_clock::now();
  for (;;) {
    Idle last;
    {
      std::lock_guard lock(mutex_);
      if (idle_.empty()) return {};
      last = std::move(idle_.back());
      idle_.pop_back();
    }
    if (now < last.pooled.retire_at && now - last.since < limits_.max_idle && last.pooled.connection->IsQuiet()) {
      return std::move(last.pooled);
    }
    last.pooled.connection->SendCloseNotify();
  }
}

void ConnectionPool::Put(PooledConnection connection) {
  const SteadyTime now = std::chrono::steady_clock::now();
  std::vector<PooledConnection> dropped;  // closed after the lock is released
  {
    std::lock_guard lock(mutex_);
    if (now < connection.retire_at) {
      idle_.push_back({std::move(connection), now});
    } else {
      dropped.push_back(std::move(connection));
    }
    while (!idle_.empty() &&
           (idle_.size() > limits_.max_connections || now - idle_.front().since >= limits_.max_idle)) {
      dropped.push_back(std::move(idle_.front().pooled));
      idle_.pop_front();
    }
  }
  for (const PooledConnection& each : dropped) each.connection->SendCloseNotify();
}

void ConnectionPool::Clear() {
  std::deque<Idle> dropped;  // closed after the lock is released
  std::lock_guard lock(mutex_);
  dropped.swap(idle_);
}

SteadyTime ConnectionPool::RetireAt() {
  std::lock_guard lock(mutex_);
  std::uniform_int_distribution<std::int64_t> age(limits_.min_age.count(), limits_.max_age.count());
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(age(random_));
}

}  // namespace yad
