// kubectl yad dashboard
#include <memory>
#include <nlohmann/json.hpp>
#include <stop_token>

#include "operator/api/well_known.h"
#include "operator/runtime/signals.h"
#include "plugin/commands/daemon.h"
#include "plugin/commands/operator_namespace.h"
#include "plugin/dashboard/browser.h"
#include "plugin/dashboard/dashboard.h"

namespace yad {
namespace {

// Returns the namespace to show: --namespace, or "" for all. If the user may not list the daemons of all namespaces,
// returns the namespace of the context.
Result<std::string> NamespaceToShow(Session& session) {
  const auto list = [&](const std::string& ns) {
    const ListOptions options{.ns = ns, .limit = 1};
    return session.client.List(kYurtAppDaemonType, options);
  };
  std::string ns = session.options.ns;
  auto listed = list(ns);
  if (!listed && listed.error().reason == Reason::kForbidden && ns.empty()) {
    ns = session.ns;
    listed = list(ns);
  }
  if (listed) return ns;
  return Fail(WithAdvice(listed.error(), kDaemonsUnknown, listed.error().message));
}

}  // namespace

Result<int> RunDashboard(Session& session) {
  std::stop_source stop;
  StopOnSignals(stop);
  const PluginOptions& options = session.options;
  YAD_TRY(const auto ns, NamespaceToShow(session));
  const auto operator_ns = OperatorNamespace(session);

  std::unique_ptr<Dashboard> dashboard;
  HttpServerOptions server_options;
  server_options.port = options.port;
  HttpServer server(server_options, [&](const HttpCall& call) { return dashboard->Handle(call); });
  if (const Status listens = server.Listen(); !listens)
    return Fail(listens.error().reason, listens.error().message + " (give another --port; 0 is any free port)");
  YAD_TRY(const auto token, NewToken());
  const auto wake = [&server] { server.Wake(); };
  Live live(session.client, {session.cluster, ns, operator_ns}, wake, session.clock);
  dashboard = std::make_unique<Dashboard>(OwnAddress{server.port(), token}, options, operator_ns.value_or(""),
                                          session.client, live);

  const std::string address = "http://127.0.0.1:" + std::to_string(server.port()) + "/" + token + "/";
  session.console.out << "Dashboard: " << address << std::endl;
  AddressFile file;
  if (options.open && session.console.screen() && HasDisplay()) {
    if (const Status opened = file.Open(address); !opened) {
      session.console.Warn("the browser can't be opened: " + opened.error().message);
    }
  }
  YAD_TRY_VOID(server.Run(stop.get_token()));
  return kDone;
}

}  // namespace yad
