// Listening on an address as flags give it.
#ifndef OPERATOR_RUNTIME_ACCEPTOR_H_
#define OPERATOR_RUNTIME_ACCEPTOR_H_

#include <boost/asio/ip/tcp.hpp>
#include <string>

#include "operator/base/error.h"

namespace yad {

// Opens `acceptor` on "host:port", "[::1]:port" or ":port" (all addresses, of IPv4 too); port 0 is any free one.
// kConfig, and it stays closed: that is no address, or can't be listened on.
Status ListenOn(boost::asio::ip::tcp::acceptor& acceptor, const std::string& bind);

}  // namespace yad

#endif  // OPERATOR_RUNTIME_ACCEPTOR_H_
