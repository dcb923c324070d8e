#include "webhook/certificates/certificates.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "webhook/certificates/certificate_keeper.h"
#include "webhook/certificates/certificate_pair.h"
#include "webhook/certificates/webhook_configuration.h"

namespace yad {
namespace {

constexpr Duration kFilesPeriod = std::chrono::seconds(1);

// Returns an informer that lists and watches only this object, because the RBAC rule has resourceNames and allows only
// this.
Informer& InformerOf(Manager& manager, const ResourceType& type, const ObjectKey& key) {
  return manager.InformerFor({.type = type, .ns = key.ns, .field_selector = "metadata.name=" + key.name});
}

// Returns the reason why an apiserver with these configurations can't call the webhook over TLS; "" if it can.
// `certificate` is the certificate that the webhook serves; "" if none is loaded.
std::string Distrust(const std::vector<CachedObject>& configurations, const ObjectKey& service,
                     const std::string& certificate, WallTime now) {
  std::string missing = certificate.empty() ? "no certificate is loaded yet" : "";
  const auto add = [&](const std::string& text) { missing += (missing.empty() ? "" : "; ") + text; };
  for (const CachedObject& one : configurations) {
    const std::string name = one.type->kind + " \"" + one.key.name + "\"";
    const Result<ObjectPtr> object = one.store->Get(one.key);
    if (!object) {
      add(name + (object.error().reason == Reason::kNotFound ? " does not exist" : " has not been read yet"));
      continue;
    }
    const std::vector<WebhookTrust> trust = TrustIn((*object)->Parse(), service);
    if (trust.empty()) add("no webhook in " + name + " calls Service " + service.ToString());
    for (const WebhookTrust& webhook : trust) {
      if (certificate.empty()) continue;
      const Status verified = VerifyServer(certificate, webhook.bundle, {CalledName(service)}, now);
      if (!verified) {
        add("the caBundle of webhook " + webhook.webhook + " in " + name +
            " does not verify the certificate that is served: " + verified.error().message);
      }
    }
  }
  return missing;
}

}  // namespace

void AddCertificates(Manager& manager, Client& client, const CertificateOptions& options,
                     std::shared_ptr<ServingCertificate> certificate, Clock& clock) {
  std::vector<Informer*> informers;
  std::vector<CachedObject> configurations;
  if (!options.configuration.empty()) {
    for (const ResourceType* type : {&kMutatingConfigurationType, &kValidatingConfigurationType}) {
      const ObjectKey key{"", options.configuration};
      informers.push_back(&InformerOf(manager, *type, key));
      configurations.push_back({type, key, &informers.back()->store()});
    }
  }

  std::function<std::string()> failure = [] { return std::string(); };
  if (!options.directory.empty()) {
    manager.AddServer("webhook certificate files",
                      [directory = options.directory, certificate, &clock](std::stop_token stop) {
                        return FollowCertificateFiles(directory, *certificate, std::move(stop), kFilesPeriod, clock);
                      });
  } else {
    informers.push_back(&InformerOf(manager, kSecretType, options.secret));
    const CachedObject secret{&kSecretType, options.secret, &informers.back()->store()};
    const auto keeper = std::make_shared<CertificateKeeper>(client, secret, configurations, options.service,
                                                            options.validity, certificate, clock);
    for (Informer* informer : informers) informer->AddHandler([keeper](const Event&) { keeper->Wake(); });
    manager.AddServer("webhook certificates", [keeper](std::stop_token stop) { return keeper->Run(stop); });
    failure = [keeper] { return keeper->failure(); };
  }

  manager.AddReadyCheck(
      "webhook certificate", [configurations, service = options.service, certificate, failure, &clock] {
        std::string missing = Distrust(configurations, service, certificate->loaded().certificate_pem, clock.WallNow());
        if (const std::string why = failure(); !missing.empty() && !why.empty()) missing += " (" + why + ")";
        return missing;
      });
}

}  // namespace yad
