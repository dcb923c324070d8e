// A transport whose certificates can change while it is in use.
#ifndef OPERATOR_CLIENT_TRANSPORT_RENEWING_TRANSPORT_H_
#define OPERATOR_CLIENT_TRANSPORT_RENEWING_TRANSPORT_H_

#include <functional>
#include <memory>
#include <mutex>

#include "operator/base/error.h"
#include "operator/client/transport/tls_material.h"
#include "operator/client/transport/transport_options.h"

namespace yad {

// Creates a new transport when the source returns other certificates. Requests and streams in progress keep the old
// transport. If the new material is not usable (for example, because the certificate's key is not written yet), a
// warning is logged and the old transport stays in use. Thread-safe.
class RenewingTransport : public HttpTransport {
 public:
  using Source = std::function<Result<std::shared_ptr<const TlsMaterial>>(const std::stop_token&)>;

  // `source` is called for each request, on any thread, with the request's stop token. `on_failure` is called after
  // each request that fails with kTransport.
  RenewingTransport(
      TransportOptions options, Source source, std::function<void()> on_failure = [] {})
      : options_(std::move(options)), source_(std::move(source)), on_failure_(std::move(on_failure)) {}

  Result<HttpResponse> Send(const HttpRequest& request, std::stop_token stop) override;
  Result<std::unique_ptr<HttpStream>> Open(const HttpRequest& request, std::stop_token stop) override;
  // Returns the transport for the current certificates.
  Result<std::shared_ptr<HttpTransport>> Current(const std::stop_token& stop = {});

 private:
  const TransportOptions options_;
  const Source source_;
  const std::function<void()> on_failure_;
  std::mutex mutex_;
  // The material of `current_`, or newer material that was not usable.
  std::shared_ptr<const TlsMaterial> tried_;
  std::shared_ptr<HttpTransport> current_;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_TRANSPORT_RENEWING_TRANSPORT_H_
