#include "operator/client/transport/renewing_transport.h"

#include <utility>

#include "operator/base/log.h"

namespace yad {

Result<std::shared_ptr<HttpTransport>> RenewingTransport::Current(const std::stop_token& stop) {
  std::shared_ptr<const TlsMaterial> material = files_.Get();
  if (set_identity_) {
    auto with_identity = std::make_shared<TlsMaterial>(*material);
    YAD_TRY_VOID(set_identity_(stop, *with_identity));
    material = std::move(with_identity);
  }
  std::lock_guard lock(mutex_);
  if (current_ != nullptr && (material == tried_ || *material == *tried_)) return current_;
  TransportOptions options = options_;
  options.tls = *material;
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
  if (!answer && answer.error().reason == Reason::kTransport) files_.Invalidate();
  return answer;
}

Result<std::unique_ptr<HttpStream>> RenewingTransport::Open(const HttpRequest& request, std::stop_token stop) {
  YAD_TRY(std::shared_ptr<HttpTransport> transport, Current(stop));
  Result<std::unique_ptr<HttpStream>> answer = transport->Open(request, std::move(stop));
  if (!answer && answer.error().reason == Reason::kTransport) files_.Invalidate();
  return answer;
}

}  // namespace yad
