#include "tests/support/mutating_webhook.h"

#include <utility>

#include "operator/client/transport/base64.h"
#include "tests/support/eventually.h"
#include "tests/support/webhook_setup.h"

namespace yad::testing {

MutatingWebhook::MutatingWebhook(const Kube& kube, const ResourceType& type, Mutate mutate)
    : kube_(kube), name_("foreign-webhook-" + kube.ns()), mutate_(std::move(mutate)), ca_("foreign-webhook-ca") {
  TestServerOptions options;
  options.identity = ca_.Issue();
  server_ = std::make_unique<TestServer>(
      options, [this](TestConnection& connection, const TestRequest& request) { Answer(connection, request); });
  const Json webhook = {
      {"name", "mutate.example.org"},
      {"admissionReviewVersions", {"v1"}},
      {"sideEffects", "None"},
      {"failurePolicy", "Fail"},
      {"timeoutSeconds", 10},
      {"clientConfig", {{"url", server_->url() + "/mutate"}, {"caBundle", Base64Encode(ca_.cert_pem())}}},
      {"namespaceSelector", {{"matchLabels", {{"kubernetes.io/metadata.name", kube_.ns()}}}}},
      {"rules", Json::array({{{"apiGroups", {type.group}},
                              {"apiVersions", {type.version}},
                              {"operations", {"CREATE", "UPDATE"}},
                              {"resources", {type.resource}},
                              {"scope", "Namespaced"}}})}};
  kube_.Create(kMutatingWebhookConfigurationType,
               {{"metadata", {{"name", name_}}}, {"webhooks", Json::array({webhook})}});

  // The apiserver calls a new webhook only after a delay.
  const Json labels = {{"app", "asked"}};
  const Json trial = {{"apiVersion", type.ApiVersion()},
                      {"kind", type.kind},
                      {"metadata", {{"name", "asked"}, {"namespace", kube_.ns()}}},
                      {"spec",
                       {{"selector", {{"matchLabels", labels}}},
                        {"template",
                         {{"metadata", {{"labels", labels}}},
                          {"spec", {{"containers", {{{"name", "main"}, {"image", "example.org/app:1"}}}}}}}}}}};
  WriteOptions dry_run;
  dry_run.dry_run = true;
  Eventually("the apiserver calls the webhook", [&]() -> std::string {
    const Result<Json> result = kube_.client().Create(type, trial, dry_run);
    if (!result) return result.error().ToString();
    return asked_ > 0 ? "" : "it does not";
  });
}

MutatingWebhook::~MutatingWebhook() { kube_.Delete(kMutatingWebhookConfigurationType, name_); }

void MutatingWebhook::Answer(TestConnection& connection, const TestRequest& request) {
  ++asked_;
  const Json review = Json::parse(request.body);
  const Json before = review.at("request").at("object");
  Json after = before;
  mutate_(after);
  const Json answer = {{"apiVersion", "admission.k8s.io/v1"},
                       {"kind", "AdmissionReview"},
                       {"response",
                        {{"uid", review.at("request").at("uid")},
                         {"allowed", true},
                         {"patchType", "JSONPatch"},
                         {"patch", Base64Encode(Json::diff(before, after).dump())}}}};
  connection.Answer(200, answer.dump(), "Content-Type: application/json\r\n");
}

}  // namespace yad::testing
