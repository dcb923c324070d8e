// The caBundles of a MutatingWebhookConfiguration or ValidatingWebhookConfiguration. Pure.
#ifndef WEBHOOK_WEBHOOK_CONFIGURATION_H_
#define WEBHOOK_WEBHOOK_CONFIGURATION_H_

#include <string>
#include <vector>

#include "operator/api/object.h"

namespace yad {

// Of one webhook that calls our Service.
struct WebhookTrust {
  std::string webhook;  // its name
  std::string bundle;   // PEM; empty: the apiserver takes its machine's CAs, which have nothing to do with us
};

// Of every webhook of the configuration that calls `service`, on whatever port and path; the others are not ours.
std::vector<WebhookTrust> TrustIn(const Json& configuration, const ObjectKey& service);

// Puts `bundle` into each of these where it holds other certificates. Returns whether anything changed.
bool SetTrust(Json& configuration, const ObjectKey& service, const std::string& bundle);

}  // namespace yad

#endif  // WEBHOOK_WEBHOOK_CONFIGURATION_H_
