#include "webhook/wiring.h"

#include <memory>
#include <string>

#include "webhook/certificates/serving_certificate.h"
#include "webhook/server/https_server.h"

namespace yad {
namespace {

QueryCheck CheckWith(PrometheusClient* prometheus) {
  if (prometheus == nullptr) return nullptr;
  return [prometheus](const std::string& promql, std::stop_token stop) { return prometheus->CheckQuery(promql, stop); };
}

}  // namespace

Status AddWebhook(Manager& manager, Client& client, const AdmissionStores& stores, const WebhookOptions& options) {
  const auto certificate = std::make_shared<ServingCertificate>();
  HttpsServerOptions server_options;
  server_options.bind = ":" + std::to_string(options.port);
  server_options.is_quick = NeverWaits;
  const auto server = std::make_shared<HttpsServer>(
      server_options, certificate, MakeAdmissionHandler(client, stores, Clock::Real(), CheckWith(options.prometheus)));
  YAD_TRY_VOID(server->Listen());
  manager.AddServer("webhook", [server](std::stop_token stop) { return server->Run(stop); });
  AddCertificates(manager, client, options.certificates, certificate);
  return {};
}

}  // namespace yad
