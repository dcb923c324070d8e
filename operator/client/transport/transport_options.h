// The address of a server, and the certificates for connections to it.
#ifndef OPERATOR_CLIENT_TRANSPORT_TRANSPORT_OPTIONS_H_
#define OPERATOR_CLIENT_TRANSPORT_TRANSPORT_OPTIONS_H_

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/base/error.h"
#include "operator/client/transport/resolver.h"
#include "operator/client/transport/tls_material.h"
#include "operator/client/transport/transport.h"

namespace yad {

struct TransportOptions {
  std::string server;           // "https://host:port[/prefix]"
  std::string tls_server_name;  // empty: the host of `server`
  bool insecure_skip_tls_verify = false;
  TlsMaterial tls;
  std::string proxy_url;  // "http://[user:password@]host[:port]"

  // A pooled connection is closed at a random age between these limits, after its current request. So the connections
  // are distributed over all servers behind the address, even after one of the servers has restarted.
  std::chrono::milliseconds min_connection_age = std::chrono::minutes(10);
  std::chrono::milliseconds max_connection_age = std::chrono::minutes(15);
  // A pooled connection that was idle for longer than this is closed. The apiserver closes idle connections after 90 s,
  // and a request at that moment would fail.
  std::chrono::milliseconds max_idle = std::chrono::seconds(60);
  // Resolves the name of the server or the proxy. Tests replace this function. The transport of cpprestsdk does not use
  // it.
  std::function<Result<std::vector<SocketAddress>>(const std::string& host, const std::string& port,
                                                   SteadyTime deadline, const std::stop_token& stop)>
      resolve = Resolve;
};

// Returns a transport of the library that this program was built with (-DYAD_HTTP_CLIENT). Fails with kConfig if the
// address, a certificate or a key is not usable.
Result<std::shared_ptr<HttpTransport>> MakeTransport(const TransportOptions& options);

// Returns a transport of Boost.Beast, which works on the caller's thread; only name resolution uses another thread.
// - Send reuses pooled connections. Each stream has its own connection.
// - If the server has closed a pooled connection, a GET is sent once more. A request with another method is sent once
//   more only if the server can't have received it.
Result<std::shared_ptr<HttpTransport>> MakeBeastTransport(const TransportOptions& options);

// Returns a transport of cpprestsdk, for builds with -DYAD_HTTP_CLIENT=cpprestsdk and for tests. The library keeps each
// connection until the server closes it, so the connection ages and max_idle in `options` have no effect.
Result<std::shared_ptr<HttpTransport>> MakeCpprestTransport(const TransportOptions& options);

}  // namespace yad

#endif  // OPERATOR_CLIENT_TRANSPORT_TRANSPORT_OPTIONS_H_
