// Listens on an address in the syntax of the operator's flags, and accepts connections.
#ifndef OPERATOR_RUNTIME_ACCEPTOR_H_
#define OPERATOR_RUNTIME_ACCEPTOR_H_

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <string>
#include <utility>

#include "operator/base/error.h"

namespace yad {

// Opens `acceptor` on "host:port", "[::1]:port" or ":port" (all addresses, including IPv4). Port 0 means any free port.
// If the address is malformed or can't be listened on, fails with kConfig and leaves `acceptor` closed.
Status ListenOn(boost::asio::ip::tcp::acceptor& acceptor, const std::string& bind);

// Accepts connections on the thread that runs the acceptor's context. This object must exist as long as that thread
// runs the context.
class AcceptLoop {
 public:
  using Admit = std::function<void(boost::asio::ip::tcp::socket)>;

  // `admit` gets each connection.
  AcceptLoop(boost::asio::ip::tcp::acceptor& acceptor, Admit admit)
      : acceptor_(acceptor), retry_(acceptor.get_executor()), admit_(std::move(admit)) {}

  // Accepts from now on, until the acceptor is closed.
  void Start();

 private:
  boost::asio::ip::tcp::acceptor& acceptor_;
  boost::asio::steady_timer retry_;
  const Admit admit_;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_ACCEPTOR_H_
