// Runs replicas with stale caches, one Secret and two webhook configurations in random order.
//
// The configurations contain a new CA for some time, the overlap, before its certificate is served. An apiserver may
// use a configuration that is outdated by up to the overlap. It must trust each certificate that it receives.
#include "webhook/certificates/certificate_keeper.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/log.h"
#include "operator/client/transport/base64.h"
#include "tests/support/fake_apiserver.h"
#include "tests/support/fake_clock.h"
#include "webhook/certificates/webhook_configuration.h"

namespace yad {
namespace {

using std::chrono::hours;
using testing::FakeCluster;

const ObjectKey kService{"sys", "web"};
const ObjectKey kSecretKey{"sys", "web-cert"};
const ObjectKey kConfigurationKey{"", "web"};
constexpr Duration kValidity = hours(10);
constexpr Duration kOverlap = hours(1);
constexpr Duration kStep = kOverlap / 8;
const std::array<const ResourceType*, 3> kTypes = {&kSecretType, &kMutatingConfigurationType,
                                                   &kValidatingConfigurationType};

// Calls `around` before each request and after it.
class Interruptible : public HttpTransport {
 public:
  Interruptible(std::shared_ptr<HttpTransport> inner, std::function<void()> around)
      : inner_(std::move(inner)), around_(std::move(around)) {}
  Result<HttpResponse> Send(const HttpRequest& request, std::stop_token stop) override {
    around_();
    Result<HttpResponse> answer = inner_->Send(request, std::move(stop));
    around_();
    return answer;
  }
  Result<std::unique_ptr<HttpStream>> Open(const HttpRequest& request, std::stop_token stop) override {
    return inner_->Open(request, std::move(stop));
  }

 private:
  const std::shared_ptr<HttpTransport> inner_;
  const std::function<void()> around_;
};

// A state of the cluster. A pointer is nullptr if its object does not exist.
struct Moment {
  WallTime time;
  std::string version;
  std::array<ObjectPtr, 3> objects;
  std::array<std::vector<WebhookTrust>, 2> trust;  // of both configurations
};

class World {
 public:
  World(std::uint64_t seed, bool strict) : strict_(strict), random_(seed) {
    for (const ResourceType* type : {kTypes[1], kTypes[2]}) {
      cluster_.Create(*type, {{"metadata", {{"name", "web"}}},
                              {"webhooks",
                               {{{"name", "ours.example.org"},
                                 {"clientConfig", {{"service", {{"namespace", "sys"}, {"name", "web"}}}}}}}}});
    }
    Record();
    for (Replica& replica : replicas_) Start(replica);
  }

  // Runs passes until nothing changes and every cache is up to date.
  void Settle() {
    calm_ = true;
    for (int i = 0; i < 20; ++i) {
      clock_.Advance(kStep);
      for (Replica& replica : replicas_) {
        CatchUp(replica, /*fully=*/true);
        Pass(replica);
      }
    }
    calm_ = false;
    installed_ = true;
    Check();
  }

  void Run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) Step();
  }

  void Check() {
    for (Replica& replica : replicas_) {
      const std::string certificate = replica.certificate->loaded().certificate_pem;
      if (replica.paused || replica.thawed || certificate.empty()) continue;
      bool accepted = true;
      for (std::size_t& apiserver : apiservers_) {
        // The apiserver receives a change at the latest one step before the end of the overlap.
        while (apiserver + 1 < history_.size() &&
               (history_[apiserver + 1].time <= clock_.WallNow() - kOverlap + kStep || Chance(8))) {
          ++apiserver;
        }
        for (const std::size_t i : {1u, 2u}) {
          for (const WebhookTrust& trust : history_[apiserver].trust[i - 1]) {
            const std::string& why = WhyRejected(certificate, trust.bundle);
            if (why.empty()) continue;
            accepted = false;
            EXPECT_FALSE(replica.in_service) << "replica " << &replica - replicas_.data() << " is rejected at "
                                             << FormatTime(clock_.WallNow()) << ": " << why;
          }
        }
      }
      if (accepted) replica.in_service = true;
    }
  }

  void CheckSettled() {
    const Json secret = *cluster_.Get(kSecretType, kSecretKey);
    for (Replica& replica : replicas_) {
      EXPECT_EQ(Base64Encode(replica.certificate->loaded().certificate_pem), At(secret, "tls.crt"));
      EXPECT_EQ(replica.keeper->failure(), "");
    }
    for (const ResourceType* type : {kTypes[1], kTypes[2]}) {
      const Json configuration = *cluster_.Get(*type, kConfigurationKey);
      Json wanted = configuration;
      SetTrust(wanted, kService, *Base64Decode(At(secret, "ca.crt")));
      EXPECT_EQ(configuration, wanted);
    }
  }

