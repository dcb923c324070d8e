// Decides when the webhook's certificate is replaced, and which certificate the webhook serves until then. The
// functions have no side effects, but new keys are random.
//
// The Secret has these keys. Each certificate has its own CA with the same validity.
// - `ca.crt`: all CAs that are trusted now
// - `tls.crt` and `tls.key`: the pair to serve
// - `next.crt` and `next.key`: the pair to serve next, only during a rotation
//
// Any replica may perform the next step. The resourceVersion of the Secret ensures that only one replica does. The
// contents of the Secret determine the step:
//
//   tls.crt unusable -> kRestore  if this replica serves a usable pair, which becomes tls.crt again
//                       kPromote  otherwise, if next.crt is usable
//                       kIssue    otherwise: a new pair, which is served immediately
//   2/3 of its life  -> kBegin    issues the next pair, whose CA is then also trusted
//   CA well known    -> kPromote  next becomes the pair to serve; the old CA is trusted until it expires
//
// A CA is well known if both configurations have contained it for the overlap time (see Overlap) without a change. By
// then, every apiserver has read the CA.
// - Each replica measures this time with its own steady clock, so the clocks of replicas need not agree.
// - The measurement starts again if a configuration loses the CA, and after a restart of the replica. There is enough
//   time for this: a rotation begins when a third of the certificate's life remains, which is more than three times the
//   overlap.
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

// Returns one hour, or a tenth of `validity` if that is shorter. It has two uses:
// - The configurations contain a CA for this time before a replica serves the leaf of this CA.
// - A new certificate is valid from this time before its issue, because the clock of an apiserver may be behind.
Duration Overlap(Duration validity);

struct RotationView {
  StringMap secret;                // the decoded data of the Secret; empty if the Secret does not exist
  std::vector<std::string> names;  // the names for which a certificate must be valid
  WallTime now;
  Duration validity;                  // of a certificate that is issued now
  std::optional<TrustedPair> served;  // the pair that this replica serves
  // The different caBundles of the operator's webhooks in both configurations. Contains "" if a webhook has no
  // caBundle, or if a configuration is missing or has no webhook of the operator.
  std::set<std::string> carried;
  // The time for which every bundle in `carried` has verified tls.crt (current) or next.crt (next), as far as this
  // replica has observed. The time starts again when a configuration changes. nullopt if a bundle does not verify the
  // certificate.
  std::optional<Duration> current_trusted_for, next_trusted_for;
};

enum class RotationStep { kNone, kIssue, kRestore, kBegin, kPromote };
std::string_view ToString(RotationStep step);  // "issued", "restored", "begun", "promoted"

struct RotationPlan {
  RotationStep step = RotationStep::kNone;  // the step for the Secret
  // True if this replica must load tls.crt and tls.key of the Secret now, because one of these is true:
  // - All apiservers have had enough time to read the CA of this pair.
  // - The pair that the replica serves is invalid or not trusted.
  bool serve = false;
  // The time of the next check if nothing changes until then. Not later than `overlap` from now, because the wall clock
  // may jump.
  WallTime look_again;
};

RotationPlan PlanRotation(const RotationView& view);

// Returns the Secret's data after the step. The result has only the keys that this header declares. The caller keeps
// other keys of the Secret.
Result<StringMap> TakeStep(RotationStep step, const RotationView& view);

// Returns the CAs in `bundle` that verify this leaf at `now`.
std::string IssuersOf(const std::string& certificate, const std::string& bundle, WallTime now);

// Checks that the key belongs to the certificate, and that VerifyServer accepts the certificate.
Status CheckPair(const CertificatePair& pair, const std::string& bundle, const std::vector<std::string>& names,
                 WallTime now);

}  // namespace yad

#endif  // WEBHOOK_CERTIFICATES_ROTATION_H_
