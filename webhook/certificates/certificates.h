// Loads the webhook's certificate, rotates it, and checks that the apiserver trusts it.
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

// Exactly one of `directory` and `secret` must be set.
struct CertificateOptions {
  std::string directory;  // with tls.crt and tls.key, which another program maintains
  // A Secret for certificates that the operator itself issues and rotates. The operator also writes the CAs to the
  // caBundles of the configurations.
  ObjectKey secret;
  // The Service that the apiserver calls. The certificate has the DNS names of this Service. Only webhooks that call
  // this Service are changed.
  ObjectKey service;
  // The name of the operator's MutatingWebhookConfiguration and ValidatingWebhookConfiguration. If empty, no
  // configuration is written, and readiness does not depend on them.
  std::string configuration;
  Duration validity = std::chrono::hours(365 * 24);  // of each issued certificate; only with `secret`
};

// Must be called before Manager::Run. Adds to the Manager
// - a Runnable that loads `certificate` and replaces it in time. It runs on every replica; replicas coordinate by the
//   resourceVersion of the Secret.
// - informers of the Secret and of both configurations. Each informer selects only one object.
// - a ready check: a certificate is loaded, and both configurations trust it.
//
// With `secret`, the operator needs the RBAC verbs get, list, watch and update for these three objects, and create for
// Secrets.
void AddCertificates(Manager& manager, Client& client, const CertificateOptions& options,
                     std::shared_ptr<ServingCertificate> certificate, Clock& clock = Clock::Real());

}  // namespace yad

#endif  // WEBHOOK_CERTIFICATES_CERTIFICATES_H_
