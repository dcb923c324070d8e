#include "plugin/plugin.h"

#include "operator/base/log.h"
#include "operator/client/auth/config.h"
#include "plugin/commands/commands.h"
#include "plugin/commands/options.h"
#include "plugin/dashboard/dashboard.h"

namespace yad {
namespace {

constexpr char kName[] = "kubectl-yad";
// Flux takes over the fields of each manager whose name begins with "kubectl", and then removes the fields that Git
// lacks. So with the name "kubectl-yad", a pause or a hold would end at Flux's next interval.
constexpr char kFieldManager[] = "yad";

Result<int> RunOnCluster(const PluginOptions& options, const std::string& version, Console& console) {
  YAD_TRY(const auto config, LoadClusterConfig(options.kubeconfig, options.context, InPod::kHomeFile));
  ClientOptions client_options;
  client_options.user_agent = std::string(kName) + "/" + version;
  client_options.field_manager = kFieldManager;
  if (options.request_timeout.count() > 0) client_options.timeout = options.request_timeout;
  client_options.on_warning = [&console](const std::string& text) { PrintWarning(text, console.err); };
  YAD_TRY(const auto client, MakeClient(config, client_options));
  Session session{options, console, *client, options.ns.empty() ? config.ns : options.ns};
  session.cluster = config.context.empty() ? config.source : config.context;
  if (options.command == "dashboard") return RunDashboard(session);
  return RunOnSession(session);
}

}  // namespace

std::string DescribeError(const Error& error) {
  std::string text = error.http_status == 0
                         ? "error: " + error.message
                         : "Error from server (" + std::string(ToString(error.reason)) + "): " + error.message;
  if (error.reason == Reason::kTransport) text = "Unable to connect to the server: " + error.message;
  return Printable(text);
}

int RunPlugin(const std::vector<std::string>& arguments, const std::string& version, Console& console) {
  // Logs only errors. The client library logs more for the operator, but users of a command should not see it.
  log::Configure(log::Level::kError, log::Format::kText);
  if (!arguments.empty() && arguments.front() == "__complete") {
    return RunComplete({arguments.begin() + 1, arguments.end()}, console);
  }
  int exit_code = kDone;
  const auto options = ParsePluginOptions(arguments, console, exit_code);
  if (!options) return exit_code;
  Result<int> ended = kDone;
  if (options->command == "version") {
    console.out << kName << " " << version << "\n";
  } else if (options->command == "completion") {
    ended = RunCompletion(*options, console);
  } else if (options->command == "render") {
    ended = RunRender(*options, console);
  } else if (options->command == "simulate" && !options->from.empty()) {
    ended = RunSimulateFrom(*options, console);
  } else if (options->command == "capacity plan") {
    ended = RunCapacityPlan(*options, console);
  } else {
    ended = RunOnCluster(*options, version, console);
  }
  console.out.flush();
  // For example, the disk is full, or the reader of a pipe has exited and SIGPIPE is ignored.
  if (ended && *ended == kDone && !console.out) ended = Fail(Reason::kConfig, "cannot write to the standard output");
  if (ended) return *ended;
  console.err << DescribeError(ended.error()) << "\n";
  return kFailed;
}

}  // namespace yad
