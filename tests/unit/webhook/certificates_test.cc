#include "webhook/certificates/certificates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "operator/base/metrics.h"
#include "operator/client/transport/base64.h"
#include "tests/support/fake_apiserver.h"
#include "tests/support/fake_clock.h"
#include "webhook/certificates/certificate_keeper.h"
#include "webhook/certificates/webhook_configuration.h"

namespace yad {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::FakeCluster;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::StatusResponse;
using testing::WriteRecord;

const ObjectKey kServiceName{"sys", "web"};
const ObjectKey kSecretOfTheService{"sys", "web-cert"};
const ObjectKey kConfigurationOfTheService{"", "web"};
constexpr Duration kValidFor = hours(10 * 24);
const ResourceType* const kBoth[] = {&kMutatingConfigurationType, &kValidatingConfigurationType};

Json Webhook(const std::string& name, const std::string& service) {
  return {{"name", name}, {"clientConfig", {{"service", {{"namespace", "sys"}, {"name", service}}}}}};
}

// One process: a Manager that runs on its own thread.
class Process {
 public:
  Process(FakeCluster& cluster, FakeClock& clock)
      : client_(cluster.transport(), {}, clock), manager_(client_, {}, clock) {
    CertificateOptions options;
    options.secret = kSecretOfTheService;
    options.service = kServiceName;
    options.configuration = "web";
    options.validity = kValidFor;
    AddCertificates(manager_, client_, options, certificate_, clock);
    thread_ = std::jthread([this](const std::stop_token& stop) { manager_.Run(stop); });
  }
  std::string NotReady() const { return manager_.NotReady(); }
  std::string served() const { return certificate_->loaded().certificate_pem; }

 private:
  const std::shared_ptr<ServingCertificate> certificate_ = std::make_shared<ServingCertificate>();
  Client client_;
  Manager manager_;
  std::jthread thread_;
};

class CertificatesTest : public ::testing::Test {
 protected:
  void CreateConfigurations() {
    for (const ResourceType* type : kBoth) {
      cluster_.Create(*type, {{"metadata", {{"name", "web"}}}, {"webhooks", {Webhook("ours.example.org", "web")}}});
    }
  }
  Process& Start() { return *processes_.emplace_back(std::make_unique<Process>(cluster_, clock_)); }

  // Blocks until `condition` is true. Advances the clock only for short waits: for caches, and between two attempts.
  void Until(const std::function<bool()>& condition) {
    while (!condition()) {
      const std::optional<Duration> next = clock_.NextDeadline();
      if (next && *next <= seconds(60)) clock_.Advance(*next);
      std::this_thread::yield();
    }
  }
  void UntilReady(Process& process) {
    Until([&] { return process.NotReady().empty(); });
  }
  // Repeatedly advances the clock to the next deadline, until `condition` is true.
  void PassTime(const std::function<bool()>& condition) {
    while (!condition()) {
      const std::optional<Duration> next = clock_.NextDeadline();
      if (next) clock_.Advance(*next);
      std::this_thread::yield();
    }
  }
  // Returns the decoded value of the Secret's key, or "".
  std::string Data(const std::string& key) const {
    const auto secret = cluster_.Get(kSecretType, kSecretOfTheService);
    return secret ? Base64Decode(StringAt(*secret, {"data", key})).value_or("") : "";
  }
  std::set<std::string> Bundles() const {
    std::set<std::string> bundles;
    for (const ResourceType* type : kBoth) {
      const auto configuration = cluster_.Get(*type, kConfigurationOfTheService);
      if (!configuration) return {""};
      for (const WebhookTrust& trust : TrustIn(*configuration, kServiceName)) bundles.insert(trust.bundle);
    }
    return bundles;
  }
  bool Carried() const { return Bundles() == std::set<std::string>{Data("ca.crt")}; }

