// A transport whose certificates can change while it is used.
#ifndef OPERATOR_CLIENT_TRANSPORT_RENEWING_TRANSPORT_H_
#define OPERATOR_CLIENT_TRANSPORT_RENEWING_TRANSPORT_H_

#include <functional>
#include <memory>
#include <mutex>

#include "operator/base/error.h"
#include "operator/client/transport/tls_material.h"
#include "operator/client/transport/transport_options.h"

namespace yad {

// Creates a new transport when `source` returns other certificates. Thread-safe.
// - Requests and streams in progress keep the old transport.
// - If the new certificates are not usable, logs a warning and keeps the old transport. This can happen between another
//   program's writes of the certificate file and of the key file.
class RenewingTransport : public HttpTransport {
 public:
  using Source = std::function<Result<std::shared_ptr<const TlsMaterial>>(const std::stop_token&)>;

  // Calls `source` for each request, on the thread of the request and with its stop token. Calls `on_failure` after
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
  // The newest certificates that `source_` has returned. If they were not usable, `current_` still uses older
  // certificates.
  std::shared_ptr<const TlsMaterial> tried_;
  std::shared_ptr<HttpTransport> current_;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_TRANSPORT_RENEWING_TRANSPORT_H_
