// The caBundles of a MutatingWebhookConfiguration or ValidatingWebhookConfiguration. Pure.
#ifndef WEBHOOK_CERTIFICATES_WEBHOOK_CONFIGURATION_H_
#define WEBHOOK_CERTIFICATES_WEBHOOK_CONFIGURATION_H_

#include <string>
#include <vector>

#include "operator/api/object.h"

namespace yad {

// The caBundle of one webhook that calls the operator's Service.
struct WebhookTrust {
  std::string webhook;  // the name of the webhook
  std::string bundle;   // PEM; if empty, the apiserver trusts only the CAs of its machine
};

// Returns the caBundle of each webhook in the configuration that calls `service`, on any port and path. Omits all other
// webhooks.
std::vector<WebhookTrust> TrustIn(const Json& configuration, const ObjectKey& service);

// Writes `bundle` to each webhook that calls `service`, unless its caBundle already has the same certificates. Returns
// whether the configuration has changed.
bool SetTrust(Json& configuration, const ObjectKey& service, const std::string& bundle);

}  // namespace yad

#endif  // WEBHOOK_CERTIFICATES_WEBHOOK_CONFIGURATION_H_
