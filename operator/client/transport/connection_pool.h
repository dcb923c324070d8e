// The idle connections to one server.
#ifndef OPERATOR_CLIENT_TRANSPORT_CONNECTION_POOL_H_
#define OPERATOR_CLIENT_TRANSPORT_CONNECTION_POOL_H_

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <random>

#include "operator/base/clock.h"
#include "operator/client/transport/connection.h"

namespace yad {

// A connection and the time until which it may be used.
struct PooledConnection {
  std::unique_ptr<Connection> connection;
  SteadyTime retire_at;
};

// Holds connections between two requests. Thread-safe.
class ConnectionPool {
 public:
  struct Limits {
    std::chrono::milliseconds min_age;
    std::chrono::milliseconds max_age;
    std::chrono::milliseconds max_idle;
    std::size_t max_connections = 32;
  };
  explicit ConnectionPool(const Limits& limits) : limits_(limits) {}

  // Returns the most recently used connection, because it is the least likely to be closed. Drops connections that are
  // too old, were idle for too long, or were closed by the server. `connection` is nullptr if none is left.
  PooledConnection Take();
  // Puts a connection back into the pool, after a complete request and response.
  void Put(PooledConnection connection);
  // Returns the time until which a connection that is created now may be used.
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

#endif  // OPERATOR_CLIENT_TRANSPORT_CONNECTION_POOL_H_
