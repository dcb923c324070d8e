#include "operator/options.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>

namespace yad {

std::optional<Options> ParseOptions(int argc, char** argv, const std::string& version, int& exit_code) {
  Options options;
  CLI::App app("Keeps one workload per NodePool for every YurtAppDaemon.", "yurtappdaemon-operator");
  app.set_version_flag("--version", "yurtappdaemon-operator " + version);
  app.add_option("--kubeconfig", options.kubeconfig,
                 "Kubeconfig file. Without it: $KUBECONFIG, then the pod's service account, then ~/.kube/config.");
  app.add_flag("--leader-elect,!--no-leader-elect", options.leader_elect,
               "Let one replica at a time write, elected by a Lease. Needed with more than one replica.");
  app.add_option("--leader-election-namespace", options.leader_election_namespace,
                 "Namespace of the Lease. Without it: the pod's own, or the kubeconfig context's.");
  app.add_option("--metrics-bind-address", options.metrics_bind_address, "Where /metrics is served; 0 switches it off.")
      ->capture_default_str();
  app.add_option("--health-probe-bind-address", options.health_probe_bind_address,
                 "Where /healthz and /readyz are served; 0 switches them off.")
      ->capture_default_str();
  app.add_option("--namespace", options.ns, "Look after this namespace only. Without it: all.");
  app.add_option("--kube-api-qps", options.kube_api_qps, "Requests a second to the apiserver; 0: no limit of our own.")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--kube-api-burst", options.kube_api_burst, "Requests that may go out at once under --kube-api-qps.")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--workers", options.workers, "YurtAppDaemons reconciled side by side.")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--log-level", options.log_level, "debug, info, warn or error")
      ->transform(CLI::CheckedTransformer(std::map<std::string, log::Level>{{"debug", log::Level::kDebug},
                                                                            {"info", log::Level::kInfo},
                                                                            {"warn", log::Level::kWarn},
                                                                            {"error", log::Level::kError}}));
  app.add_option("--log-format", options.log_format, "text or json")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, log::Format>{{"text", log::Format::kText}, {"json", log::Format::kJson}}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    exit_code = app.exit(success);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    exit_code = 2;
    return std::nullopt;
  }
  if (options.kube_api_burst > 0 && options.kube_api_qps <= 0) {
    std::cerr << "--kube-api-burst: has no effect without --kube-api-qps; set both\n";
    exit_code = 2;
    return std::nullopt;
  }
  return options;
}

}  // namespace yad
