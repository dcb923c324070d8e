// The webhook's certificate: its source, its trusted CAs, and its rotation.
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
  std::string directory;  // contains tls.crt and tls.key, which another program maintains
  // A Secret that the operator maintains: it issues and rotates the pair, and puts the CAs into the configurations.
  ObjectKey secret;
  // The Service that the apiserver calls. The leaf has its DNS names. Only webhooks that call this Service are changed.
  ObjectKey service;
  // The name of our MutatingWebhookConfiguration and of our ValidatingWebhookConfiguration. If empty, there are no
  // configurations, and readiness does not depend on them.
  std::string configuration;
  Duration validity = std::chrono::hours(365 * 24);  // of each issued certificate; only with `secret`
};

// Must be called before Manager::Run. Adds to the Manager
// - a Runnable that keeps `certificate` loaded (on every replica; replicas coordinate by compare-and-swap of the
//   Secret),
// - informers of the Secret and of both configurations, each of which selects only that object,
// - a ready check: a certificate is loaded, and both configurations trust it.
//
// All of them share `certificate`. With `secret`, this needs the verbs get, list, watch and update for these three
// objects, and create for Secrets.
void AddCertificates(Manager& manager, Client& client, const CertificateOptions& options,
                     std::shared_ptr<ServingCertificate> certificate, Clock& clock = Clock::Real());

}  // namespace yad

#endif  // WEBHOOK_CERTIFICATES_CERTIFICATES_H_
