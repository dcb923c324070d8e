// Decides when the certificate of a webhook is replaced, by which one, and which one is served meanwhile. Pure, except
// for the random keys.
//
// The Secret holds `ca.crt` (every CA that is trusted now), `tls.crt` and `tls.key` (the pair to serve), and during a
// rotation `next.crt` and `next.key`. Each certificate has its own CA with the same validity. Any replica may take a
// step, by compare-and-swap. The next step follows from the contents of the Secret:
//
//   tls.crt unusable -> kRestore  if this replica serves a usable pair, which becomes tls.crt again
//                       kPromote  otherwise, if next.crt is usable
//                       kIssue    otherwise: a new pair, to be served at once
//   2/3 of its life  -> kBegin    issues the next pair, and its CA is trusted too
//   CA well known    -> kPromote  next becomes the pair to serve; the old CA stays trusted until it expires
//
// A CA is well known if both configurations have carried it for the overlap time without a change. In that time every
// apiserver has observed the CA. Each replica measures the time by its own steady clock: the Secret need not store it,
// no two clocks must agree, and it starts over for a configuration that lost the CA meanwhile. It also starts over
// after a restart. The last third of a certificate's life is long enough for that: more than three overlaps.
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

// Returns min(1 hour, a tenth of `validity`): the time for which a CA is trusted before a replica serves a leaf of it,
// and the tolerance for differences between clocks.
Duration Overlap(Duration validity);

// A pair, and the CAs that vouch for it.
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
  // The caBundles in our webhooks of the configurations. It contains "" if a webhook has none, or if a configuration is
  // missing or has no webhook of ours.
  std::set<std::string> carried;
  // How long this replica has observed `carried` vouch for tls.crt and next.crt, unchanged. nullopt if it does not.
  std::optional<Duration> current_trusted_for, next_trusted_for;
};

enum class RotationStep { kNone, kIssue, kRestore, kBegin, kPromote };
std::string_view ToString(RotationStep step);  // "issued", "restored", "begun", "promoted"

struct RotationPlan {
  RotationStep step = RotationStep::kNone;  // the step for the Secret
  // True if this replica must load the Secret's tls.crt and tls.key now. A replica keeps serving a pair that still
  // works and that the configurations trust until the pair of the Secret is well known. No call fails, whatever a user
  // did to the Secret.
  bool serve = false;
  // The time of the next check if nothing changes. It is later than now, but never far away, because the wall clock may
  // jump.
  WallTime look_again;
};

RotationPlan PlanRotation(const RotationView& view);

// Returns the Secret's data after the step: all of our keys that it then has. Keys of other writers are not included.
Result<StringMap> TakeStep(RotationStep step, const RotationView& view);

// Returns the certificates of the bundle that vouch for this leaf.
std::string VouchingFor(const std::string& certificate, const std::string& bundle, WallTime now);

// Checks that `pair` works at `now` for clients that trust `bundle`.
Status CheckPair(const CertificatePair& pair, const std::string& bundle, const std::vector<std::string>& names,
                 WallTime now);

}  // namespace yad

#endif  // WEBHOOK_CERTIFICATES_ROTATION_H_
