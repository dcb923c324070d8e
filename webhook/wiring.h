// Adds the admission webhook to the manager. The webhook runs on every replica, not only on the leader.
#ifndef WEBHOOK_WIRING_H_
#define WEBHOOK_WIRING_H_

#include "operator/base/error.h"
#include "operator/client/client.h"
#include "operator/prometheus/client.h"
#include "operator/runtime/manager.h"
#include "webhook/admission/admission_handler.h"
#include "webhook/certificates/certificates.h"

namespace yad {

struct WebhookOptions {
  int port = 9443;
  PrometheusClient* prometheus = nullptr;  // must outlive the manager; null if the operator has no Prometheus
  CertificateOptions certificates;
};

// Starts to listen. Adds the server, and the Runnable that maintains its certificate, to the manager. `client` and the
// stores must outlive the manager's Run. Fails with kConfig if the port can't be used.
Status AddWebhook(Manager& manager, Client& client, const AdmissionStores& stores, const WebhookOptions& options);

}  // namespace yad

#endif  // WEBHOOK_WIRING_H_
