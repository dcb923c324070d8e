#include "webhook/certificates/rotation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/test_pki.h"

namespace yad {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

const WallTime kStart = ParseTime("2026-01-02T03:04:05Z");
constexpr Duration kYear = hours(365 * 24);
const std::vector<std::string> kDnsNames = {"web.sys.svc", "web.sys"};

std::vector<std::string> Keys(const StringMap& data) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : data) keys.push_back(key);
  return keys;
}

class RotationTest : public ::testing::Test {
 protected:
  RotationTest() {
    view_.names = kDnsNames;
    view_.now = kStart;
    view_.validity = kYear;
    view_.carried = {""};
  }

  RotationPlan Plan() const { return PlanRotation(view_); }
  RotationStep Step() const { return Plan().step; }
  // Plans the next step, applies it and returns it.
  RotationStep Take() {
    const RotationStep step = Step();
    if (step != RotationStep::kNone) Put(step);
    return step;
  }
  void Put(RotationStep step) {
    const Result<StringMap> data = TakeStep(step, view_);
    ASSERT_TRUE(data.has_value()) << data.error().ToString();
    view_.secret = *data;
  }
  void Serve() { view_.served = Current(); }
  void Carry() { view_.carried = {view_.secret[kCaKey]}; }
  // Issues a pair. After this, the pair has been served and trusted for longer than the overlap.
  void Settle() {
    ASSERT_EQ(Take(), RotationStep::kIssue);
    Serve();
    Carry();
    view_.current_trusted_for = hours(24);
  }
  TrustedPair Current() {
    const CertificatePair pair{view_.secret[kCertificateKey], view_.secret[kPrivateKeyKey]};
    return {pair, IssuersOf(pair.certificate, view_.secret[kCaKey], view_.now)};
  }
  CertificatePair Next() { return {view_.secret[kNextCertificateKey], view_.secret[kNextPrivateKeyKey]}; }
  bool Trusted(const std::string& certificate, const std::string& bundle) const {
    return VerifyServer(certificate, bundle, kDnsNames, view_.now).has_value();
  }

  RotationView view_;
};

TEST_F(RotationTest, FirstPairIsIssuedAndServedImmediately) {
  EXPECT_EQ(Take(), RotationStep::kIssue);
  EXPECT_THAT(Keys(view_.secret), ElementsAre("ca.crt", "tls.crt", "tls.key"));
  EXPECT_TRUE(CheckPair(Current().pair, view_.secret[kCaKey], kDnsNames, kStart).has_value());
  EXPECT_EQ(Step(), RotationStep::kNone);
  EXPECT_TRUE(Plan().serve);
  Serve();
  EXPECT_FALSE(Plan().serve);
}

TEST_F(RotationTest, ClocksMayDifferByTheOverlap) {
  EXPECT_EQ(Overlap(kYear), hours(1));
  EXPECT_EQ(Overlap(seconds(20)), seconds(2));
  Take();
  const CertificateTimes times = *ReadTimes(view_.secret[kCertificateKey]);
  EXPECT_EQ(times.not_before, kStart - hours(1));
  EXPECT_EQ(times.not_after, kStart + kYear);
}

TEST_F(RotationTest, NextPairIsIssuedAfterTwoThirdsOfTheValidityAndItsCaIsTrusted) {
  Settle();
  const TrustedPair first = Current();
  const WallTime due = kStart - hours(1) + (kYear + hours(1)) * 2 / 3;
  view_.now = due - seconds(1);
  EXPECT_EQ(Step(), RotationStep::kNone);
  EXPECT_EQ(Plan().look_again, due);
  view_.now = due;
  EXPECT_EQ(Take(), RotationStep::kBegin);
  EXPECT_THAT(Keys(view_.secret), ElementsAre("ca.crt", "next.crt", "next.key", "tls.crt", "tls.key"));
  EXPECT_EQ(Current(), first);
  EXPECT_NE(Next().key, first.pair.key);
  EXPECT_THAT(SplitBundle(view_.secret[kCaKey]), SizeIs(2));
  EXPECT_TRUE(Trusted(first.pair.certificate, view_.secret[kCaKey]));
  EXPECT_TRUE(Trusted(Next().certificate, view_.secret[kCaKey]));
  EXPECT_FALSE(Plan().serve);
}

TEST_F(RotationTest, PairThatExpiresAfterTheClocksRangeIsKept) {
  const testing::TestCa ca;
  const testing::CertificateAndKey pair =
      ca.Issue({.alt_names = "DNS:web.sys.svc,DNS:web.sys", .valid_to_days = 300 * 365});
  view_.secret = {{kCaKey, ca.cert_pem()}, {kCertificateKey, pair.cert_pem}, {kPrivateKeyKey, pair.key_pem}};
  view_.now = std::chrono::system_clock::now();
  EXPECT_EQ(Step(), RotationStep::kNone);
  EXPECT_GT(Plan().look_again, view_.now);
}

