#include "tests/support/webhook_setup.h"

#include <filesystem>

#include "operator/api/well_known.h"
#include "operator/client/transport/base64.h"
#include "tests/support/eventually.h"
#include "tests/support/process.h"

namespace yad::testing {

WebhookSetup::WebhookSetup(const Kube& kube, const std::string& dir)
    : kube_(kube), name_("webhook-" + kube.ns()), dir_(dir + "/" + name_), port_(FreePort()), ca_("webhook-ca") {
  std::filesystem::create_directories(dir_);
  const CertificateAndKey leaf = ca_.Issue();
  WriteFile(dir_ + "/tls.crt", leaf.cert_pem);
  WriteFile(dir_ + "/tls.key", leaf.key_pem);
}

WebhookSetup::~WebhookSetup() {
  if (installed_) Uninstall();
}

std::vector<std::string> WebhookSetup::flags() const {
  return {"--webhook-port=" + std::to_string(port_), "--webhook-cert-dir=" + dir_};
}

void WebhookSetup::Install() {
  const auto configuration = [&](const std::string& verb) -> Json {
    Json webhook = {{"name", verb + ".apps.v1alpha1.yurtappdaemon.openyurt.io"},
                    {"admissionReviewVersions", {"v1"}},
                    {"sideEffects", "None"},
                    {"failurePolicy", "Fail"},
                    {"timeoutSeconds", 10},
                    {"clientConfig",
                     {{"url", "https://127.0.0.1:" + std::to_string(port_) + "/" + verb +
                                  "-apps-openyurt-io-v1alpha1-yurtappdaemon"},
                      {"caBundle", Base64Encode(ca_.cert_pem())}}},
                    {"namespaceSelector", {{"matchLabels", {{"kubernetes.io/metadata.name", kube_.ns()}}}}},
                    {"objectSelector",
                     {{"matchExpressions", Json::array({{{"key", kUncheckedLabel}, {"operator", "DoesNotExist"}}})}}},
                    {"rules", Json::array({{{"apiGroups", {"apps.openyurt.io"}},
                                            {"apiVersions", {"v1alpha1"}},
                                            {"operations", {"CREATE", "UPDATE"}},
                                            {"resources", {"yurtappdaemons"}},
                                            {"scope", "Namespaced"}}})}};
    return {{"metadata", {{"name", name_}}}, {"webhooks", Json::array({webhook})}};
  };
  kube_.Create(kMutatingWebhookConfigurationType, configuration("mutate"));
  kube_.Create(kValidatingWebhookConfigurationType, configuration("validate"));
  installed_ = true;

  // The apiserver calls a new webhook only after a delay. Dry runs show when it does: the mutating webhook adds the
  // template's selector, and the validating webhook rejects an empty image.
  Json daemon = {{"apiVersion", kYurtAppDaemonType.ApiVersion()},
                 {"kind", kYurtAppDaemonType.kind},
                 {"metadata", {{"name", "webhook-setup"}, {"namespace", kube_.ns()}}},
                 {"spec", Json::parse(R"({
    "selector": {"matchLabels": {"a": "b"}}, "nodepoolSelector": {},
    "workloadTemplate": {"deploymentTemplate": {"metadata": {"labels": {"a": "b"}}, "spec": {"template": {
      "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}}}})")}};
  WriteOptions dry_run;
  dry_run.dry_run = true;
  Eventually("the apiserver calls the mutating webhook", [&]() -> std::string {
    const Result<Json> result = kube_.client().Create(kYurtAppDaemonType, daemon, dry_run);
    if (!result.has_value()) return result.error().ToString();
    return At(*result, "/spec/workloadTemplate/deploymentTemplate/spec/selector").is_null() ? "it does not default"
                                                                                            : "";
  });
  daemon["spec"]["workloadTemplate"]["deploymentTemplate"]["spec"]["template"]["spec"]["containers"][0]["image"] = "";
  Eventually("the apiserver calls the validating webhook",
             [&] { return !kube_.client().Create(kYurtAppDaemonType, daemon, dry_run).has_value(); });
}

void WebhookSetup::Uninstall() {
  kube_.Delete(kMutatingWebhookConfigurationType, name_);
  kube_.Delete(kValidatingWebhookConfigurationType, name_);
  installed_ = false;
}

}  // namespace yad::testing
