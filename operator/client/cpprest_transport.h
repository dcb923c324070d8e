// HTTP over cpprestsdk and OpenSSL. Only this file's .cc knows either.
#ifndef OPERATOR_CLIENT_CPPREST_TRANSPORT_H_
#define OPERATOR_CLIENT_CPPREST_TRANSPORT_H_

#include <memory>
#include <string>

#include "operator/base/error.h"
#include "operator/client/transport.h"

namespace yad {

struct TransportOptions {
  std::string server;  // "https://host:port[/prefix]"
  std::string tls_server_name;
  bool insecure_skip_tls_verify = false;
  std::string ca_pem;  // only these are trusted; empty: the system's
  std::string client_cert_pem;
  std::string client_key_pem;
  std::string proxy_url;
};

// kConfig where certificates or keys can't be read.
Result<std::shared_ptr<HttpTransport>> MakeCpprestTransport(const TransportOptions& options);

}  // namespace yad

#endif  // OPERATOR_CLIENT_CPPREST_TRANSPORT_H_