  const std::vector<std::string>& served() const { return served_; }  // every tls.crt that the Secret has contained

 private:
  struct Replica {
    std::array<std::unique_ptr<Store>, 3> stores;
    std::array<std::size_t, 3> seen{};  // indices of history_
    std::shared_ptr<ServingCertificate> certificate;
    std::unique_ptr<Client> client;
    std::unique_ptr<CertificateKeeper> keeper;
    bool passing = false;
    bool paused = false;
    bool thawed = false;      // the process was paused during the current pass
    bool in_service = false;  // apiservers call it
  };

  bool Chance(unsigned one_in) { return std::uniform_int_distribution<unsigned>(1, one_in)(random_) == 1; }
  std::size_t Between(std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random_);
  }
  static std::string At(const Json& secret, const char* key) { return secret["data"].value(key, ""); }

  void Step() {
    clock_.Advance(kStep);
    for (Replica& replica : replicas_) {
      if (replica.paused) continue;
      CatchUp(replica, /*fully=*/false);
      if (Chance(2)) Pass(replica);
    }
    if (Chance(50)) RestartOne();
    if (!strict_ && Chance(30)) Mangle();
    Check();
  }

  void Record() {
    if (!history_.empty() && history_.back().version == cluster_.resource_version()) return;
    Moment moment{clock_.WallNow(), cluster_.resource_version(), {}, {}};
    for (std::size_t i = 0; i < kTypes.size(); ++i) {
      const auto object = cluster_.Get(*kTypes[i], i == 0 ? kSecretKey : kConfigurationKey);
      if (object) moment.objects[i] = std::make_shared<const StoredObject>(*object, nullptr);
      if (object && i > 0) moment.trust[i - 1] = TrustIn(*object, kService);
    }
    if (moment.objects[0]) {
      const std::string certificate = StringAt(moment.objects[0]->Parse(), {"data", "tls.crt"});
      if (certificate.size() > 100 && (served_.empty() || served_.back() != certificate))
        served_.push_back(certificate);
    }
    history_.push_back(std::move(moment));
  }

  void Start(Replica& replica) {
    replica.keeper.reset();
    replica.certificate = std::make_shared<ServingCertificate>();
    replica.client = std::make_unique<Client>(
        std::make_shared<Interruptible>(cluster_.transport(), [this, &replica] { Interrupt(replica); }),
        ClientOptions{}, clock_);
    std::vector<CachedObject> cached;
    for (std::size_t i = 0; i < kTypes.size(); ++i) {
      replica.stores[i] = std::make_unique<Store>();
      cached.push_back({kTypes[i], i == 0 ? kSecretKey : kConfigurationKey, replica.stores[i].get()});
      replica.seen[i] = history_.size() - 1;
      Show(replica, i);
    }
    replica.keeper = std::make_unique<CertificateKeeper>(*replica.client, cached[0], std::vector{cached[1], cached[2]},
                                                         kService, kValidity, replica.certificate, clock_);
    replica.in_service = false;
    Pass(replica);
    // A Secret that is never edited by hand contains a pair that can be served immediately.
    replica.in_service = strict_ && installed_;
  }

  // Returns why an apiserver with this CA bundle rejects the certificate, or "". The result is cached, because Check
  // needs it many times. It changes only when the certificate expires.
  const std::string& WhyRejected(const std::string& certificate, const std::string& bundle) {
    static const std::string expired = "it has expired";
    const auto [times, first] = times_.try_emplace(certificate);
    if (first) times->second = *ReadTimes(certificate);
    if (clock_.WallNow() > times->second.not_after) return expired;
    const auto [answer, unknown] = rejected_.try_emplace({certificate, bundle});
    if (unknown) {
      const Status verified = VerifyServer(certificate, bundle, {CalledName(kService)}, clock_.WallNow());
      if (!verified) answer->second = verified.error().message;
    }
    return answer->second;
  }

  void Show(Replica& replica, std::size_t i) {
    const Moment& moment = history_[replica.seen[i]];
    std::vector<ObjectPtr> objects;
    if (moment.objects[i]) objects.push_back(moment.objects[i]);
    replica.stores[i]->Replace(std::move(objects), moment.version);
  }

  // Updates each cache to a random later state, or to the newest state. No cache is older than the overlap.
  void CatchUp(Replica& replica, bool fully) {
    for (std::size_t i = 0; i < kTypes.size(); ++i) {
      const std::size_t last = history_.size() - 1;
      std::size_t& seen = replica.seen[i];
      if (seen == last) continue;
      const bool old = history_[seen + 1].time < clock_.WallNow() - kOverlap;
      if (!fully && !old && !Chance(3)) continue;
      seen = fully || old ? last : Between(seen, last);
      Show(replica, i);
    }
  }

  void Pass(Replica& replica) {
    if (replica.passing || replica.paused) return;
    replica.passing = true;
    bool done = false;
    // A pass is repeated if it failed or if the process was paused during it.
    for (int i = 0; i < 10 && !done; ++i) done = replica.keeper->Pass({}) && !std::exchange(replica.thawed, false);
    replica.passing = false;
    Record();
  }

  void RestartOne() {
    Replica& replica = replicas_[Between(0, replicas_.size() - 1)];
    if (replica.passing || replica.paused) return;
    for (const Replica& other : replicas_) {
      if (&other != &replica && (!other.in_service || other.paused)) return;
    }
    Start(replica);
  }

  // Lets time pass and other replicas run during a request of this replica.
  void Interrupt(Replica& replica) {
    Record();
    if (calm_) return;
    if (Chance(4)) clock_.Advance(kStep / 8);
    if (Chance(3)) {
      Replica& other = replicas_[Between(0, replicas_.size() - 1)];
      CatchUp(other, /*fully=*/false);
      Pass(other);
    }
    if (!strict_ && Chance(60)) Mangle();
    const auto busy = [&](const Replica& one) { return &one != &replica && one.passing; };
    if (!replica.thawed && Chance(60) && std::none_of(replicas_.begin(), replicas_.end(), busy)) {
      // The process is paused here, sometimes for longer than the validity of a certificate.
      replica.paused = true;
      const std::size_t steps = Between(1, Chance(4) ? 100 : 15);
      for (std::size_t i = 0; i < steps && !::testing::Test::HasFailure(); ++i) Step();
      replica.paused = false;
      replica.thawed = true;
    }
    Check();
  }

  void Mangle() {
    // The Secret is changed only if a running replica still has the pair and can restore it.
    const auto serves = [](const Replica& one) { return one.in_service && !one.paused; };
    if (calm_ || std::none_of(replicas_.begin(), replicas_.end(), serves)) return;
    // The Secret is changed only sometimes, because it takes time until all apiservers trust the CA of a new pair.
    if (clock_.WallNow() < mangled_ + 5 * kOverlap) return;
    mangled_ = clock_.WallNow();
    if (Chance(3)) {
      cluster_.Delete(kSecretType, kSecretKey);
    } else {
      static constexpr const char* kKeys[] = {"ca.crt", "tls.crt", "tls.key", "next.crt", "next.key"};
      const char* key = kKeys[Between(0, 4)];
      const bool erase = Chance(2);
      cluster_.Edit(kSecretType, kSecretKey, [&](Json& secret) {
        if (erase) {
          secret["data"].erase(key);
        } else {
          secret["data"][key] = "Z2FyYmFnZQ==";
        }
      });
    }
    Record();
  }

  const bool strict_;  // the Secret is never edited by hand
  std::mt19937_64 random_;
  FakeClock clock_;
  FakeCluster cluster_;
  std::vector<Moment> history_;
  std::vector<std::string> served_;
  std::map<std::string, CertificateTimes> times_;
  std::map<std::pair<std::string, std::string>, std::string> rejected_;  // (certificate, bundle) -> reason
  std::array<Replica, 3> replicas_;
  std::array<std::size_t, 2> apiservers_{};
  WallTime mangled_{};
  bool calm_ = true;
  bool installed_ = false;
};

class CertificateKeeperTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { log::Configure(log::Level::kError, log::Format::kText); }
  void TearDown() override { log::Configure(log::Level::kInfo, log::Format::kText); }
};

INSTANTIATE_TEST_SUITE_P(Seed, CertificateKeeperTest, ::testing::Range(1, 3));

TEST_P(CertificateKeeperTest, NoCallFailsInAnyOrderOfSteps) {
  World world(static_cast<std::uint64_t>(GetParam()), /*strict=*/true);
  world.Settle();
  world.Run(120);
  world.Settle();
  world.CheckSettled();
  EXPECT_GE(world.served().size(), 3u);
}

TEST_P(CertificateKeeperTest, NoCallFailsWhenTheSecretIsDeletedOrInvalid) {
  World world(static_cast<std::uint64_t>(100 + GetParam()), /*strict=*/false);
  world.Settle();
  world.Run(120);
  world.Settle();
  world.CheckSettled();
  EXPECT_GE(world.served().size(), 3u);
}

}  // namespace
}  // namespace yad
