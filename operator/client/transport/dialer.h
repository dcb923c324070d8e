// Opens connections to a server, through a proxy if one is configured, and with TLS for https://.
#ifndef OPERATOR_CLIENT_TRANSPORT_DIALER_H_
#define OPERATOR_CLIENT_TRANSPORT_DIALER_H_

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "operator/base/error.h"
#include "operator/base/synchronized.h"
#include "operator/client/transport/connection.h"
#include "operator/client/transport/server_address.h"
#include "operator/client/transport/tls_client.h"
#include "operator/client/transport/transport_options.h"

namespace yad {

// Opens connections to one server. Thread-safe.
class Dialer {
 public:
  // Fails with kConfig if the address, a certificate or a key is not usable.
  static Result<std::unique_ptr<Dialer>> Make(const TransportOptions& options);

  // Opens a connection. `deadline` applies to all steps together: name resolution, connect, proxy and TLS. Fails with
  // kTransport or kCancelled.
  Result<std::unique_ptr<Connection>> Dial(SteadyTime deadline, const std::stop_token& stop) const;

  const std::string& url() const { return url_; }
  const ServerAddress& server() const { return server_; }
  // Returns the proxy that forwards requests without TLS. A forwarded request has the whole URL instead of the path.
  // Returns nullptr if no proxy is configured, or if the server uses TLS: the proxy is then used as a tunnel (CONNECT).
  const ProxyAddress* forwarding_proxy() const { return server_.tls || !proxy_ ? nullptr : &*proxy_; }
  // Explains a TLS error, for a message. Returns "" if `code` is not a TLS error.
  std::string Explain(const Connection::Code& code) const;

 private:
  Dialer() = default;
  Result<std::unique_ptr<Connection>> ConnectToAny(SteadyTime deadline, const std::stop_token& stop) const;
  Status StartTunnel(Connection& connection, SteadyTime deadline) const;

  // The address that responded after an earlier address had failed.
  struct Preferred {
    SocketAddress address;
    SteadyTime until;
  };

  decltype(TransportOptions::resolve) resolve_;
  mutable Synchronized<Preferred> preferred_;
  std::string url_;
  ServerAddress server_;
  std::optional<ProxyAddress> proxy_;
  std::shared_ptr<ssl_ctx_st> tls_;  // nullptr for http://
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_TRANSPORT_DIALER_H_
