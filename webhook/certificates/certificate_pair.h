// X.509 for the certificate of a webhook: issues a certificate, and verifies one as the apiserver does. All texts are
// PEM. Thread-safe, because there is no shared state.
#ifndef WEBHOOK_CERTIFICATES_CERTIFICATE_PAIR_H_
#define WEBHOOK_CERTIFICATES_CERTIFICATE_PAIR_H_

#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "operator/base/error.h"

namespace yad {

struct CertificatePair {
  std::string certificate;  // the leaf, optionally followed by its chain
  std::string key;          // must never be logged

  bool operator==(const CertificatePair&) const = default;
};

struct IssuedCertificate {
  std::string ca;  // its private key is discarded, so it signs only this leaf
  CertificatePair pair;
};

struct CertificateTimes {
  WallTime not_before, not_after;
};

// Issues a new CA, and a leaf for these DNS names. Both use ECDSA P-256, and are valid in [not_before, not_after], in
// whole seconds.
Result<IssuedCertificate> IssueCertificate(const std::vector<std::string>& names, WallTime not_before,
                                           WallTime not_after);

// Reads the times of the first certificate. Fails with kConfig if there is none.
Result<CertificateTimes> ReadTimes(const std::string& certificate);

// Returns the DNS names of the first certificate; empty if there is no certificate.
std::vector<std::string> ReadNames(const std::string& certificate);

// Checks that a client that trusts only `bundle` accepts `certificate` at `now`, as a server with each of `names`. As
// in Go, the chain may end at any certificate of the bundle, and only subjectAltName counts. Fails with kConfig and the
// reason.
Status VerifyServer(const std::string& certificate, const std::string& bundle, const std::vector<std::string>& names,
                    WallTime now);

// Fails with kConfig if the certificate or the key can't be read, or if they do not belong together.
Status VerifyKey(const CertificatePair& pair);

// Returns the readable certificates of a PEM text, each as PEM in the same encoding. Omits other text and repetitions.
std::vector<std::string> SplitBundle(const std::string& bundle);

}  // namespace yad

#endif  // WEBHOOK_CERTIFICATES_CERTIFICATE_PAIR_H_
