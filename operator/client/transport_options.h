// How to reach a server, and what to trust and to show there.
#ifndef OPERATOR_CLIENT_TRANSPORT_OPTIONS_H_
#define OPERATOR_CLIENT_TRANSPORT_OPTIONS_H_

#include <chrono>
#include <memory>
#include <string>

#include "operator/base/error.h"
#include "operator/client/transport.h"

namespace yad {

struct TransportOptions {
  std::string server;           // "https://host:port[/prefix]"
  std::string tls_server_name;  // empty: the host of `server`
  bool insecure_skip_tls_verify = false;
  std::string ca_pem;  // only these are trusted; empty: the system's
  std::string client_cert_pem;
  std::string client_key_pem;
  std::string proxy_url;  // "http://[user:password@]host[:port]"

  // A pooled connection that is older is closed after its request, at a random age between the two: after a restart of
  // one of several servers, load comes back to it.
  std::chrono::milliseconds min_connection_age = std::chrono::minutes(10);
  std::chrono::milliseconds max_connection_age = std::chrono::minutes(15);
  // A pooled connection that was idle for longer is not used again. Kubernetes' apiserver closes idle connections after
  // 90 s; a request that is sent at that very moment would fail.
  std::chrono::milliseconds max_idle = std::chrono::seconds(60);
};

// The transport that this program was built with (-DYAD_HTTP_CLIENT).
// kConfig where the address, a certificate or a key cannot be used.
Result<std::shared_ptr<HttpTransport>> MakeTransport(const TransportOptions& options);

}  // namespace yad

#endif  // OPERATOR_CLIENT_TRANSPORT_OPTIONS_H_
