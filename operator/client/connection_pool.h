// Connections to one server that wait for their next request.
#ifndef OPERATOR_CLIENT_CONNECTION_POOL_H_
#define OPERATOR_CLIENT_CONNECTION_POOL_H_

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <random>

#include "operator/base/clock.h"
#include "operator/client/connection.h"

namespace yad {

// A connection, and until when it may be used.
struct PooledConnection {
  std::unique_ptr<Connection> connection;
  SteadyTime retire_at;
};

// Thread-safe.
class ConnectionPool {
 public:
  struct Limits {
    std::chrono::milliseconds min_age;
    std::chrono::milliseconds max_age;
    std::chrono::milliseconds max_idle;
    std::size_t max_connections = 32;
  };
  explicit ConnectionPool(const Limits& limits) : limits_(limits) {}

  // The connection that was used last, as it is the least likely to have been closed. Connections that the server has
  // closed, and those that are too old, are dropped. nullptr in `connection`: none is left.
  PooledConnection Take();
  // After a whole request and its whole answer.
  void Put(PooledConnection connection);
  // When a connection that is made now retires.
  SteadyTime RetireAt();

 private:
  struct Idle {
    PooledConnection pooled;
    SteadyTime since;
  };

  const Limits limits_;
  std::mutex mutex_;
  std::minstd_rand random_{std::random_device{}()};
  std::deque<Idle> idle_;  // the longest idle first
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_CONNECTION_POOL_H_
