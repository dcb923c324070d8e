// Issues the X.509 certificate of a webhook, and verifies a certificate as the apiserver does. All certificates and
// keys are in PEM format. All functions are thread-safe.
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

// A pair, and the CAs that verify it.
struct TrustedPair {
  CertificatePair pair;
  std::string bundle;

  bool operator==(const TrustedPair&) const = default;
};

struct CertificateTimes {
  WallTime not_before, not_after;
};

// Issues a new CA, and a leaf for these DNS names. Both use ECDSA P-256, and are valid from not_before to not_after.
// Fractions of a second are dropped. The CA's private key is discarded, so the CA signs only this leaf.
Result<TrustedPair> IssueCertificate(const std::vector<std::string>& names, WallTime not_before, WallTime not_after);

// Returns the validity of the first certificate. Fails with kConfig if there is no certificate.
Result<CertificateTimes> ReadTimes(const std::string& certificate);

// Returns the DNS names of the first certificate; empty if there is no certificate.
std::vector<std::string> ReadNames(const std::string& certificate);

// Checks that `certificate` is valid at `now` for a server with all of these names, for a client that trusts only the
// certificates in `bundle`. Fails with kConfig and the reason.
// As in Go, a chain may end at any certificate of the bundle, and the common name is ignored.
Status VerifyServer(const std::string& certificate, const std::string& bundle, const std::vector<std::string>& names,
                    WallTime now);

// Fails with kConfig if the certificate or the key can't be read, or if they do not belong together.
Status VerifyKey(const CertificatePair& pair);

// Returns each readable certificate in `bundle` once, and omits all other content. Each certificate is encoded again,
// so equal certificates have equal encodings.
std::vector<std::string> SplitBundle(const std::string& bundle);

}  // namespace yad

#endif  // WEBHOOK_CERTIFICATES_CERTIFICATE_PAIR_H_
