// Resolves host names.
#ifndef OPERATOR_CLIENT_TRANSPORT_RESOLVER_H_
#define OPERATOR_CLIENT_TRANSPORT_RESOLVER_H_

#include <sys/socket.h>

#include <cstring>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "operator/base/error.h"

namespace yad {

struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;
  bool operator==(const SocketAddress& other) const {
    return size == other.size && std::memcmp(&bytes, &other.bytes, size) == 0;
  }
};

// Returns the addresses of a host name or of a numeric address, in the order in which to try them. Runs the system's
// resolver on a separate thread, because it can't be interrupted. The thread may run longer than this call. Fails
// - with kTransport if the name is unknown, if `deadline` passes, or if too many of these threads are still running;
// - with kCancelled if `stop` fires.
Result<std::vector<SocketAddress>> Resolve(const std::string& host, const std::string& port, SteadyTime deadline,
                                           const std::stop_token& stop);

}  // namespace yad

#endif  // OPERATOR_CLIENT_TRANSPORT_RESOLVER_H_
