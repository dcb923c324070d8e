// kubectl yad dashboard: serves the page and handles its HTTP requests.
#ifndef PLUGIN_DASHBOARD_DASHBOARD_H_
#define PLUGIN_DASHBOARD_DASHBOARD_H_

#include <map>
#include <string>

#include "operator/client/client.h"
#include "plugin/commands/commands.h"
#include "plugin/dashboard/http_server.h"
#include "plugin/dashboard/live.h"
#include "plugin/dashboard/request_check.h"

namespace yad {

// Thread-safe. All references must outlive this object.
class Dashboard {
 public:
  // `operator_ns` is "" if it is not known.
  Dashboard(OwnAddress address, const PluginOptions& options, std::string operator_ns, Client& client, Live& live)
      : address_(std::move(address)),
        options_(options),
        operator_ns_(std::move(operator_ns)),
        client_(client),
        live_(live) {}

  // Responds to one request. May block until the apiserver responds.
  HttpReply Handle(const HttpCall& call);

 private:
  using Query = std::map<std::string, std::string>;

  Result<Json> Read(const std::string& path, const Query& query);
  Result<Json> Act(const std::string& path, const std::string& body);
  Result<Json> Pool(const ObjectKey& daemon, const std::string& pool);
  Result<Json> Simulation(const ObjectKey& daemon, const Query& query);
  HttpReply Events(const Query& query);

  const OwnAddress address_;
  const PluginOptions& options_;
  const std::string operator_ns_;
  Client& client_;
  Live& live_;
};

// Serves the page until SIGINT or SIGTERM. Blocks these signals in the calling thread, so that new threads inherit the
// signal mask. Must be called before the process has other threads.
Result<int> RunDashboard(Session& session);

// Parses "a=1&b=x%2Fy". If a name occurs twice, its last value is used.
std::map<std::string, std::string> ParseQuery(const std::string& query);

}  // namespace yad

#endif  // PLUGIN_DASHBOARD_DASHBOARD_H_
