#include "operator/runtime/acceptor.h"

#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <cstdint>
#include <exception>

#include "operator/base/number.h"

namespace yad {
namespace {

namespace net = boost::asio;
using boost::system::error_code;
using tcp = net::ip::tcp;

constexpr std::chrono::milliseconds kAcceptRetry{100};

Status Bind(tcp::acceptor& acceptor, const tcp::endpoint& endpoint, const std::string& bind) {
  error_code error;
  const auto step = [&](auto&& call) {
    if (!error) call();
  };
  step([&] { acceptor.open(endpoint.protocol(), error); });
  step([&] { acceptor.set_option(net::socket_base::reuse_address(true), error); });
  // Makes a listener on [::] also accept IPv4 connections.
  if (endpoint.protocol() == tcp::v6() && endpoint.address().is_unspecified()) {
    step([&] { acceptor.set_option(net::ip::v6_only(false), error); });
  }
  step([&] { acceptor.bind(endpoint, error); });
  step([&] { acceptor.listen(net::socket_base::max_listen_connections, error); });
  if (!error) return {};
  error_code ignored;
  acceptor.close(ignored);
  return Fail(Reason::kConfig, "cannot listen on \"" + bind + "\": " + error.message());
}

Status ParseAndBind(tcp::acceptor& acceptor, const std::string& bind) {
  const auto bad = [&](const std::string& why) {
    return Fail(Reason::kConfig, "bad address \"" + bind + "\": " + why);
  };
  const std::size_t colon = bind.rfind(':');
  if (colon == std::string::npos) return bad("must be \"host:port\" or \":port\"");
  const std::string digits = bind.substr(colon + 1);
  const auto port = ParseNumber<std::uint16_t>(digits);
  if (!port) return bad("the port must be 0 to 65535");
  std::string host = bind.substr(0, colon);
  if (host.empty()) {
    if (Bind(acceptor, {net::ip::address_v6::any(), *port}, bind)) return {};
    return Bind(acceptor, {net::ip::address_v4::any(), *port}, bind);  // the machine has no IPv6
  }
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  error_code error;
  const auto found = tcp::resolver(acceptor.get_executor()).resolve(host, digits, tcp::resolver::passive, error);
  if (error) return bad(error.message());
  return Bind(acceptor, found.begin()->endpoint(), bind);
}

}  // namespace

Status ListenOn(tcp::acceptor& acceptor, const std::string& bind) {
  try {
    return ParseAndBind(acceptor, bind);
  } catch (const std::exception& exception) {
    return Fail(Reason::kConfig, "cannot listen on \"" + bind + "\": " + exception.what());
  }
}

void AcceptLoop::Start() {
  if (!acceptor_.is_open()) return;
  const net::any_io_executor executor =
      parallel_ == nullptr ? acceptor_.get_executor() : net::any_io_executor(net::make_strand(*parallel_));
  acceptor_.async_accept(executor, [this](error_code error, tcp::socket socket) {
    if (error == net::error::operation_aborted) return;
    if (error) {
      // Waits before the next accept. The process may have no free file descriptors, so an immediate retry would fail
      // in a busy loop.
      retry_.expires_after(kAcceptRetry);
      retry_.async_wait([this](error_code cancelled) {
        if (!cancelled) Start();
      });
      return;
    }
    Start();  // before admit_, which may throw an exception
    admit_(std::move(socket));
  });
}

}  // namespace yad
