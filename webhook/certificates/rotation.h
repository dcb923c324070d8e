// Decides when the certificate of a webhook is replaced, by which certificate, and which one is served until then.
// Pure, except for the random keys.
//
// The Secret has `ca.crt` (all CAs that are trusted now), `tls.crt` and `tls.key` (the pair to serve), and during a
// rotation `next.crt` and `next.key`. Each certificate has its own CA with the same validity. Any replica may take a
// step, by compare-and-swap. The contents of the Secret determine the next step:
//
//   tls.crt unusable -> kRestore  if this replica serves a usable pair, which becomes tls.crt again
//                       kPromote  otherwise, if next.crt is usable
//                       kIssue    otherwise: a new pair, which is served immediately
//   2/3 of its life  -> kBegin    issues the next pair, whose CA is then trusted too
//   CA well known    -> kPromote  next becomes the pair to serve; the old CA is trusted until it expires
//
// A CA is well known if both configurations have contained it for the overlap time without a change. In that time,
// every apiserver has observed the CA. Each replica measures the time by its own steady clock, so the Secret does not
// store it and no two clocks must agree. The time starts again if a configuration loses the CA, and after a restart of
// the replica. The last third of a certificate's life, which is more than three overlaps, is long enough for that.
#ifndef WEBHOOK_CERTIFICATES_ROTATION_H_
#define WEBHOOK_CERTIFICATES_ROTATION_H_

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "webhook/certificates/certificate_pair.h"

namespace yad {

inline constexpr char kCaKey[] = "ca.crt";
inline constexpr char kCertificateKey[] = "tls.crt";
inline constexpr char kPrivateKeyKey[] = "tls.key";
inline constexpr char kNextCertificateKey[] = "next.crt";
inline constexpr char kNextPrivateKeyKey[] = "next.key";

// Returns min(1 hour, a tenth of `validity`). A CA is trusted for this time before a replica serves its leaf. Clocks
// may differ by at most this time.
Duration Overlap(Duration validity);

// A pair, and the CAs that make it trusted.
struct TrustedPair {
  CertificatePair pair;
  std::string bundle;

  bool operator==(const TrustedPair&) const = default;
};

struct RotationView {
  StringMap secret;                // the decoded data of the Secret; empty if there is no Secret
  std::vector<std::string> names;  // the names for which a certificate must be valid
  WallTime now;
  Duration validity;                  // of a certificate that is issued now
  std::optional<TrustedPair> served;  // the pair that this replica serves
  // The caBundles in our webhooks of the configurations. Contains "" if a webhook has no caBundle, or if a
  // configuration is missing or has none of our webhooks.
  std::set<std::string> carried;
  // The time for which this replica has observed, without a change, that every bundle in `carried` trusts tls.crt
  // (current) and next.crt (next). nullopt: at least one bundle does not trust the certificate.
  std::optional<Duration> current_trusted_for, next_trusted_for;
};

enum class RotationStep { kNone, kIssue, kRestore, kBegin, kPromote };
std::string_view ToString(RotationStep step);  // "issued", "restored", "begun", "promoted"

struct RotationPlan {
  RotationStep step = RotationStep::kNone;  // the step for the Secret
  // True if this replica must load the Secret's tls.crt and tls.key now. As long as the served pair works and the
  // configurations trust it, the replica keeps serving it until the pair of the Secret is well known. So no call fails,
  // even after a user has changed the Secret.
  bool serve = false;
  // The time of the next check if nothing changes. It is later than now, but never far in the future, because the wall
  // clock may jump.
  WallTime look_again;
};

RotationPlan PlanRotation(const RotationView& view);

// Returns the Secret's data after the step, with only our keys. Keys of other writers are not included.
Result<StringMap> TakeStep(RotationStep step, const RotationView& view);

// Returns the certificates in the bundle that make this leaf trusted.
std::string VouchingFor(const std::string& certificate, const std::string& bundle, WallTime now);

// Checks that `pair` works at `now` for clients that trust `bundle`.
Status CheckPair(const CertificatePair& pair, const std::string& bundle, const std::vector<std::string>& names,
                 WallTime now);

}  // namespace yad

#endif  // WEBHOOK_CERTIFICATES_ROTATION_H_
