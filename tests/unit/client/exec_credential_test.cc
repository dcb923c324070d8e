#include "operator/client/auth/exec_credential.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace yad {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kV1 = "client.authentication.k8s.io/v1";

TEST(ExecCredentialTest, TokenAndExpiryAreRead) {
  const auto credential = ParseExecCredential(
      R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",
          "status":{"token":"t","expirationTimestamp":"2026-01-02T03:04:05Z"}})",
      kV1);
  ASSERT_TRUE(credential) << credential.error().ToString();
  EXPECT_EQ(credential->token, "t");
  EXPECT_EQ(credential->expires, ParseTime("2026-01-02T03:04:05Z"));
}

TEST(ExecCredentialTest, CredentialThatExpiresInCenturiesNeverExpires) {
  for (const char* time : {"9999-12-31T23:59:59Z", "2400-02-29T00:00:00+01:00"}) {
    const auto credential =
        ParseExecCredential(std::string(R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)") +
                                R"("status":{"token":"t","expirationTimestamp":")" + time + "\"}}",
                            kV1);
    ASSERT_TRUE(credential) << credential.error().ToString();
    EXPECT_FALSE(credential->expires) << time;
  }
}

TEST(ExecCredentialTest, CertificateAndKeyAreRead) {
  const auto credential = ParseExecCredential(
      R"({"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential",
          "status":{"clientCertificateData":"C","clientKeyData":"K"}})",
      "client.authentication.k8s.io/v1beta1");
  ASSERT_TRUE(credential) << credential.error().ToString();
  EXPECT_EQ(credential->client_cert_pem, "C");
  EXPECT_EQ(credential->client_key_pem, "K");
  EXPECT_EQ(credential->expires, std::nullopt);
}

TEST(ExecCredentialTest, InvalidOutputIsAnErrorThatDoesNotQuoteIt) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "printed nothing"},
      {"topsecret", "no JSON object"},
      {"[\"topsecret\"]", "no JSON object"},
      {R"({"kind":"Secret","token":"topsecret"})", "kind ExecCredential"},
      {R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","status":{"token":"topsecret"}})",
       "must print apiVersion client.authentication.k8s.io/v1, and printed client.authentication.k8s.io/v1beta1"},
      {R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"})", "neither"},
      {R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":5}})", "neither"},
      {R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"topsecret\nx"}})",
       "line break"},
      {R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"clientKeyData":"topsecret"}})",
       "only one of"},
      {R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",
           "status":{"token":"topsecret","expirationTimestamp":"soon"}})",
       "expirationTimestamp"},
      {R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",
           "status":{"token":"topsecret","expirationTimestamp":"9999-99-31T23:59:59Z"}})",
       "expirationTimestamp"},
  };
  for (const auto& [output, part] : cases) {
    const auto credential = ParseExecCredential(output, kV1);
    ASSERT_FALSE(credential) << output;
    EXPECT_EQ(credential.error().reason, Reason::kConfig);
    EXPECT_THAT(credential.error().message, HasSubstr(part));
    EXPECT_THAT(credential.error().message, Not(HasSubstr("topsecret")));
  }
}

}  // namespace
}  // namespace yad
