// The parts of the URLs of a server and a proxy.
#ifndef OPERATOR_CLIENT_TRANSPORT_SERVER_ADDRESS_H_
#define OPERATOR_CLIENT_TRANSPORT_SERVER_ADDRESS_H_

#include <string>

#include "operator/base/error.h"

namespace yad {

struct ServerAddress {
  bool tls = true;
  std::string host;       // a name or an IP address, without brackets
  std::string port;       // "443"
  std::string authority;  // for the header Host, such as "[::1]:6443"; without a port if the URL has none
  std::string prefix;     // "" or "/path", without a trailing slash
};

struct ProxyAddress {
  std::string host;
  std::string port;
  std::string authorization;  // value of Proxy-Authorization; "" without credentials
};

// Fails with kConfig. The message contains the address, without credentials.
Result<ServerAddress> ParseServerAddress(const std::string& url);
// Fails with kConfig. The message contains no credentials.
Result<ProxyAddress> ParseProxyAddress(const std::string& url);

}  // namespace yad

#endif  // OPERATOR_CLIENT_TRANSPORT_SERVER_ADDRESS_H_