TEST_F(RotationTest, NextPairIsServedOnceTheConfigurationsHaveHadItsCaForTheOverlap) {
  Settle();
  view_.now = kStart + kYear * 3 / 4;
  ASSERT_EQ(Take(), RotationStep::kBegin);
  const CertificatePair next = Next();
  EXPECT_EQ(Step(), RotationStep::kNone);  // No configuration contains the next CA yet.
  Carry();
  view_.next_trusted_for = minutes(59);
  EXPECT_EQ(Step(), RotationStep::kNone);
  EXPECT_EQ(Plan().look_again, view_.now + minutes(1));
  view_.next_trusted_for = minutes(60);
  ASSERT_EQ(Take(), RotationStep::kPromote);
  EXPECT_THAT(Keys(view_.secret), ElementsAre("ca.crt", "tls.crt", "tls.key"));
  EXPECT_EQ(Current().pair, next);
  EXPECT_THAT(SplitBundle(view_.secret[kCaKey]), SizeIs(2));  // Another replica may still serve the old leaf.
  view_.current_trusted_for = view_.next_trusted_for;
  EXPECT_TRUE(Plan().serve);
  EXPECT_EQ(Step(), RotationStep::kNone);
}

TEST_F(RotationTest, AnExpiredCaIsRemovedFromTheBundle) {
  Settle();
  for (int i = 0; i < 5; ++i) {
    view_.now += kYear * 3 / 4;
    ASSERT_EQ(Take(), RotationStep::kBegin);
    Carry();
    view_.next_trusted_for = hours(2);
    ASSERT_EQ(Take(), RotationStep::kPromote);
    view_.next_trusted_for.reset();
    Serve();
    Carry();
    EXPECT_THAT(SplitBundle(view_.secret[kCaKey]), SizeIs(2));
  }
}

TEST_F(RotationTest, DeletedSecretIsRestoredFromTheServedPairAndThenRotated) {
  Settle();
  const TrustedPair served = *view_.served;
  for (const StringMap& lost : {StringMap{}, StringMap{{kCaKey, "x"}, {kCertificateKey, "y"}, {kPrivateKeyKey, "z"}}}) {
    view_.secret = lost;
    ASSERT_EQ(Take(), RotationStep::kRestore);
    EXPECT_EQ(Current(), served);
    EXPECT_TRUE(CheckPair(Next(), view_.secret[kCaKey], kDnsNames, view_.now).has_value());
    EXPECT_NE(Next().key, served.pair.key);
    EXPECT_EQ(Step(), RotationStep::kNone);
    EXPECT_FALSE(Plan().serve);
  }
}

TEST_F(RotationTest, ServedPairIsRestoredIfAnyPartOfTheSecretIsInvalid) {
  Settle();
  const StringMap good = view_.secret;
  const TrustedPair other = *IssueCertificate(kDnsNames, kStart - hours(1), kStart + hours(1));
  for (const char* key : {kCaKey, kCertificateKey, kPrivateKeyKey}) {
    for (const std::string& text : {std::string(), std::string("garbage"), other.bundle, other.pair.key}) {
      view_.secret = good;
      view_.secret[key] = text;
      EXPECT_EQ(Take(), RotationStep::kRestore) << key;
      EXPECT_EQ(Current(), *view_.served);
    }
  }
}

TEST_F(RotationTest, CasOfTheConfigurationsStayTrustedWhenThePairChanges) {
  Settle();
  const std::string of_another_replica = view_.served->pair.certificate;
  view_.served.reset();  // The process has just started.
  view_.secret.clear();
  ASSERT_EQ(Take(), RotationStep::kIssue);
  EXPECT_THAT(SplitBundle(view_.secret[kCaKey]), SizeIs(2));
  EXPECT_TRUE(Trusted(of_another_replica, view_.secret[kCaKey]));
}

TEST_F(RotationTest, ReplicaServesItsValidPairUntilThePairOfTheSecretIsTrustedLongEnough) {
  Settle();
  const TrustedPair served = *view_.served;
  view_.served.reset();
  view_.secret.clear();
  ASSERT_EQ(Take(),
            RotationStep::kIssue);  // another replica, which does not have this replica's pair, issues a new pair
  view_.served = served;
  view_.current_trusted_for.reset();
  EXPECT_FALSE(Plan().serve);  // The configurations do not contain its CA yet.
  Carry();
  view_.current_trusted_for = minutes(1);
  EXPECT_FALSE(Plan().serve);
  EXPECT_EQ(Plan().look_again, view_.now + minutes(59));
  view_.current_trusted_for = minutes(60);
  EXPECT_TRUE(Plan().serve);
}

TEST_F(RotationTest, PairWithoutATrustedCaIsReplacedImmediately) {
  Settle();
  const TrustedPair served = *view_.served;
  view_.served.reset();
  view_.secret.clear();
  view_.carried = {""};
  ASSERT_EQ(Take(), RotationStep::kIssue);
  view_.served = served;
  view_.current_trusted_for.reset();
  EXPECT_TRUE(Plan().serve);
}

TEST_F(RotationTest, NewPairIsIssuedWhenAllPairsHaveExpired) {
  Settle();
  view_.now = kStart + kYear * 2;
  EXPECT_EQ(Take(), RotationStep::kIssue);
  EXPECT_THAT(SplitBundle(view_.secret[kCaKey]), SizeIs(1));
  EXPECT_TRUE(Plan().serve);
}

