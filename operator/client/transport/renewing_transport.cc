#include "operator/client/transport/renewing_transport.h"

#include <utility>

#include "operator/base/log.h"

namespace yad {

Result<std::shared_ptr<HttpTransport>> RenewingTransport::Current(const std::stop_token& stop) {
  YAD_TRY(std::shared_ptr<const TlsMaterial> material, source_(stop));
  std::lock_guard lock(mutex_);
  if (current_ != nullptr && (material == tried_ || *material == *tried_)) return current_;
  TransportOptions options = options_;
  options.ca_pem = material->ca_pem;
  options.client_cert_pem = material->client_cert_pem;
  options.client_key_pem = material->client_key_pem;
  Result<std::shared_ptr<HttpTransport>> made = MakeTransport(options);
  if (!made && current_ == nullptr) return made;
  tried_ = std::move(material);
  if (made) {
    if (current_ != nullptr)
      log::Info("the certificates have changed; new requests use the new ones", {{"server", options_.server}});
    current_ = std::move(*made);
  } else {
    log::Warn("cannot use the new certificates; requests use the previous ones",
              {{"server", options_.server}, {"error", made.error()}});
  }
  return current_;
}

Result<HttpResponse> RenewingTransport::Send(const HttpRequest& request, std::stop_token stop) {
  YAD_TRY(std::shared_ptr<HttpTransport> transport, Current(stop));
  Result<HttpResponse> answer = transport->Send(request, std::move(stop));
  if (!answer && answer.error().reason == Reason::kTransport) on_failure_();
  return answer;
}

Result<std::unique_ptr<HttpStream>> RenewingTransport::Open(const HttpRequest& request, std::stop_token stop) {
  YAD_TRY(std::shared_ptr<HttpTransport> transport, Current(stop));
  Result<std::unique_ptr<HttpStream>> answer = transport->Open(request, std::move(stop));
  if (!answer && answer.error().reason == Reason::kTransport) on_failure_();
  return answer;
}

}  // namespace yad
