// New connections to one server, through a proxy where one is configured, with TLS where its address says so.
#ifndef OPERATOR_CLIENT_DIALER_H_
#define OPERATOR_CLIENT_DIALER_H_

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "operator/base/error.h"
#include "operator/client/connection.h"
#include "operator/client/server_address.h"
#include "operator/client/tls_client.h"
#include "operator/client/transport_options.h"

namespace yad {

// Thread-safe.
class Dialer {
 public:
  // kConfig where the address, a certificate or a key cannot be used.
  static Result<std::unique_ptr<Dialer>> Make(const TransportOptions& options);

  // Within `deadline`, for the name, the connection, the proxy and TLS together. kTransport, or kCancelled.
  Result<std::unique_ptr<Connection>> Dial(SteadyTime deadline, const std::stop_token& stop) const;

  const std::string& url() const { return url_; }
  const ServerAddress& server() const { return server_; }
  // Of a plain server: the proxy wants whole URLs instead of paths. Of a server with TLS it makes a tunnel.
  const ProxyAddress* forwarding_proxy() const { return server_.tls || !proxy_ ? nullptr : &*proxy_; }
  // Why a connection to the server failed. Empty where the code says nothing special.
  std::string Explain(const Connection::Code& code) const;

 private:
  Dialer() = default;
  Result<std::unique_ptr<Connection>> ConnectToAny(SteadyTime deadline, const std::stop_token& stop) const;
  Status StartTunnel(Connection& connection, SteadyTime deadline) const;

  std::string url_;
  ServerAddress server_;
  std::optional<ProxyAddress> proxy_;
  std::shared_ptr<TlsClient> tls_;
  std::shared_ptr<ssl_ctx_st> context_;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_DIALER_H_