TEST_F(RotationTest, ExpiredPairIsReplacedByTheExistingNextPair) {
  Settle();
  view_.now = kStart + kYear - hours(1);
  ASSERT_EQ(Take(), RotationStep::kBegin);
  const CertificatePair next = Next();
  view_.now = kStart + kYear + hours(1);
  ASSERT_EQ(Take(), RotationStep::kPromote);
  EXPECT_EQ(Current().pair, next);
  EXPECT_TRUE(Plan().serve);
}

TEST_F(RotationTest, InvalidNextPairIsReplaced) {
  Settle();
  view_.now = kStart + kYear * 3 / 4;
  ASSERT_EQ(Take(), RotationStep::kBegin);
  view_.next_trusted_for = hours(2);
  view_.secret[kNextPrivateKeyKey] = "garbage";
  const TrustedPair current = Current();
  ASSERT_EQ(Take(), RotationStep::kBegin);
  EXPECT_EQ(Current(), current);
  EXPECT_TRUE(CheckPair(Next(), view_.secret[kCaKey], kDnsNames, view_.now).has_value());
  // An invalid next pair is ignored until the next pair is needed.
  view_.now = kStart;
  view_.secret[kNextPrivateKeyKey] = "garbage";
  EXPECT_EQ(Step(), RotationStep::kNone);
}

TEST_F(RotationTest, PairOfARenamedServiceKeepsTheOldNames) {
  Settle();
  const TrustedPair old_release = *view_.served;
  RotationView renamed = view_;
  renamed.served.reset();
  renamed.names = {"hook.sys.svc"};
  ASSERT_EQ(PlanRotation(renamed).step, RotationStep::kIssue);
  renamed.secret = *TakeStep(RotationStep::kIssue, renamed);
  EXPECT_EQ(PlanRotation(renamed).step, RotationStep::kNone);
  // The old release finds its own names in the new pair, and does not issue another pair.
  view_.secret = renamed.secret;
  view_.current_trusted_for.reset();
  EXPECT_EQ(Step(), RotationStep::kNone);
  EXPECT_FALSE(Plan().serve);
  // The next pair also has all names, whether the old or the new release begins the rotation.
  view_.now = renamed.now = kStart + kYear * 3 / 4;
  view_.secret = *TakeStep(RotationStep::kBegin, view_);
  renamed.secret = view_.secret;
  ASSERT_EQ(PlanRotation(renamed).step, RotationStep::kBegin);
  view_.secret = *TakeStep(RotationStep::kBegin, renamed);
  EXPECT_EQ(Step(), RotationStep::kNone);
}

TEST_F(RotationTest, PairThatIsNotYetValidIsReplacedAfterTheClockIsCorrected) {
  view_.now = kStart + kYear * 4;
  Settle();
  view_.now = kStart;
  EXPECT_EQ(Take(), RotationStep::kIssue);
  EXPECT_EQ(Step(), RotationStep::kNone);
  EXPECT_TRUE(Plan().serve);
}

TEST_F(RotationTest, RotationUsesTheValidityOfTheCertificateAndNotThatOfTheFlag) {
  view_.validity = seconds(60);
  Settle();
  view_.validity = kYear;
  view_.now = kStart + seconds(50);
  ASSERT_EQ(Take(), RotationStep::kBegin);
  Carry();
  view_.next_trusted_for = seconds(7);  // More than a tenth of 66 s: the validity of the old pair counts.
  EXPECT_EQ(Step(), RotationStep::kPromote);
}

TEST_F(RotationTest, EveryPairCountsAsTrustedWithoutConfigurations) {
  view_.carried.clear();
  ASSERT_EQ(Take(), RotationStep::kIssue);
  EXPECT_TRUE(Plan().serve);
  Serve();
  view_.now = kStart + kYear * 3 / 4;
  ASSERT_EQ(Take(), RotationStep::kBegin);
  view_.next_trusted_for = hours(1);
  EXPECT_EQ(Take(), RotationStep::kPromote);
}

TEST_F(RotationTest, RepeatedDeletionsOfTheSecretDoNotGrowTheBundles) {
  Settle();
  for (int i = 0; i < 20; ++i) {
    view_.secret.clear();
    ASSERT_EQ(Take(), RotationStep::kRestore);
    Carry();
    EXPECT_TRUE(Trusted(view_.served->pair.certificate, view_.secret[kCaKey]));
    EXPECT_TRUE(Trusted(Next().certificate, view_.secret[kCaKey]));
  }
  EXPECT_THAT(SplitBundle(view_.secret[kCaKey]), SizeIs(8));
}

TEST_F(RotationTest, NextCheckIsLaterThanNowAndWithinAnHour) {
  Settle();
  for (Duration at{0}; at < kYear + hours(48); at += hours(101)) {
    view_.now = kStart + at;
    const RotationPlan plan = Plan();
    EXPECT_GT(plan.look_again, view_.now);
    EXPECT_LE(plan.look_again, view_.now + hours(1));
  }
}

}  // namespace
}  // namespace yad
