// The webhook's certificate: where it comes from, who trusts it, when it is replaced.
#ifndef WEBHOOK_CERTIFICATES_H_
#define WEBHOOK_CERTIFICATES_H_

#include <memory>
#include <string>

#include "operator/api/object.h"
#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "operator/runtime/manager.h"
#include "webhook/serving_certificate.h"

namespace yad {

// Exactly one of `directory` and `secret` is given.
struct CertificateOptions {
  std::string directory;  // holds tls.crt and tls.key, which somebody else keeps
  ObjectKey secret;       // kept by us: made, rotated, and its CAs put into the configurations (rotation.h)
  // The Service that the apiserver calls. Its DNS names are in the leaf, and only webhooks that call it are touched.
  ObjectKey service;
  // The name of our MutatingWebhookConfiguration and of our ValidatingWebhookConfiguration. Empty: there are none, and
  // readiness does not ask for their trust.
  std::string configuration;
  Duration validity = std::chrono::hours(365 * 24);  // of each certificate made; `secret` only
};

// Before Manager::Run. Adds to the Manager
// - what keeps `certificate` loaded (a Runnable on every replica: replicas agree by compare-and-swap on the Secret);
// - informers of the Secret and of both configurations, each of that one object;
// - a ready check: a certificate is loaded, and both configurations trust it.
// All of them share `certificate`. With `secret` this needs the verbs get, list, watch and update on these three
// objects, and create on Secrets.
void AddCertificates(Manager& manager, Client& client, const CertificateOptions& options,
                     std::shared_ptr<ServingCertificate> certificate, Clock& clock = Clock::Real());

}  // namespace yad

#endif  // WEBHOOK_CERTIFICATES_H_
