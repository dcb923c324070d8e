// Parses the URLs of a server and of a proxy.
#ifndef OPERATOR_CLIENT_TRANSPORT_SERVER_ADDRESS_H_
#define OPERATOR_CLIENT_TRANSPORT_SERVER_ADDRESS_H_

#include <string>

#include "operator/base/error.h"

namespace yad {

struct ServerAddress {
  bool tls = true;
  std::string host;       // a name or an IP address, without brackets
  std::string port;       // "443"
  std::string authority;  // the value of the header Host, such as "[::1]:6443"; has a port only if the URL has one
  std::string prefix;     // "" or "/path", without a trailing slash
};

struct ProxyAddress {
  std::string host;
  std::string port;
  std::string authorization;  // value of Proxy-Authorization; "" without credentials
};

// Fails with kConfig if the URL is malformed. The message contains the URL without credentials.
Result<ServerAddress> ParseServerAddress(const std::string& url);
// Fails with kConfig if the URL is malformed. The message contains no credentials.
Result<ProxyAddress> ParseProxyAddress(const std::string& url);

}  // namespace yad

#endif  // OPERATOR_CLIENT_TRANSPORT_SERVER_ADDRESS_H_
