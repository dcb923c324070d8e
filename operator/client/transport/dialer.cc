#include "operator/client/transport/dialer.h"

#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <cstring>
#include <vector>

namespace yad {
namespace {

namespace http = boost::beast::http;

// If an address fails, the address that responds instead is tried first for this time. Then the connections spread over
// all addresses again.
constexpr std::chrono::minutes kPreferredFor{10};

tl::unexpected<Error> Unreachable(const std::string& target, const std::string& why) {
  return Fail(Reason::kTransport, "cannot reach " + target + ": " + why);
}

// Explains why connect failed, for a message.
std::string ConnectFailure(const Connection::Code& code) {
  switch (code.value()) {
    case ECONNREFUSED:
      return "connection refused (is the server running, and is this its address?)";
    case EHOSTUNREACH:
    case ENETUNREACH:
      return code.message() + " (is this its address?)";
    default:
      return code == boost::asio::error::timed_out ? "no connection within the timeout" : code.message();
  }
}

}  // namespace

Result<std::unique_ptr<Dialer>> Dialer::Make(const TransportOptions& options) {
  auto dialer = std::unique_ptr<Dialer>(new Dialer);
  YAD_TRY(dialer->server_, ParseServerAddress(options.server));
  dialer->resolve_ = options.resolve;
  dialer->url_ = options.server;
  while (dialer->url_.ends_with('/')) dialer->url_.pop_back();
  if (!options.proxy_url.empty()) {
    YAD_TRY(dialer->proxy_, ParseProxyAddress(options.proxy_url));
  }
  if (dialer->server_.tls) {
    YAD_TRY(dialer->tls_, MakeTlsContext(options, dialer->server_.host));
  }
  return dialer;
}

std::string Dialer::Explain(const Connection::Code& code) const {
  if (tls_ == nullptr || code.category() != boost::asio::error::get_ssl_category()) return "";
  return ExplainTlsError(tls_.get(), code.value());
}

Result<std::unique_ptr<Connection>> Dialer::Dial(SteadyTime deadline, const std::stop_token& stop) const {
  Result<std::unique_ptr<Connection>> connected = ConnectToAny(deadline, stop);
  if (!connected || (!proxy_ && tls_ == nullptr)) return connected;
  Connection& connection = **connected;
  const std::stop_callback interrupt(stop, [&connection] { connection.Interrupt(); });
  if (proxy_ && tls_ != nullptr) YAD_TRY_VOID(StartTunnel(connection, deadline));
  if (tls_ == nullptr) return connected;
  const Connection::Code failed = connection.StartTls(tls_.get(), deadline);
  if (!failed) return connected;
  const std::string reason = Explain(failed);
  if (!reason.empty()) return Fail(Reason::kTransport, "cannot connect to " + url_ + ": " + reason);
  return Fail(Reason::kTransport,
              "cannot connect to " + url_ + ": " +
                  (failed == boost::asio::error::timed_out ? "no response to the TLS handshake within the timeout"
                                                           : "the connection was closed during the TLS handshake"));
}

Result<std::unique_ptr<Connection>> Dialer::ConnectToAny(SteadyTime deadline, const std::stop_token& stop) const {
  const std::string target = proxy_ ? "the proxy " + proxy_->host + ":" + proxy_->port : url_;
  const std::string& host = proxy_ ? proxy_->host : server_.host;
  const std::string& port = proxy_ ? proxy_->port : server_.port;
  Result<std::vector<SocketAddress>> addresses = resolve_(host, port, deadline, stop);
  if (!addresses) return Fail(addresses.error().reason, "cannot reach " + target + ": " + addresses.error().message);
  const Preferred preferred = preferred_.With([](const Preferred& value) { return value; });
  if (std::chrono::steady_clock::now() < preferred.until) {
    std::stable_partition(addresses->begin(), addresses->end(),
                          [&](const SocketAddress& address) { return address == preferred.address; });
  }
  Connection::Code failed;
  for (std::size_t i = 0; i < addresses->size(); ++i) {
    const SocketAddress& address = (*addresses)[i];
    auto connection = std::make_unique<Connection>(address.bytes.ss_family);
    const std::stop_callback interrupt(stop, [made = connection.get()] { made->Interrupt(); });
    // Each address has an equal share of the remaining time, because the first addresses might not respond.
    const SteadyTime now = std::chrono::steady_clock::now();
    const SteadyTime share = now + (deadline - now) / static_cast<std::int64_t>(addresses->size() - i);
    failed = connection->Connect(address, share);
    if (!failed) {
      if (i > 0) preferred_.With([&](Preferred& value) { value = {address, now + kPreferredFor}; });
      return connection;
    }
    if (stop.stop_requested()) break;
  }
  return Unreachable(target, ConnectFailure(failed));
}

Status Dialer::StartTunnel(Connection& connection, SteadyTime deadline) const {
  const bool is_ipv6 = server_.host.find(':') != std::string::npos;
  const std::string target = (is_ipv6 ? "[" + server_.host + "]" : server_.host) + ":" + server_.port;
  std::string request = "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n";
  if (!proxy_->authorization.empty()) request += "Proxy-Authorization: " + proxy_->authorization + "\r\n";
  request += "\r\n";
  const std::string name = "the proxy " + proxy_->host + ":" + proxy_->port;
  Connection::Code error;
  connection.Write(request.data(), request.size(), deadline, error);

  http::response_parser<http::empty_body> parser;
  parser.skip(true);
  std::array<char, 4096> bytes;
  std::size_t size = 0;
  while (!error && !parser.is_done()) {
    // This read returns only the proxy's response, because the proxy does not send other data until the client starts
    // TLS.
    size += connection.Read(bytes.data() + size, bytes.size() - size, deadline, error);
    if (error) break;
    const std::size_t parsed = parser.put(boost::asio::buffer(bytes.data(), size), error);
    // Removes the parsed bytes from the buffer, because the parser must not receive them again.
    size -= parsed;
    std::memmove(bytes.data(), bytes.data() + parsed, size);
    if (error == http::error::need_more && size < bytes.size()) error = {};
  }
  if (error) return Unreachable(url_, name + ": no valid response to CONNECT: " + error.message());
  const int status = parser.get().result_int();
  if (status / 100 == 2) return {};
  return Unreachable(url_, name + " refuses the connection with HTTP status " + std::to_string(status) +
                               (status == 407 ? " (set the user and the password in proxy-url)" : ""));
}

}  // namespace yad
