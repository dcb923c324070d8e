#include "operator/client/auth/service_client.h"

#include <chrono>
#include <utility>

#include "operator/base/file.h"
#include "operator/client/transport/renewing_transport.h"

namespace yad {

Result<std::unique_ptr<ServiceClient>> ServiceClient::Make(const ServiceOptions& options) {
  TransportOptions to_server;
  to_server.server = options.url;
  if (!options.ca_file.empty()) {
    YAD_TRY(to_server.tls.ca_pem, ReadNonEmptyFile(options.ca_file));
  }
  // This time is short, because a proxy may close idle connections early, and a POST on a closed connection fails.
  // Requests are rare, so there are few new connections.
  to_server.max_idle = std::chrono::seconds(5);
  TlsFiles files;
  files.ca = options.ca_file;
  auto transport = std::make_shared<RenewingTransport>(std::move(to_server), std::move(files));
  YAD_TRY_VOID(transport->Current());
  std::shared_ptr<TokenFile> token;
  if (!options.token_file.empty()) {
    token = std::make_shared<TokenFile>(options.token_file, Clock::Real());
    YAD_TRY_VOID(token->Get());
  }
  return std::make_unique<ServiceClient>(std::move(transport), std::move(token), options.user_agent);
}

ServiceClient::ServiceClient(std::shared_ptr<HttpTransport> transport, std::shared_ptr<TokenFile> token,
                             std::string user_agent)
    : transport_(std::move(transport)), token_(std::move(token)), user_agent_(std::move(user_agent)) {}

Result<HttpResponse> ServiceClient::Send(HttpRequest request, const std::stop_token& stop) {
  if (!user_agent_.empty()) request.headers["User-Agent"] = user_agent_;
  for (int attempt = 1;; ++attempt) {
    if (token_ != nullptr) {
      YAD_TRY(const std::string token, token_->Get());
      request.headers["Authorization"] = "Bearer " + token;
    }
    Result<HttpResponse> response = transport_->Send(request, stop);
    if (!response || response->status != 401 || token_ == nullptr || attempt == 2) return response;
    token_->Invalidate();
  }
}

}  // namespace yad