  FakeClock clock_;
  FakeCluster cluster_;
  std::vector<std::unique_ptr<Process>> processes_;
};

TEST_F(CertificatesTest, SecretIsCreatedOnAnEmptyClusterAndBothConfigurationsTrustIt) {
  CreateConfigurations();
  Process& process = Start();
  UntilReady(process);
  EXPECT_EQ(process.served(), Data("tls.crt"));
  EXPECT_TRUE(Carried());
  EXPECT_EQ(cluster_.Get(kSecretType, kSecretOfTheService)->at("type"), "Opaque");
  EXPECT_EQ(cluster_.writes().size(), 3u);
  for (const char* name : {"web.sys.svc", "web.sys.svc.cluster.local", "web.sys"}) {
    EXPECT_TRUE(VerifyServer(process.served(), Data("ca.crt"), {name}, clock_.WallNow()).has_value()) << name;
  }
  EXPECT_THAT(metrics::Render(), HasSubstr("yurtappdaemon_webhook_certificate_expiry_timestamp_seconds"));
}

TEST_F(CertificatesTest, EmptySecretOfAnInstallationIsFilledAndKeepsItsOtherKeys) {
  CreateConfigurations();
  cluster_.Create(kSecretType,
                  {{"metadata", {{"name", "web-cert"}, {"namespace", "sys"}, {"labels", {{"release", "x"}}}}},
                   {"data", {{"theirs", "eA=="}}},
                   {"type", "Opaque"}});
  UntilReady(Start());
  const Json secret = *cluster_.Get(kSecretType, kSecretOfTheService);
  EXPECT_EQ(StringAt(secret, {"data", "theirs"}), "eA==");
  EXPECT_EQ(StringAt(secret, {"metadata", "labels", "release"}), "x");
}

TEST_F(CertificatesTest, SeveralReplicasThatStartTogetherServeTheSamePair) {
  CreateConfigurations();
  for (int i = 0; i < 3; ++i) Start();
  for (const auto& process : processes_) UntilReady(*process);
  for (const auto& process : processes_) EXPECT_EQ(process->served(), Data("tls.crt"));
  EXPECT_TRUE(Carried());
}

TEST_F(CertificatesTest, ReplicasReadAndWriteNothingWhileNothingChanges) {
  CreateConfigurations();
  Process& process = Start();
  UntilReady(process);
  Start();
  UntilReady(*processes_.back());
  Until([&] { return clock_.NextDeadline() > seconds(60); });
  cluster_.transport()->ClearRequests();
  const WallTime until = clock_.WallNow() + hours(24 * 5);
  PassTime([&] { return clock_.WallNow() > until; });
  EXPECT_THAT(cluster_.transport()->requests(), IsEmpty());
}

TEST_F(CertificatesTest, EveryReplicaServesTheNewPairAfterARotation) {
  CreateConfigurations();
  for (int i = 0; i < 2; ++i) UntilReady(Start());
  const std::string first = Data("tls.crt");
  PassTime([&] { return !Data("next.crt").empty(); });
  const std::string next = Data("next.crt");
  EXPECT_GE(clock_.WallNow(), ReadTimes(first)->not_before + (kValidFor + hours(1)) * 2 / 3);
  Until([&] { return Carried(); });
  const WallTime carried = clock_.WallNow();
  EXPECT_EQ(Data("tls.crt"), first);
  PassTime([&] { return Data("tls.crt") == next; });
  EXPECT_GE(clock_.WallNow(), carried + hours(1));
  for (const auto& process : processes_) {
    // Each process measures separately how long the pair has been trusted.
    PassTime([&] { return process->served() == next; });
    EXPECT_EQ(process->NotReady(), "");
  }
}

TEST_F(CertificatesTest, OverwrittenOrDeletedCertificatesAreRestored) {
  CreateConfigurations();
  Process& process = Start();
  UntilReady(process);
  const std::string certificate = Data("tls.crt");
  cluster_.Edit(kMutatingConfigurationType, kConfigurationOfTheService,
                [](Json& object) { object["webhooks"][0]["clientConfig"].erase("caBundle"); });
  Until([&] { return Carried(); });
  cluster_.Edit(kValidatingConfigurationType, kConfigurationOfTheService,
                [](Json& object) { object["webhooks"][0]["clientConfig"]["caBundle"] = "eA=="; });
  Until([&] { return Carried(); });
  cluster_.Delete(kSecretType, kSecretOfTheService);
  Until([&] { return Data("tls.crt") == certificate; });
  Until([&] { return Carried(); });
  EXPECT_EQ(process.served(), certificate);
}

TEST_F(CertificatesTest, ConfigurationsThatAreCreatedLaterGetTheCa) {
  Process& process = Start();
  Until([&] { return process.NotReady().find("informer") == std::string::npos; });
  EXPECT_THAT(process.NotReady(), HasSubstr("no certificate is loaded yet"));
  EXPECT_THAT(process.NotReady(), HasSubstr("MutatingWebhookConfiguration \"web\" does not exist"));
  EXPECT_THAT(process.NotReady(), HasSubstr("ValidatingWebhookConfiguration \"web\" does not exist"));
  CreateConfigurations();
  UntilReady(process);
  for (const ResourceType* type : kBoth) cluster_.Delete(*type, kConfigurationOfTheService);
  Until([&] { return !process.NotReady().empty(); });
  CreateConfigurations();
  UntilReady(process);
  EXPECT_TRUE(Carried());
}

TEST_F(CertificatesTest, SecretIsNotRecreatedAfterAnUninstallation) {
  CreateConfigurations();
  Process& process = Start();
  UntilReady(process);
  for (const ResourceType* type : kBoth) cluster_.Delete(*type, kConfigurationOfTheService);
  cluster_.Delete(kSecretType, kSecretOfTheService);
  const WallTime until = clock_.WallNow() + hours(24);
  PassTime([&] { return clock_.WallNow() > until; });
  EXPECT_FALSE(cluster_.Get(kSecretType, kSecretOfTheService).has_value());
  EXPECT_NE(process.served(), "");
}

TEST_F(CertificatesTest, ForeignObjectsAreNeitherReadNorWritten) {
  CreateConfigurations();
  for (const ResourceType* type : kBoth) {
    cluster_.Create(*type, {{"metadata", {{"name", "foreign"}}}, {"webhooks", {Webhook("a.example.org", "web")}}});
    cluster_.Edit(*type, kConfigurationOfTheService,
                  [](Json& object) { object["webhooks"].push_back(Webhook("b.example.org", "other")); });
  }
  cluster_.Create(kSecretType, {{"metadata", {{"name", "foreign"}, {"namespace", "sys"}}}});
  UntilReady(Start());
  for (const ResourceType* type : kBoth) {
    const Json foreign = *cluster_.Get(*type, {"", "foreign"});
    EXPECT_FALSE(foreign["webhooks"][0]["clientConfig"].contains("caBundle"));
    const Json ours = *cluster_.Get(*type, kConfigurationOfTheService);
    EXPECT_FALSE(ours["webhooks"][1]["clientConfig"].contains("caBundle"));
  }
  for (const HttpRequest& request : cluster_.transport()->requests()) {
    EXPECT_THAT(request.path, Not(HasSubstr("foreign")));
    const bool collection = testing::PathOf(request).ends_with("s");
    if (collection && request.method == "GET") {
      EXPECT_THAT(testing::QueryOf(request, "fieldSelector"), HasSubstr("metadata.name=web"));
    }
  }
}

TEST_F(CertificatesTest, ReadinessNamesForbiddenWritesAndRecovers) {
  CreateConfigurations();
  std::atomic<bool> forbidden = true;
  cluster_.SetFaults([&](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
    if (!forbidden || request.method != "PUT" || request.resource != "validatingwebhookconfigurations")
      return std::nullopt;
    return FakeCluster::Fault{StatusResponse(403, "Forbidden", "you may not update it")};
  });
  Process& process = Start();
  Until([&] { return process.NotReady().find("may not") != std::string::npos; });
  EXPECT_THAT(process.NotReady(), HasSubstr("the caBundle of webhook ours.example.org in "
                                            "ValidatingWebhookConfiguration \"web\" does not verify the "
                                            "certificate that is served: no CA is trusted"));
  EXPECT_THAT(process.NotReady(), Not(HasSubstr("MutatingWebhookConfiguration \"web\" does")));
  // The write is retried with backoff.
  const WallTime begin = clock_.WallNow();
  cluster_.ClearWrites();
  PassTime([&] { return clock_.WallNow() > begin + hours(1); });
  EXPECT_GT(cluster_.writes().size(), 50u);
  EXPECT_LT(cluster_.writes().size(), 150u);
  forbidden = false;
  UntilReady(process);
}

TEST_F(CertificatesTest, RevertedWritesAreRetriedWithBackoff) {
  CreateConfigurations();
  Process& process = Start();
  UntilReady(process);
  cluster_.SetMutation([](const ResourceType& type, const Json&, Json& object) {
    if (type.resource == kMutatingConfigurationType.resource) object["webhooks"][0]["clientConfig"].erase("caBundle");
  });
  cluster_.Edit(kMutatingConfigurationType, kConfigurationOfTheService,
                [](Json& object) { object["webhooks"][0]["clientConfig"].erase("caBundle"); });
  Until([&] { return !process.NotReady().empty(); });
  const WallTime begin = clock_.WallNow();
  cluster_.ClearWrites();
  PassTime([&] { return clock_.WallNow() > begin + hours(1); });
  EXPECT_LT(cluster_.writes().size(), 150u);
}

TEST_F(CertificatesTest, NewPairIsServedAfterAllCertificatesExpired) {
  CreateConfigurations();
  UntilReady(Start());
  processes_.clear();
  const std::string old = Data("tls.crt");
  clock_.Advance(kValidFor * 2);
  Process& process = Start();
  UntilReady(process);
  EXPECT_NE(process.served(), old);
  EXPECT_TRUE(Carried());
}

TEST_F(CertificatesTest, PairIsReplacedAfterTheClockJumpsPastItsExpiry) {
  CreateConfigurations();
  Process& process = Start();
  UntilReady(process);
  const std::string old = Data("tls.crt");
  clock_.SetWall(clock_.WallNow() + kValidFor * 2);
  PassTime([&] { return Data("tls.crt") != old; });
  UntilReady(process);
  EXPECT_NE(process.served(), old);
}

}  // namespace
}  // namespace yad
