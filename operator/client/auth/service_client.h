// Sends requests to a server other than the apiserver, such as Prometheus. Its CA and its token are read from files.
#ifndef OPERATOR_CLIENT_AUTH_SERVICE_CLIENT_H_
#define OPERATOR_CLIENT_AUTH_SERVICE_CLIENT_H_

#include <memory>
#include <stop_token>
#include <string>

#include "operator/base/error.h"
#include "operator/client/auth/token_source.h"
#include "operator/client/transport/transport.h"

namespace yad {

struct ServiceOptions {
  std::string url;         // "https://host[:port][/prefix]"
  std::string ca_file;     // PEM; read again when it changes; empty: the system's CAs
  std::string token_file;  // read again when it changes; empty: no token
  std::string user_agent;
};

// Sends requests with User-Agent and the token. Does not follow redirects, because they would send the token to another
// server. Thread-safe.
class ServiceClient {
 public:
  // Fails with kConfig if the address, the CA or the token is not usable. Does not connect to the server.
  static Result<std::unique_ptr<ServiceClient>> Make(const ServiceOptions& options);
  // `token` may be null.
  ServiceClient(std::shared_ptr<HttpTransport> transport, std::shared_ptr<TokenFile> token, std::string user_agent);

  // Sends the request. Its path is appended to the prefix of the server's URL.
  // - If the server rejects the token, reads the token file again and repeats the request once.
  // - The timeout limits only the time without data from the server. To limit the whole request, use `stop`.
  Result<HttpResponse> Send(HttpRequest request, const std::stop_token& stop);

 private:
  const std::shared_ptr<HttpTransport> transport_;
  const std::shared_ptr<TokenFile> token_;
  const std::string user_agent_;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_AUTH_SERVICE_CLIENT_H_
