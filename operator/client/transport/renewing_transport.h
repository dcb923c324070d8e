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

// Creates a new transport when the certificates have changed. Thread-safe.
// - Requests and streams in progress keep the old transport.
// - If the new certificates are not usable, logs a warning and keeps the old transport. This can happen between another
//   program's writes of the certificate file and of the key file.
class RenewingTransport : public HttpTransport {
 public:
  // Sets the client certificate and its key.
  using SetIdentity = std::function<Status(const std::stop_token&, TlsMaterial&)>;

  // `options.tls` is the content of `files` at startup. The files are read again later, as TlsMaterialReader describes,
  // and also after a request that fails with kTransport. If there is a `set_identity`, it is called for each request,
  // on the thread of the request and with its stop token.
  RenewingTransport(TransportOptions options, TlsFiles files, SetIdentity set_identity = {},
                    Clock& clock = Clock::Real())
      : options_(std::move(options)),
        files_(std::move(files), options_.tls, clock),
        set_identity_(std::move(set_identity)) {}

  Result<HttpResponse> Send(const HttpRequest& request, std::stop_token stop) override;
  Result<std::unique_ptr<HttpStream>> Open(const HttpRequest& request, std::stop_token stop) override;
  // Returns the transport for the current certificates.
  Result<std::shared_ptr<HttpTransport>> Current(const std::stop_token& stop = {});
  // Makes the next request read the files. Call it after the server has rejected the client certificate.
  void RereadFiles() { files_.Invalidate(); }

 private:
  const TransportOptions options_;
  TlsMaterialReader files_;
  const SetIdentity set_identity_;
  std::mutex mutex_;
  // The newest certificates. If they were not usable, `current_` still uses older certificates.
  std::shared_ptr<const TlsMaterial> tried_;
  std::shared_ptr<HttpTransport> current_;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_TRANSPORT_RENEWING_TRANSPORT_H_
