// Opens listening sockets and accepts connections.
#ifndef OPERATOR_RUNTIME_ACCEPTOR_H_
#define OPERATOR_RUNTIME_ACCEPTOR_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <string>
#include <utility>

#include "operator/base/error.h"

namespace yad {

// Makes `acceptor` listen on `bind`: "host:port", "[::1]:port", or ":port" for all addresses (IPv4 and IPv6). Port 0
// means any free port.
// Fails with kConfig if the address is malformed or can't be used. `acceptor` is then closed.
Status ListenOn(boost::asio::ip::tcp::acceptor& acceptor, const std::string& bind);

// Accepts connections on the acceptor's executor. Must not be destroyed while the io_context runs.
class AcceptLoop {
 public:
  using Admit = std::function<void(boost::asio::ip::tcp::socket)>;

  // Calls `admit` with each new connection. If `parallel` is set, each connection has its own strand of this
  // io_context. Otherwise, all connections use the executor of the acceptor.
  AcceptLoop(boost::asio::ip::tcp::acceptor& acceptor, Admit admit, boost::asio::io_context* parallel = nullptr)
      : acceptor_(acceptor), retry_(acceptor.get_executor()), admit_(std::move(admit)), parallel_(parallel) {}

  // Starts to accept connections. Ends when the acceptor is closed.
  void Start();

 private:
  boost::asio::ip::tcp::acceptor& acceptor_;
  boost::asio::steady_timer retry_;
  const Admit admit_;
  boost::asio::io_context* const parallel_;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_ACCEPTOR_H_
