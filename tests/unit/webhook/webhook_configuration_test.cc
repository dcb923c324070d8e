#include "webhook/certificates/webhook_configuration.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/client/transport/base64.h"
#include "webhook/certificates/certificate_pair.h"

namespace yad {
namespace {

const ObjectKey kWebhookService{"sys", "web"};

std::string Ca() {
  return IssueCertificate({"web.sys.svc"}, WallTime(std::chrono::hours(1)), WallTime(std::chrono::hours(9)))->bundle;
}

Json Webhook(const std::string& name, const Json& client_config) {
  return {{"name", name}, {"clientConfig", client_config}};
}
Json Calling(const std::string& ns, const std::string& name) {
  return {{"service", {{"namespace", ns}, {"name", name}, {"port", 9443}}}};
}

TEST(WebhookConfigurationTest, OnlyWebhooksThatCallOurServiceAreReadAndWritten) {
  Json configuration = {{"webhooks",
                         {Webhook("a", Calling("sys", "web")), Webhook("b", Calling("sys", "other")),
                          Webhook("c", Calling("other", "web")), Webhook("d", {{"url", "https://web.sys.svc/"}}),
                          Webhook("e", Calling("sys", "web"))}}};
  configuration["webhooks"][1]["clientConfig"]["caBundle"] = Base64Encode("theirs");
  const Json before = configuration;
  const std::string ca = Ca();
  EXPECT_TRUE(SetTrust(configuration, kWebhookService, ca));
  Json expected = before;
  for (const int i : {0, 4}) expected["webhooks"][i]["clientConfig"]["caBundle"] = Base64Encode(ca);
  EXPECT_EQ(configuration, expected);
  const std::vector<WebhookTrust> trust = TrustIn(configuration, kWebhookService);
  ASSERT_EQ(trust.size(), 2u);
  EXPECT_EQ(trust[0].webhook, "a");
  EXPECT_EQ(trust[1].webhook, "e");
  EXPECT_EQ(trust[1].bundle, ca);
  EXPECT_FALSE(SetTrust(configuration, kWebhookService, ca));
}

TEST(WebhookConfigurationTest, AnyBundleOfTheSameCertificatesIsNotRewritten) {
  const std::string a = Ca(), b = Ca();
  Json configuration = {{"webhooks", {Webhook("a", Calling("sys", "web"))}}};
  configuration["webhooks"][0]["clientConfig"]["caBundle"] = Base64Encode("# both\n" + b + a + b);
  EXPECT_FALSE(SetTrust(configuration, kWebhookService, a + b));
  EXPECT_TRUE(SetTrust(configuration, kWebhookService, a));
}

TEST(WebhookConfigurationTest, WrittenBundleContainsEachCertificateOnce) {
  const std::string a = Ca();
  Json configuration = {{"webhooks", {Webhook("a", Calling("sys", "web"))}}};
  EXPECT_TRUE(SetTrust(configuration, kWebhookService,
                       a + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\nbut\n" + a));
  EXPECT_EQ(TrustIn(configuration, kWebhookService)[0].bundle, a);
}

TEST(WebhookConfigurationTest, MissingOrInvalidBundleCountsAsEmpty) {
  for (Json configuration :
       {Json::object(), Json{{"webhooks", "none"}}, Json{{"webhooks", {1, nullptr, Json::object()}}}}) {
    EXPECT_TRUE(TrustIn(configuration, kWebhookService).empty());
    EXPECT_FALSE(SetTrust(configuration, kWebhookService, Ca()));
  }
  Json configuration = {{"webhooks", {Webhook("a", Calling("sys", "web"))}}};
  EXPECT_EQ(TrustIn(configuration, kWebhookService)[0].bundle, "");
  configuration["webhooks"][0]["clientConfig"]["caBundle"] = "%%%";
  EXPECT_EQ(TrustIn(configuration, kWebhookService)[0].bundle, "");
}

}  // namespace
}  // namespace yad
