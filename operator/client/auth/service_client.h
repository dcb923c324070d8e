// Requests to a server other than the apiserver, such as Prometheus. Files contain the CA and the token of such a
// server.
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

// Adds User-Agent and the token to requests. Thread-safe. Redirects are not followed, because they would send the token
// to another server.
class ServiceClient {
 public:
  // Fails with kConfig if the address, the CA or the token is not usable. Sends nothing.
  static Result<std::unique_ptr<ServiceClient>> Make(const ServiceOptions& options);
  // `token` may be null.
  ServiceClient(std::shared_ptr<HttpTransport> transport, std::shared_ptr<TokenFile> token, std::string user_agent);

  // Sends the request. If the server rejects the token, reads the token's file again and repeats the request once. The
  // path of the request is appended to the prefix of the address. The time-out of a request limits only the silence of
  // the server. A caller that needs a limit for the whole request lets `stop` fire.
  Result<HttpResponse> Send(HttpRequest request, const std::stop_token& stop);

 private:
  const std::shared_ptr<HttpTransport> transport_;
  const std::shared_ptr<TokenFile> token_;
  const std::string user_agent_;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_AUTH_SERVICE_CLIENT_H_
