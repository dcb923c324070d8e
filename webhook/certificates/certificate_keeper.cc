#include "webhook/certificates/certificate_keeper.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/base/backoff.h"
#include "operator/base/catch_exceptions.h"
#include "operator/base/log.h"
#include "operator/client/transport/base64.h"
#include "operator/runtime/informer.h"
#include "webhook/certificates/webhook_configuration.h"

namespace yad {
namespace {

// The pause after a failure and after a write. The pause grows while another program keeps reverting the writes.
constexpr BackoffPolicy kRest{std::chrono::milliseconds(100), std::chrono::seconds(30)};
// The maximum number of rounds in one Pass. Each round writes either the Secret or the caBundles. A Pass that creates
// the Secret needs two rounds.
constexpr int kMaxRounds = 2;

}  // namespace

std::string CalledName(const ObjectKey& service) { return service.name + "." + service.ns + ".svc"; }

CertificateKeeper::CertificateKeeper(Client& client, CachedObject secret, std::vector<CachedObject> configurations,
                                     ObjectKey service, Duration validity,
                                     std::shared_ptr<ServingCertificate> certificate, Clock& clock)
    : client_(client),
      secret_(std::move(secret)),
      configurations_(std::move(configurations)),
      service_(std::move(service)),
      names_{CalledName(service_), CalledName(service_) + ".cluster.local", service_.name + "." + service_.ns},
      validity_(validity),
      certificate_(std::move(certificate)),
      clock_(clock),
      rotations_(metrics::GetCounter("yurtappdaemon_webhook_certificate_rotations_total",
                                     "Rotations of the webhook's certificate that this process completed.")) {}

void CertificateKeeper::Wake() {
  std::lock_guard lock(mutex_);
  awake_ = true;
  wake_.notify_all();
}

std::string CertificateKeeper::failure() const {
  return failure_.With([](const std::string& text) { return text; });
}

Status CertificateKeeper::Run(const std::stop_token& stop) {
  while (!Synced()) {
    if (!clock_.Sleep(kSyncPoll, stop)) return {};
  }
  Backoff backoff(kRest);
  Duration rest{0};
  SteadyTime rested = clock_.Now();
  while (!stop.stop_requested()) {
    {
      std::lock_guard lock(mutex_);
      awake_ = false;
    }
    const Result<WallTime> again = CatchExceptions([&] { return Pass(stop); });
    if (stop.stop_requested()) break;
    RecordOutcome(again);
    if (!again || wrote_) {
      if (clock_.Now() - rested > rest) backoff.Reset();  // The last failure or write was long ago.
      rest = backoff.Next();
      if (!again) rest = std::max<Duration>(rest, again.error().retry_after.value_or(std::chrono::milliseconds(0)));
      clock_.Sleep(rest, stop);
      rested = clock_.Now();
    }
    if (again) AwaitWake(*again, stop);
  }
  return {};
}

Result<WallTime> CertificateKeeper::Pass(const std::stop_token& stop) {
  wrote_ = false;
  for (int round = 0; round < kMaxRounds; ++round) {
    YAD_TRY(const Work cached, DecideWork(Cached()));
    if (cached.idle()) return cached.plan.look_again;
    // The caches may lag, so the live objects are read before a write.
    YAD_TRY(const Snapshot live, Read(stop));
    YAD_TRY(const Work work, DecideWork(live));
    if (work.idle()) return work.plan.look_again;  // The caches are out of date; their next event wakes Run.
    if (work.plan.step == RotationStep::kNone) {
      YAD_TRY_VOID(WriteTrust(work, stop));
      break;  // After the pause in Run, another Pass checks that the write was not reverted.
    }
    YAD_TRY_VOID(WriteSecret(live, work, stop));
  }
  return clock_.WallNow();
}

bool CertificateKeeper::Synced() const {
  return secret_.store->synced() && std::all_of(configurations_.begin(), configurations_.end(),
                                                [](const CachedObject& one) { return one.store->synced(); });
}

void CertificateKeeper::AwaitWake(WallTime until, const std::stop_token& stop) {
  const SteadyTime deadline = clock_.Now() + std::max<Duration>(until - clock_.WallNow(), Duration{0});
  std::unique_lock lock(mutex_);
  clock_.WaitUntil(wake_, lock, stop, deadline, [&] { return awake_; });
}

void CertificateKeeper::RecordOutcome(const Result<WallTime>& outcome) {
  // A conflict is not a failure, because another replica has performed the step.
  const bool failed =
      !outcome && outcome.error().reason != Reason::kConflict && outcome.error().reason != Reason::kAlreadyExists;
  const std::string text = failed ? outcome.error().ToString() : "";
  const std::string before = failure_.With([&](std::string& value) { return std::exchange(value, text); });
  if (failed && before != text)
    log::Warn("the webhook's certificates can't be kept valid; trying again", {{"error", outcome.error()}});
}

CertificateKeeper::Snapshot CertificateKeeper::Cached() const {
  const auto parsed = [](const CachedObject& one) -> std::optional<Json> {
    const Result<ObjectPtr> object = one.store->Get(one.key);
    return object ? std::optional<Json>((*object)->Parse()) : std::nullopt;
  };
  Snapshot snapshot;
  snapshot.secret = parsed(secret_);
  for (const CachedObject& one : configurations_) snapshot.configurations.push_back(parsed(one));
  return snapshot;
}

// Reads the Secret, then the configurations, then the Secret again. Fails with kConflict if the Secret has changed
// between the reads, so that a write never removes a CA that another replica has added:
// - A replica adds a new CA to the Secret first, and then to the configurations. So while the Secret is unchanged, the
//   configurations do not contain a CA that is unknown to this replica.
// - If an object changes after this read, its resourceVersion makes the write fail.
Result<CertificateKeeper::Snapshot> CertificateKeeper::Read(const std::stop_token& stop) {
  Snapshot snapshot;
  YAD_TRY(std::optional<Json> before, Read(secret_, stop));
  for (const CachedObject& one : configurations_) {
    YAD_TRY(std::optional<Json> object, Read(one, stop));
    snapshot.configurations.push_back(std::move(object));
  }
  YAD_TRY(std::optional<Json> after, Read(secret_, stop));
  if (before != after) return Fail(Reason::kConflict, "the Secret was changed while it was read");
  snapshot.secret = std::move(after);
  return snapshot;
}

Result<std::optional<Json>> CertificateKeeper::Read(const CachedObject& one, const std::stop_token& stop) {
  Result<Json> object = client_.Get(*one.type, one.key, stop);
  if (!object && object.error().reason == Reason::kNotFound) return std::nullopt;
  if (!object) return Fail(object.error());
  one.store->Observe(std::make_shared<const StoredObject>(*object, nullptr));
  return std::optional<Json>(*std::move(object));
}

// Determines the work that is due in this state. If the plan requires it, also starts to serve the certificate of the
// Secret.
Result<CertificateKeeper::Work> CertificateKeeper::DecideWork(const Snapshot& snapshot) {
  Work work;
  RotationView& view = work.view;
  if (snapshot.secret) {
    for (const auto& [key, text] : StringMapAt(*snapshot.secret, {"data"}))
      view.secret[key] = Base64Decode(text).value_or("");
  }
  view.names = names_;
  view.now = clock_.WallNow();
  view.validity = validity_;
  view.served = served_;
  for (const std::optional<Json>& configuration : snapshot.configurations) {
    const std::vector<WebhookTrust> trust =
        configuration ? TrustIn(*configuration, service_) : std::vector<WebhookTrust>{};
    if (trust.empty()) view.carried.insert("");
    for (const WebhookTrust& one : trust) view.carried.insert(one.bundle);
  }
  MeasureTrust(snapshot, view);
  work.plan = PlanRotation(view);
  // If all configurations are missing, no apiserver calls this webhook. An uninstallation of the chart deletes the
  // configurations first and the Secret last, so this replica must not create the Secret again.
  const auto exists = [](const std::optional<Json>& object) { return object.has_value(); };
  if (!snapshot.secret && !configurations_.empty() &&
      std::none_of(snapshot.configurations.begin(), snapshot.configurations.end(), exists)) {
    work.plan.step = RotationStep::kNone;
  }
  if (work.plan.serve) YAD_TRY_VOID(Serve(view));
  if (work.plan.step != RotationStep::kNone) return work;  // The Secret is written first.
  for (std::size_t i = 0; i < snapshot.configurations.size(); ++i) {
    if (!snapshot.configurations[i]) continue;
    Json copy = *snapshot.configurations[i];
    if (SetTrust(copy, service_, view.secret[kCaKey])) work.trusting.emplace_back(configurations_[i], std::move(copy));
  }
  return work;
}

void CertificateKeeper::MeasureTrust(const Snapshot& snapshot, RotationView& view) {
  // A configuration with a new uid or generation counts as changed, even if its caBundle is the same. The CA may have
  // been removed and added again between two reads.
  std::string generations;
  for (const std::optional<Json>& configuration : snapshot.configurations) {
    if (!configuration) continue;
    generations += StringAt(*configuration, {"metadata", "uid"}) + "/" +
                   std::to_string(IntAt(*configuration, {"metadata", "generation"})) + " ";
  }
  std::map<std::string, Trusted> trusted;
  const auto measure = [&](const char* key) -> std::optional<Duration> {
    const std::string& certificate = view.secret[key];
    for (const std::string& bundle : view.carried) {
      if (!VerifyServer(certificate, bundle, names_, view.now)) return std::nullopt;
    }
    const auto before = trusted_.find(certificate);
    const bool unchanged = before != trusted_.end() && before->second.generations == generations;
    const Trusted& now = trusted[certificate] = unchanged ? before->second : Trusted{generations, clock_.Now()};
    return clock_.Now() - now.since;
  };
  view.current_trusted_for = measure(kCertificateKey);
  view.next_trusted_for = measure(kNextCertificateKey);
  trusted_ = std::move(trusted);
}

Status CertificateKeeper::Serve(RotationView& view) {
  TrustedPair pair{{view.secret[kCertificateKey], view.secret[kPrivateKeyKey]}, ""};
  pair.bundle = IssuersOf(pair.pair.certificate, view.secret[kCaKey], view.now);
  YAD_TRY_VOID(certificate_->Load(pair.pair.certificate, pair.pair.key));
  log::Info("webhook certificate loaded",
            {{"secret", secret_.key.ToString()}, {"notAfter", FormatTime(certificate_->loaded().not_after)}});
  served_ = std::move(pair);
  view.served = served_;
  return {};
}

Status CertificateKeeper::WriteSecret(const Snapshot& live, const Work& work, const std::stop_token& stop) {
  YAD_TRY(const StringMap data, TakeStep(work.plan.step, work.view));
  Json object = live.secret.value_or(Json{{"apiVersion", kSecretType.ApiVersion()},
                                          {"kind", kSecretType.kind},
                                          {"metadata", {{"name", secret_.key.name}, {"namespace", secret_.key.ns}}},
                                          {"type", "Opaque"}});
  Json& stored = object["data"];
  if (!stored.is_object()) stored = Json::object();  // Keys of other writers stay.
  for (const char* key : {kCaKey, kCertificateKey, kPrivateKeyKey, kNextCertificateKey, kNextPrivateKeyKey})
    stored.erase(key);
  for (const auto& [key, text] : data) stored[key] = Base64Encode(text);
  YAD_TRY(Json written,
          live.secret ? client_.Update(kSecretType, object, {}, stop) : client_.Create(kSecretType, object, {}, stop));
  wrote_ = true;
  secret_.store->Observe(std::make_shared<const StoredObject>(written, nullptr));
  log::Info("webhook certificates changed", {{"step", ToString(work.plan.step)}, {"secret", secret_.key.ToString()}});
  if (work.plan.step == RotationStep::kPromote) rotations_.Increment();
  return {};
}

Status CertificateKeeper::WriteTrust(const Work& work, const std::stop_token& stop) {
  Status status;
  for (const auto& [one, object] : work.trusting) {
    Result<Json> written = client_.Update(*one.type, object, {}, stop);
    if (!written) {
      status = Fail(written.error());  // The other configuration is still written.
      continue;
    }
    wrote_ = true;
    one.store->Observe(std::make_shared<const StoredObject>(*written, nullptr));
    log::Info("caBundle written", {{"kind", one.type->kind}, {"name", one.key.name}});
  }
  return status;
}

}  // namespace yad
