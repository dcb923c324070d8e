#include "webhook/certificates/webhook_configuration.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/client/transport/base64.h"
#include "webhook/certificates/certificate_pair.h"

namespace yad {
namespace {

bool Calls(const Json& webhook, const ObjectKey& service) {
  return StringAt(webhook, {"clientConfig", "service", "name"}) == service.name &&
         StringAt(webhook, {"clientConfig", "service", "namespace"}) == service.ns;
}

std::string BundleOf(const Json& webhook) {
  return Base64Decode(StringAt(webhook, {"clientConfig", "caBundle"})).value_or("");
}

// Returns the certificates in sorted order, so that the order in a caBundle does not matter. Otherwise, two releases
// with different orders would overwrite each other forever.
std::vector<std::string> Certificates(const std::string& bundle) {
  std::vector<std::string> certificates = SplitBundle(bundle);
  std::sort(certificates.begin(), certificates.end());
  return certificates;
}

}  // namespace

std::vector<WebhookTrust> TrustIn(const Json& configuration, const ObjectKey& service) {
  std::vector<WebhookTrust> trust;
  for (const Json& webhook : ListAt(configuration, {"webhooks"})) {
    if (Calls(webhook, service)) trust.push_back({StringAt(webhook, {"name"}), BundleOf(webhook)});
  }
  return trust;
}

bool SetTrust(Json& configuration, const ObjectKey& service, const std::string& bundle) {
  if (ListAt(configuration, {"webhooks"}).empty()) return false;
  bool changed = false;
  for (Json& webhook : configuration["webhooks"]) {
    if (!Calls(webhook, service)) continue;
    const std::string carried = BundleOf(webhook);
    if (carried == bundle || Certificates(carried) == Certificates(bundle)) continue;
    // Writes only certificates that can be parsed, because the apiserver rejects a caBundle with other content.
    std::string text;
    for (const std::string& certificate : SplitBundle(bundle)) text += certificate;
    webhook["clientConfig"]["caBundle"] = Base64Encode(text);
    changed = true;
  }
  return changed;
}

}  // namespace yad
