// The parts of a server's and a proxy's URL.
#ifndef OPERATOR_CLIENT_SERVER_ADDRESS_H_
#define OPERATOR_CLIENT_SERVER_ADDRESS_H_

#include <string>

#include "operator/base/error.h"

namespace yad {

struct ServerAddress {
  bool tls = true;
  std::string host;       // a name or an IP address, without brackets
  std::string port;       // "443"
  std::string authority;  // for the header Host: "[::1]:6443"; the port only where the URL has one
  std::string prefix;     // "" or "/path", without a slash at its end
};

struct ProxyAddress {
  std::string host;
  std::string port;
  std::string authorization;  // the value of Proxy-Authorization; "" without credentials
};

// kConfig with a message that names the address.
Result<ServerAddress> ParseServerAddress(const std::string& url);
// kConfig; the message holds no credentials.
Result<ProxyAddress> ParseProxyAddress(const std::string& url);

}  // namespace yad

#endif  // OPERATOR_CLIENT_SERVER_ADDRESS_H_
