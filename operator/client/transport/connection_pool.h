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

// A connection and the time after which it must not be reused.
struct PooledConnection {
  std::unique_ptr<Connection> connection;
  SteadyTime retire_at;
};

// Keeps connections that no request uses at the moment. Thread-safe.
class ConnectionPool {
 public:
  struct Limits {
    std::chrono::milliseconds min_age;
    std::chrono::milliseconds max_age;
    std::chrono::milliseconds max_idle;
    std::size_t max_connections = 32;
  };
  explicit ConnectionPool(const Limits& limits) : limits_(limits) {}

  // Takes the most recently used connection, because the server is least likely to have closed it. `connection` is
  // nullptr if the pool has none. Drops connections that are too old, that were idle for too long, or that the server
  // has closed.
  PooledConnection Take();
  // Puts a connection into the pool, after a response was read completely.
  void Put(PooledConnection connection);
  // Drops all connections. Called after the server did not respond on a pooled connection, because the other pooled
  // connections are probably broken too, for example after a load balancer has failed.
  void Clear();
  // Returns the retire_at of a connection that is created now.
  SteadyTime RetireAt();

 private:
  struct Idle {
    PooledConnection pooled;
    SteadyTime since;
  };

  const Limits limits_;
  std::mutex mutex_;
  std::minstd_rand random_{std::random_device{}()};
  std::deque<Idle> idle_;  // the longest idle connection is first
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_TRANSPORT_CONNECTION_POOL_H_
