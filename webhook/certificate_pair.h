// X.509 as far as a webhook's certificate needs it: making one, and judging one as the apiserver will. Everything is
// PEM. Thread-safe: nothing is shared.
#ifndef WEBHOOK_CERTIFICATE_PAIR_H_
#define WEBHOOK_CERTIFICATE_PAIR_H_

#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "operator/base/error.h"

namespace yad {

struct CertificatePair {
  std::string certificate;  // the leaf, perhaps followed by its chain
  std::string key;          // never to be logged

  bool operator==(const CertificatePair&) const = default;
};

struct IssuedCertificate {
  std::string ca;  // its private key is gone: nobody can make a second leaf that it would vouch for
  CertificatePair pair;
};

struct CertificateTimes {
  WallTime not_before, not_after;
};

// A new CA and a leaf for these DNS names, ECDSA P-256, both valid in [not_before, not_after] (whole seconds).
Result<IssuedCertificate> IssueCertificate(const std::vector<std::string>& names, WallTime not_before,
                                           WallTime not_after);

// Of the first certificate. kConfig: there is none.
Result<CertificateTimes> ReadTimes(const std::string& certificate);

// The DNS names that the first certificate is for; empty where there is none.
std::vector<std::string> ReadNames(const std::string& certificate);

// Whether a client that trusts only `bundle` accepts `certificate` as the server `name`, for every one of `names`, at
// `now`. As in Go, any certificate of the bundle may end the chain, and only subjectAltName counts. kConfig says why
// not.
Status VerifyServer(const std::string& certificate, const std::string& bundle, const std::vector<std::string>& names,
                    WallTime now);

// kConfig: one of them can't be read, or the key is another certificate's.
Status VerifyKey(const CertificatePair& pair);

// The certificates in a PEM text that can be read, one PEM each, encoded alike; other text and repetitions are left
// out.
std::vector<std::string> SplitBundle(const std::string& bundle);

}  // namespace yad

#endif  // WEBHOOK_CERTIFICATE_PAIR_H_
