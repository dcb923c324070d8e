// The caBundles of a MutatingWebhookConfiguration or ValidatingWebhookConfiguration. Pure.
#ifndef WEBHOOK_CERTIFICATES_WEBHOOK_CONFIGURATION_H_
#define WEBHOOK_CERTIFICATES_WEBHOOK_CONFIGURATION_H_

#include <string>
#include <vector>

#include "operator/api/object.h"

namespace yad {

// The caBundle of one webhook that calls our Service.
struct WebhookTrust {
  std::string webhook;  // its name
  std::string bundle;   // PEM; if empty, the apiserver uses the CAs of its machine, which do not include ours
};

// Returns the trust of each webhook of the configuration that calls `service`, on any port and path. Other webhooks are
// not ours.
std::vector<WebhookTrust> TrustIn(const Json& configuration, const ObjectKey& service);

// Sets `bundle` in each of our webhooks whose caBundle has other certificates. Returns whether the configuration has
// changed.
bool SetTrust(Json& configuration, const ObjectKey& service, const std::string& bundle);

}  // namespace yad

#endif  // WEBHOOK_CERTIFICATES_WEBHOOK_CONFIGURATION_H_
