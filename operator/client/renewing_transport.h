// A transport whose certificates change while it is used.
#ifndef OPERATOR_CLIENT_RENEWING_TRANSPORT_H_
#define OPERATOR_CLIENT_RENEWING_TRANSPORT_H_

#include <functional>
#include <memory>
#include <mutex>

#include "operator/base/error.h"
#include "operator/client/tls_material.h"
#include "operator/client/transport_options.h"

namespace yad {

// Makes a new transport when the source gives other certificates. Requests and streams that are under way keep theirs.
// Material that cannot be used (a certificate whose key is not written yet) is logged, and the last transport stays.
// Thread-safe.
class RenewingTransport : public HttpTransport {
 public:
  using Source = std::function<Result<std::shared_ptr<const TlsMaterial>>(const std::stop_token&)>;

  // `source` is called for each request, from any thread, with the request's stop token. `on_failure` is called after a
  // request without an answer.
  RenewingTransport(
      TransportOptions options, Source source, std::function<void()> on_failure = [] {})
      : options_(std::move(options)), source_(std::move(source)), on_failure_(std::move(on_failure)) {}

  Result<HttpResponse> Send(const HttpRequest& request, std::stop_token stop) override;
  Result<std::unique_ptr<HttpStream>> Open(const HttpRequest& request, std::stop_token stop) override;
  // The transport for the certificates of this moment.
  Result<std::shared_ptr<HttpTransport>> Current(const std::stop_token& stop = {});

 private:
  const TransportOptions options_;
  const Source source_;
  const std::function<void()> on_failure_;
  std::mutex mutex_;
  std::shared_ptr<const TlsMaterial> tried_;  // what the last transport was made of, or could not be made of
  std::shared_ptr<HttpTransport> current_;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_RENEWING_TRANSPORT_H_
