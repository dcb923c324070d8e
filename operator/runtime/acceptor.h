// Listens on an address in the form that flags have.
#ifndef OPERATOR_RUNTIME_ACCEPTOR_H_
#define OPERATOR_RUNTIME_ACCEPTOR_H_

#include <boost/asio/ip/tcp.hpp>
#include <string>

#include "operator/base/error.h"

namespace yad {

// Opens `acceptor` on "host:port", "[::1]:port" or ":port" (all addresses, IPv4 included); port 0 is any free port.
// Fails with kConfig, and leaves it closed, if the address is malformed or can't be listened on.
Status ListenOn(boost::asio::ip::tcp::acceptor& acceptor, const std::string& bind);

}  // namespace yad

#endif  // OPERATOR_RUNTIME_ACCEPTOR_H_
