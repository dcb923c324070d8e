#include "webhook/certificates/rotation.h"

#include <algorithm>
#include <utility>

namespace yad {
namespace {

using std::chrono::hours;

// The maximum number of CAs that are trusted at the same time. Rotations need two. The limit keeps the configurations
// small if the Secret is deleted repeatedly.
constexpr std::size_t kMaxTrusted = 8;
constexpr Duration kSecond = std::chrono::seconds(1);  // the resolution of a certificate's times
constexpr Duration kNeverSooner = std::chrono::milliseconds(10);

const std::string& At(const StringMap& data, const char* key) {
  static const std::string none;
  const auto found = data.find(key);
  return found == data.end() ? none : found->second;
}

CertificatePair Current(const StringMap& data) { return {At(data, kCertificateKey), At(data, kPrivateKeyKey)}; }
CertificatePair Next(const StringMap& data) { return {At(data, kNextCertificateKey), At(data, kNextPrivateKeyKey)}; }

// Returns whether CheckPair accepts the pair. If this replica serves the pair, skips the check of its key, because this
// check is slow, and was made when the pair was loaded.
bool Usable(const RotationView& view, const CertificatePair& pair) {
  const std::string& bundle = At(view.secret, kCaKey);
  if (view.served && view.served->pair == pair)
    return VerifyServer(pair.certificate, bundle, view.names, view.now).has_value();
  return CheckPair(pair, bundle, view.names, view.now).has_value();
}

bool ServesUsable(const RotationView& view) {
  return view.served &&
         VerifyServer(view.served->pair.certificate, view.served->bundle, view.names, view.now).has_value();
}

CertificateTimes TimesOf(const CertificatePair& pair) {
  return ReadTimes(pair.certificate).value_or(CertificateTimes{});
}

bool ServedIsTrusted(const RotationView& view) {
  return std::all_of(view.carried.begin(), view.carried.end(), [&](const std::string& bundle) {
    return VerifyServer(view.served->pair.certificate, bundle, view.names, view.now).has_value();
  });
}

// Returns a bundle of the certificates in `texts`, without expired certificates. Keeps only the first kMaxTrusted.
std::string Bundle(const std::vector<std::string>& texts, WallTime now) {
  std::vector<std::string> certificates;
  for (const std::string& text : texts) {
    for (std::string& certificate : SplitBundle(text)) {
      const CertificateTimes times = ReadTimes(certificate).value_or(CertificateTimes{});
      if (times.not_after > now && certificates.size() < kMaxTrusted &&
          std::find(certificates.begin(), certificates.end(), certificate) == certificates.end()) {
        certificates.push_back(std::move(certificate));
      }
    }
  }
  std::string bundle;
  for (const std::string& certificate : certificates) bundle += certificate;
  return bundle;
}

// Issues a pair that replaces `replaced`. If `replaced` is valid, the new pair also has the DNS names of `replaced`.
// During an upgrade that renames the Service, two releases share the Secret. If the pair did not have the names of the
// other release, each release would replace the other release's pair forever.
Result<TrustedPair> Issue(const RotationView& view, const CertificatePair& replaced) {
  std::vector<std::string> names = view.names;
  if (CheckPair(replaced, At(view.secret, kCaKey), {}, view.now)) {
    for (std::string& name : ReadNames(replaced.certificate)) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
  }
  return IssueCertificate(names, view.now - Overlap(view.validity), view.now + view.validity);
}

}  // namespace

Duration Overlap(Duration validity) { return std::min<Duration>(hours(1), validity / 10); }

std::string_view ToString(RotationStep step) {
  switch (step) {
    case RotationStep::kNone:
      return "none";
    case RotationStep::kIssue:
      return "issued";
    case RotationStep::kRestore:
      return "restored";
    case RotationStep::kBegin:
      return "begun";
    case RotationStep::kPromote:
      return "promoted";
  }
  return "unknown";
}

Status CheckPair(const CertificatePair& pair, const std::string& bundle, const std::vector<std::string>& names,
                 WallTime now) {
  YAD_TRY_VOID(VerifyKey(pair));
  return VerifyServer(pair.certificate, bundle, names, now);
}

std::string IssuersOf(const std::string& certificate, const std::string& bundle, WallTime now) {
  std::string vouching;
  for (const std::string& ca : SplitBundle(bundle)) {
    if (VerifyServer(certificate, ca, {}, now)) vouching += ca;
  }
  return vouching;
}

RotationPlan PlanRotation(const RotationView& view) {
  RotationPlan plan;
  plan.look_again = view.now + Overlap(view.validity);
  const CertificatePair current = Current(view.secret);
  const bool serves_usable = ServesUsable(view);
  if (!Usable(view, current)) {
    plan.step = serves_usable                     ? RotationStep::kRestore
                : Usable(view, Next(view.secret)) ? RotationStep::kPromote
                                                  : RotationStep::kIssue;
    return plan;
  }

  const CertificateTimes times = TimesOf(current);
  const Duration life = times.not_after - times.not_before;
  const Duration overlap = Overlap(life);
  plan.look_again = view.now + overlap;
  const auto consider = [&](WallTime time) { plan.look_again = std::min(plan.look_again, time); };
  // Returns whether a certificate has been trusted long enough to be served. Usually, this is the overlap time. If the
  // served certificate expires in less than that time (at `end`), it is sufficient that the new certificate is trusted
  // at all.
  const auto well_known = [&](const std::optional<Duration>& trusted_for, WallTime end) {
    if (!trusted_for) return false;  // A change of a configuration causes a new Pass.
    if (*trusted_for >= overlap || view.now >= end - overlap) return true;
    consider(std::min(view.now + (overlap - *trusted_for), end - overlap));
    return false;
  };

  consider(times.not_after + kSecond);
  const WallTime rotate_at = times.not_before + life / 3 * 2;  // life * 2 could overflow
  if (Usable(view, Next(view.secret))) {
    if (well_known(view.next_trusted_for, times.not_after)) plan.step = RotationStep::kPromote;
  } else if (view.now >= rotate_at) {
    plan.step = RotationStep::kBegin;
  } else {
    consider(rotate_at);
  }

  if (!view.served || view.served->pair != current) {
    const WallTime end = view.served ? TimesOf(view.served->pair).not_after : view.now;
    plan.serve = !ServesUsable(view) || !ServedIsTrusted(view) || well_known(view.current_trusted_for, end);
    if (!plan.serve) consider(end + kSecond);
  }
  plan.look_again = std::max(plan.look_again, view.now + kNeverSooner);
  return plan;
}

Result<StringMap> TakeStep(RotationStep step, const RotationView& view) {
  const CertificatePair current = Current(view.secret);
  CertificatePair next = Next(view.secret);
  const std::string& old_bundle = At(view.secret, kCaKey);
  const auto data = [](const std::string& bundle, const CertificatePair& tls, const CertificatePair& then) {
    StringMap made = {{kCaKey, bundle}, {kCertificateKey, tls.certificate}, {kPrivateKeyKey, tls.key}};
    if (then == CertificatePair{}) return made;
    made[kNextCertificateKey] = then.certificate;
    made[kNextPrivateKeyKey] = then.key;
    return made;
  };
  // All CAs that are trusted now stay trusted, because another replica may still serve one of their leaves.
  std::vector<std::string> trusted = {old_bundle};
  trusted.insert(trusted.end(), view.carried.begin(), view.carried.end());
  const auto and_trusted = [&](std::vector<std::string> first) {
    first.insert(first.end(), trusted.begin(), trusted.end());
    return Bundle(first, view.now);
  };

  switch (step) {
    case RotationStep::kNone:
      break;
    case RotationStep::kIssue: {
      YAD_TRY(const TrustedPair issued, Issue(view, current));
      return data(and_trusted({issued.bundle}), issued.pair, {});
    }
    case RotationStep::kRestore: {
      // Also adds a next pair, so that a rotation to a new key begins. A user may have deleted the Secret because its
      // key was compromised.
      std::string next_ca = IssuersOf(next.certificate, old_bundle, view.now);
      if (!Usable(view, next)) {
        YAD_TRY(TrustedPair issued, Issue(view, next));
        next_ca = std::move(issued.bundle);
        next = std::move(issued.pair);
      }
      return data(and_trusted({view.served->bundle, next_ca}), view.served->pair, next);
    }
    case RotationStep::kBegin: {
      YAD_TRY(const TrustedPair issued, Issue(view, next));
      return data(Bundle({IssuersOf(current.certificate, old_bundle, view.now), issued.bundle, old_bundle}, view.now),
                  current, issued.pair);
    }
    case RotationStep::kPromote:
      return data(Bundle({IssuersOf(next.certificate, old_bundle, view.now),
                          IssuersOf(current.certificate, old_bundle, view.now), old_bundle},
                         view.now),
                  next, {});
  }
  return Fail(Reason::kInternalError, "no step was planned");
}

}  // namespace yad
