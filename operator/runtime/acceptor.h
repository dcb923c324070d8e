// Listens on an address that is written as in flags.
#ifndef OPERATOR_RUNTIME_ACCEPTOR_H_
#define OPERATOR_RUNTIME_ACCEPTOR_H_

#include <boost/asio/ip/tcp.hpp>
#include <string>

#include "operator/base/error.h"

namespace yad {

// Opens `acceptor` on "host:port", "[::1]:port" or ":port" (all addresses, including IPv4). Port 0 means any free port.
// If the address is malformed or can't be listened on, fails with kConfig and leaves `acceptor` closed.
Status ListenOn(boost::asio::ip::tcp::acceptor& acceptor, const std::string& bind);

}  // namespace yad

#endif  // OPERATOR_RUNTIME_ACCEPTOR_H_
