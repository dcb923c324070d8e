// The certificate that the webhook serves. It can be replaced while the server runs.
#ifndef WEBHOOK_CERTIFICATES_SERVING_CERTIFICATE_H_
#define WEBHOOK_CERTIFICATES_SERVING_CERTIFICATE_H_

#include <memory>
#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/base/synchronized.h"

typedef struct ssl_ctx_st SSL_CTX;

namespace yad {

// Thread-safe.
class ServingCertificate {
 public:
  // Replaces the pair. If the PEM is malformed or the key does not belong to the certificate, fails with kConfig and
  // keeps the old pair.
  Status Load(const std::string& certificate_pem, const std::string& key_pem);
  struct Loaded {
    std::shared_ptr<SSL_CTX> context;  // a TLS 1.2+ server context with the pair
    WallTime not_after;                // the time at which the leaf expires
    std::string certificate_pem;       // the leaf and its chain as they were loaded
  };
  // Returns the pair of the last Load. Before the first Load, all fields are empty.
  Loaded loaded() const {
    return loaded_.With([](const Loaded& last) { return last; });
  }

 private:
  Synchronized<Loaded> loaded_;
};

// Reads tls.crt and tls.key in `directory` every `period` until `stop` fires, and loads them if one of them has
// changed. For use as a Runnable of the Manager.
// If the key does not match the certificate, tries again, because another program may be writing the files.
Status FollowCertificateFiles(const std::string& directory, ServingCertificate& certificate, std::stop_token stop,
                              Duration period = std::chrono::seconds(1), Clock& clock = Clock::Real());

}  // namespace yad

#endif  // WEBHOOK_CERTIFICATES_SERVING_CERTIFICATE_H_
