// The webhook's certificate: its source, its trust, and its replacement.
#ifndef WEBHOOK_CERTIFICATES_CERTIFICATES_H_
#define WEBHOOK_CERTIFICATES_CERTIFICATES_H_

#include <memory>
#include <string>

#include "operator/api/object.h"
#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "operator/runtime/manager.h"
#include "webhook/certificates/serving_certificate.h"

namespace yad {

// Exactly one of `directory` and `secret` is given.
struct CertificateOptions {
  std::string directory;  // holds tls.crt and tls.key, which another program maintains
  ObjectKey secret;       // maintained by the operator: issued, rotated, its CAs put into configurations (rotation.h)
  // The Service that the apiserver calls. The leaf has its DNS names, and only webhooks that call it are changed.
  ObjectKey service;
  // The name of our MutatingWebhookConfiguration and of the ValidatingWebhookConfiguration. If it is empty, there are
  // none, and readiness does not require their trust.
  std::string configuration;
  Duration validity = std::chrono::hours(365 * 24);  // of each issued certificate; `secret` only
};

// Must be called before Manager::Run. Adds to the Manager
// - a Runnable that keeps `certificate` loaded (on every replica; replicas agree by compare-and-swap on the Secret),
// - informers of the Secret and of both configurations, each of that one object,
// - a ready check: a certificate is loaded, and both configurations trust it.
// All of them share `certificate`. With `secret`, this needs the verbs get, list, watch and update on these three
// objects, and create on Secrets.
void AddCertificates(Manager& manager, Client& client, const CertificateOptions& options,
                     std::shared_ptr<ServingCertificate> certificate, Clock& clock = Clock::Real());

}  // namespace yad

#endif  // WEBHOOK_CERTIFICATES_CERTIFICATES_H_
