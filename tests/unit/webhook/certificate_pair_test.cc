#include "webhook/certificates/certificate_pair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/test_pki.h"

namespace yad {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const WallTime kFrom = ParseTime("2026-01-02T03:04:05Z");
const WallTime kTo = ParseTime("2027-01-02T03:04:05Z");
const WallTime kNow = ParseTime("2026-06-01T00:00:00Z");
const std::vector<std::string> kNames = {"web.sys.svc", "web.sys.svc.cluster.local"};

TrustedPair Issued() {
  Result<TrustedPair> issued = IssueCertificate(kNames, kFrom, kTo);
  EXPECT_TRUE(issued.has_value());
  return issued.value_or(TrustedPair{});
}

std::string FaultOf(const std::string& certificate, const std::string& bundle, const std::vector<std::string>& names,
                    WallTime now = kNow) {
  const Status verified = VerifyServer(certificate, bundle, names, now);
  return verified ? "" : verified.error().message;
}

TEST(CertificatePairTest, TrustedCaVerifiesTheLeafForEachOfItsNames) {
  const TrustedPair issued = Issued();
  EXPECT_EQ(FaultOf(issued.pair.certificate, issued.bundle, kNames), "");
  EXPECT_EQ(FaultOf(issued.pair.certificate, issued.bundle, {}), "");
  EXPECT_THAT(ReadNames(issued.pair.certificate), ElementsAre(kNames[0], kNames[1]));
  EXPECT_TRUE(VerifyKey(issued.pair).has_value());
}

TEST(CertificatePairTest, OtherCasDoNotVerifyTheLeaf) {
  const TrustedPair issued = Issued();
  EXPECT_THAT(FaultOf(issued.pair.certificate, Issued().bundle, kNames), HasSubstr("issuer"));
  EXPECT_THAT(FaultOf(issued.pair.certificate, "", kNames), HasSubstr("no CA"));
  EXPECT_THAT(FaultOf(issued.pair.certificate, "no PEM", kNames), HasSubstr("no CA"));
  EXPECT_THAT(FaultOf("", issued.bundle, kNames), HasSubstr("no certificate"));
}

TEST(CertificatePairTest, ALeafIsNotValidForAnotherName) {
  const TrustedPair issued = Issued();
  EXPECT_THAT(FaultOf(issued.pair.certificate, issued.bundle, {kNames[0], "other.sys.svc"}),
              HasSubstr("other.sys.svc"));
  // A name in the subject, and not in the list of alternative names, is ignored.
  const testing::TestCa ca;
  const auto nameless = ca.Issue({"web.sys.svc", ""});
  EXPECT_NE(FaultOf(nameless.cert_pem, ca.cert_pem(), {"web.sys.svc"}, std::chrono::system_clock::now()), "");
  EXPECT_THAT(ReadNames(nameless.cert_pem), IsEmpty());
}

TEST(CertificatePairTest, LeafIsValidIncludingItsFirstAndItsLastSecond) {
  const TrustedPair issued = Issued();
  const Result<CertificateTimes> times = ReadTimes(issued.pair.certificate);
  ASSERT_TRUE(times.has_value());
  EXPECT_EQ(times->not_before, kFrom);
  EXPECT_EQ(times->not_after, kTo);
  EXPECT_EQ(ReadTimes(issued.bundle)->not_after, kTo);
  EXPECT_THAT(FaultOf(issued.pair.certificate, issued.bundle, kNames, kFrom - seconds(1)), HasSubstr("not yet valid"));
  EXPECT_EQ(FaultOf(issued.pair.certificate, issued.bundle, kNames, kFrom + seconds(1)), "");
  EXPECT_EQ(FaultOf(issued.pair.certificate, issued.bundle, kNames, kTo - seconds(1)), "");
  EXPECT_THAT(FaultOf(issued.pair.certificate, issued.bundle, kNames, kTo + seconds(1)), HasSubstr("expired"));
}

TEST(CertificatePairTest, TimesBeyondTheClocksRangeAreItsEnds) {
  const testing::TestCa ca;
  const auto leaf = ca.Issue({.valid_from_days = -100 * 365, .valid_to_days = 500 * 365});
  const Result<CertificateTimes> times = ReadTimes(leaf.cert_pem);
  ASSERT_TRUE(times.has_value());
  EXPECT_EQ(times->not_before, WallTime());
  EXPECT_GT(times->not_after, ParseTime("2262-01-01T00:00:00Z"));
}

TEST(CertificatePairTest, EachLeafIsVerifiedByABundleOfManyCas) {
  std::vector<TrustedPair> issued;
  std::string bundle;
  for (int i = 0; i < 4; ++i) bundle += issued.emplace_back(Issued()).bundle;
  for (const TrustedPair& one : issued) EXPECT_EQ(FaultOf(one.pair.certificate, bundle, kNames), "");
  EXPECT_EQ(SplitBundle(bundle).size(), 4u);
}

TEST(CertificatePairTest, ATrustedLeafIsValidWithoutItsCa) {
  const TrustedPair issued = Issued();
  EXPECT_EQ(FaultOf(issued.pair.certificate, issued.pair.certificate, kNames), "");
}

TEST(CertificatePairTest, KeyOfAnotherCertificateAndInvalidKeyAreReportedDifferently) {
  const TrustedPair issued = Issued();
  const auto why = [&](const std::string& key) { return VerifyKey({issued.pair.certificate, key}).error().message; };
  EXPECT_THAT(why(Issued().pair.key), HasSubstr("does not belong to the certificate"));
  EXPECT_THAT(why(""), HasSubstr("not a PEM private key"));
  EXPECT_THAT(why(issued.bundle), HasSubstr("not a PEM private key"));
  EXPECT_THAT(why(testing::EncryptedKeyPem()), HasSubstr("is encrypted"));
  EXPECT_THAT(VerifyKey({"", issued.pair.key}).error().message, HasSubstr("no certificate"));
  EXPECT_FALSE(ReadTimes(issued.pair.key).has_value());
}

TEST(CertificatePairTest, OnlyWholeCertificatesOfABundleAreKept) {
  const TrustedPair a = Issued();
  const TrustedPair b = Issued();
  std::string broken = Issued().bundle;
  broken.replace(broken.find('\n') + 1, 4, "!!!!");
  std::string cut = Issued().bundle;
  cut.resize(cut.size() / 2);
  const std::string no_certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  EXPECT_THAT(
      SplitBundle("# ours\n" + a.bundle + broken + "text\n" + a.pair.key + a.bundle + no_certificate + b.bundle + cut),
      ElementsAre(a.bundle, b.bundle));
  EXPECT_THAT(SplitBundle(cut), IsEmpty());
  EXPECT_THAT(SplitBundle(std::string(100'000, '-')), IsEmpty());
  EXPECT_THAT(SplitBundle(std::string("\0\0", 2)), IsEmpty());
}

}  // namespace
}  // namespace yad
