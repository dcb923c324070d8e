// Kills the operator after one of the writes that create and later replace the webhook's certificates. Then:
// - The next process continues with the same certificate and key.
// - The Secret and both webhook configurations agree.
// - The apiserver calls the webhook.
//
// YAD_ALL=1 tests a kill after each write, and YAD_CRASH_AT=3 only a kill after the third write.
#include <algorithm>
#include <cstdlib>
#include <set>

#include "operator/client/transport/base64.h"
#include "tests/cluster/gated.h"
#include "tests/cluster/installed_fixture.h"

namespace yad::testing {
namespace {

// The order of the writes. S is the Secret, M the mutating and V the validating configuration.
// - SMV creates the certificates.
// - SMV adds the next certificate.
// - S makes the operator serve it.
//
// A kill must not add or repeat a write.
constexpr char kSequence[] = "SMVSMVS";
constexpr int kMaking = 3;
constexpr int kWrites = 7;

std::set<std::string> Certificates(const std::string& pem) {
  const std::string begin = "-----BEGIN CERTIFICATE-----";
  std::set<std::string> certificates;
  for (auto at = pem.find(begin); at != std::string::npos;) {
    const auto next = pem.find(begin, at + 1);
    certificates.insert(pem.substr(at, next - at));
    at = next;
  }
  return certificates;
}

class CertificateCrashTest : public Gated<InstalledTest> {
 protected:
  OperatorOptions DefaultOptions() override {
    OperatorOptions options = Gated::DefaultOptions();
    std::erase(options.all_flags, "--leader-elect");  // otherwise the next process waits until the lease expires
    // With a short validity, the operator replaces the certificates. The runs that test only their creation keep the
    // usual validity.
    const std::string validity = "--webhook-cert-validity=";
    for (std::string& arg : options.all_flags) {
      if (replacing_ && arg.starts_with(validity)) arg = validity + "30s";
    }
    return options;
  }
  Fault OnRequest(const ProxiedRequest& request) override {
    const bool about_certificates = request.path.find("/secrets") != std::string::npos ||
                                    request.path.find("webhookconfigurations/") != std::string::npos;
    return about_certificates ? Gated::OnRequest(request) : Fault();
  }

  // Returns a value of the Secret, or "" if the Secret does not exist.
  std::string InSecret(const char* key) const {
    const auto secret = own().Find(kSecretType, install().certificate_secret());
    return secret ? Base64Decode(StringAt(*secret, {"data", key})).value_or("") : "";
  }
  std::string Trusted(const ResourceType& type) const { return Base64Decode(Bundle(type)).value_or(""); }
  std::string WhyNotAgreed() const {
    const std::set<std::string> cas = Certificates(InSecret("ca.crt"));
    if (cas.empty()) return "the Secret has no CA";
    for (const ResourceType* type : {&kMutatingType, &kValidatingType}) {
      if (Certificates(Trusted(*type)) != cas) return type->kind + " trusts others than the Secret's";
    }
    int secrets = 0;
    for (const Json& secret : own().List(kSecretType)) secrets += At(secret, "/data").contains("tls.crt");
    return secrets == 1 ? "" : std::to_string(secrets) + " Secrets";
  }
  // Returns why the apiserver did not call the webhook over TLS, or "".
  std::string WhyReviewFailed() const {
    Json wrong = Wrong();
    wrong["metadata"]["namespace"] = ns();
    wrong.update({{"apiVersion", kYurtAppDaemonType.ApiVersion()}, {"kind", kYurtAppDaemonType.kind}});
    WriteOptions options;
    options.dry_run = true;
    const Result<Json> created = kube().client().Create(kYurtAppDaemonType, wrong, options);
    if (created) return "the webhook was not called";
    return created.error().reason == Reason::kInvalid ? "" : created.error().ToString();
  }

  // Returns the letters of the writes, without the operator's first `before` writes.
  std::string Sequence(std::size_t before) const {
    std::string sequence;
    const std::vector<std::string> writes = gate_.writes();
    for (std::size_t i = before; i < writes.size(); ++i) {
      sequence += writes[i].find("/secrets") != std::string::npos    ? 'S'
                  : writes[i].find("/mutating") != std::string::npos ? 'M'
                                                                     : 'V';
    }
    return sequence;
  }

  // Creates the certificates and replaces them once. Kills the process after write number `at` (0: never). Returns the
  // number of writes.
  int Play(int at) {
    own().Delete(kSecretType, install().certificate_secret());
    for (const ResourceType* type : {&kMutatingType, &kValidatingType}) {
      own().Edit(*type, install().name(), [](Json& configuration) {
        for (Json& webhook : configuration["webhooks"]) webhook["clientConfig"].erase("caBundle");
      });
    }
    replacing_ = at == 0 || at > kMaking;
    const std::size_t before = gate_.writes().size();
    gate_.Hold();
    LaunchOperator();
    gate_.Arm(op().pid(), at);
    std::string first;  // tls.crt
    std::set<std::string> trusted;
    Eventually("the operator was killed, or has replaced the first certificate", [&] {
      if (trusted.empty() && WhyNotAgreed().empty()) {
        first = InSecret("tls.crt");
        trusted = Certificates(InSecret("ca.crt"));
      }
      return gate_.killed() || (!first.empty() && InSecret("tls.crt") != first);
    });
    const int count = gate_.Disarm();
    if (at == 0) {
      KillOperator();
      return count;
    }

    EXPECT_TRUE(gate_.killed());
    const std::string served = InSecret("tls.crt");
    const std::string next = InSecret("next.crt");
    EXPECT_EQ(next.empty(), at <= kMaking || at == kWrites);
    for (const ResourceType* type : {&kMutatingType, &kValidatingType}) {
      const std::set<std::string> now = Certificates(Trusted(*type));
      EXPECT_TRUE(std::includes(now.begin(), now.end(), trusted.begin(), trusted.end()))
          << "the caBundle lost a CA of the served certificate";
    }
    StartAgain();
    Eventually("the Secret and the configurations agree", [&] { return WhyNotAgreed(); });
    Eventually("the apiserver calls the webhook", [&] { return WhyReviewFailed(); });
    if (!replacing_) {
      EXPECT_EQ(InSecret("tls.crt"), served) << "the next process made another certificate";
    }
    if (!next.empty()) {
      Eventually("the Secret contains the next certificate", [&] { return InSecret("tls.crt") == next; });
      Eventually("the apiserver still calls the webhook", [&] { return WhyReviewFailed(); });
    }
    KillOperator();
    EXPECT_EQ(Sequence(before).substr(0, replacing_ ? kWrites : std::string::npos),
              std::string(kSequence, replacing_ ? kWrites : kMaking));
    return count;
  }

 private:
  bool replacing_ = false;
};

TEST_F(CertificateCrashTest, RestartAfterAKillAtAnyWriteReachesTheSameState) {
  if (const char* at = std::getenv("YAD_CRASH_AT")) {
    Play(std::atoi(at));
    return;
  }
  if (RunsEverything()) {
    EXPECT_EQ(Play(0), kWrites);
  }
  for (int at = 1; at <= kWrites; ++at) {
    if (!RunsEverything() && at != 1 && at != kMaking + 1) continue;  // only the first write of each phase
    SCOPED_TRACE("YAD_CRASH_AT=" + std::to_string(at));
    Play(at);
  }
}

}  // namespace
}  // namespace yad::testing
