// The certificate that the webhook shows, replaced while it serves.
#ifndef WEBHOOK_SERVING_CERTIFICATE_H_
#define WEBHOOK_SERVING_CERTIFICATE_H_

#include <memory>
#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/base/guarded.h"

typedef struct ssl_ctx_st SSL_CTX;

namespace yad {

// Thread-safe.
class ServingCertificate {
 public:
  // Replaces the pair. kConfig, and the old pair stays: unreadable PEM, or a key that is not the certificate's.
  Status Load(const std::string& certificate_pem, const std::string& key_pem);
  // A TLS 1.2+ server context with the pair; nullptr before the first Load.
  std::shared_ptr<SSL_CTX> context() const;
  bool loaded() const { return context() != nullptr; }
  // Of the leaf; the epoch before the first Load.
  WallTime not_after() const;
  // The leaf and its chain, as it was loaded; "" before the first Load.
  std::string certificate_pem() const;

 private:
  struct Pair {
    std::shared_ptr<SSL_CTX> context;
    WallTime not_after;
    std::string certificate_pem;
  };
  Guarded<Pair> pair_;
};

// Reads tls.crt and tls.key in `directory` again whenever one of them changes (looked at every `period`), until `stop`.
// A pair that does not fit together (a write half done) is tried again. A Runnable for the Manager.
Status FollowCertificateFiles(const std::string& directory, ServingCertificate& certificate, std::stop_token stop,
                              Duration period = std::chrono::seconds(1), Clock& clock = Clock::Real());

}  // namespace yad

#endif  // WEBHOOK_SERVING_CERTIFICATE_H_
