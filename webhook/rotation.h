// When is a webhook's certificate replaced, by what, and which one is served meanwhile? Pure, but for the fresh keys.
//
// The Secret holds `ca.crt` (every CA that is trusted now), `tls.crt` and `tls.key` (the pair to serve), and during a
// rotation `next.crt` and `next.key`. Each certificate has a CA of its own, and its validity. Any replica may take a
// step, by compare-and-swap; the next one follows from what the Secret holds then:
//
//   nothing usable   -> kIssue    a pair to serve at once; where this replica serves a good one, kRestore: that one
//   2/3 of its life  -> kBegin    a next pair is made, and its CA is trusted too
//   CA well known    -> kPromote  next becomes the pair to serve; the old CA stays trusted until it expires
//
// "Well known": both configurations have carried the CA for the overlap time without a change. Each replica measures
// that for itself, on its own steady clock: nothing has to be stored for it, no two clocks must agree, and a
// configuration that lost the CA meanwhile starts anew; a restarted replica too, for which the last third of a life has
// more than three overlaps. In that time every apiserver has heard of the CA.
#ifndef WEBHOOK_ROTATION_H_
#define WEBHOOK_ROTATION_H_

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "webhook/certificate_pair.h"

namespace yad {

inline constexpr char kCaKey[] = "ca.crt";
inline constexpr char kCertificateKey[] = "tls.crt";
inline constexpr char kPrivateKeyKey[] = "tls.key";
inline constexpr char kNextCertificateKey[] = "next.crt";
inline constexpr char kNextPrivateKeyKey[] = "next.key";

// How long a CA is trusted before anybody serves a leaf of it, and how much clocks may differ: min(1 hour, a tenth).
Duration Overlap(Duration validity);

// A pair, and what vouches for it.
struct TrustedPair {
  CertificatePair pair;
  std::string bundle;

  bool operator==(const TrustedPair&) const = default;
};

struct RotationView {
  StringMap secret;                // its data, decoded; empty where there is none
  std::vector<std::string> names;  // that a certificate must be for
  WallTime now;
  Duration validity;                  // of what is made now
  std::optional<TrustedPair> served;  // by this replica
  // The caBundles that the configurations carry in webhooks of ours; "" among them: one has none, or is not there.
  std::set<std::string> carried;
  // Since how long this replica sees `carried` vouch for tls.crt and next.crt, unchanged. nullopt: it does not.
  std::optional<Duration> current_trusted_for, next_trusted_for;
};

enum class RotationStep { kNone, kIssue, kRestore, kBegin, kPromote };
std::string_view ToString(RotationStep step);  // "issued", "restored", "begun", "promoted"

struct RotationPlan {
  RotationStep step = RotationStep::kNone;  // for the Secret
  // The Secret's tls.crt and tls.key are to be served now. A replica that serves a pair which still works stays with it
  // until the Secret's is well known: whatever somebody did to the Secret, no call fails.
  bool serve = false;
  // When to look again if nothing changes; later than now. Never far away: the wall clock may jump.
  WallTime look_again;
};

RotationPlan PlanRotation(const RotationView& view);

// The Secret's data after the step: all of our keys that it has then. Keys of other people are not in it.
Result<StringMap> TakeStep(RotationStep step, const RotationView& view);

// Those certificates of the bundle that vouch for this leaf.
std::string VouchingFor(const std::string& certificate, const std::string& bundle, WallTime now);

// Whether `pair` works at `now` for clients that trust `bundle`.
Status CheckPair(const CertificatePair& pair, const std::string& bundle, const std::vector<std::string>& names,
                 WallTime now);

}  // namespace yad

#endif  // WEBHOOK_ROTATION_H_
