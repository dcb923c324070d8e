// The flags of the operator.
#ifndef OPERATOR_OPTIONS_H_
#define OPERATOR_OPTIONS_H_

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/label_selector.h"
#include "operator/api/update_strategy.h"
#include "operator/base/log.h"
#include "operator/client/auth/service_client.h"
#include "operator/runtime/controller_list.h"
#include "operator/workload/prefetch.h"

namespace yad {

// Names of controllers, as in --controllers.
inline constexpr char kYurtAppDaemonController[] = "yurtappdaemon";
inline constexpr char kNodePoolController[] = "nodepool";
inline constexpr char kAutoscalerController[] = "nodepool-autoscaler";  // not started by "*"

struct Options {
  std::string kubeconfig;
  ControllerList controllers;
  std::vector<LabelSelector> node_agents;
  std::vector<std::string> required_csi_drivers;
  std::chrono::seconds capacity_resync{30};
  bool leader_elect = false;
  std::string leader_election_namespace;  // empty: the namespace of the pod, or of the kubeconfig context
  std::chrono::seconds lease_duration{15};
  std::chrono::seconds renew_deadline{10};
  std::chrono::seconds retry_period{2};
  std::string metrics_bind_address = ":8080";
  std::string health_probe_bind_address = ":8081";
  std::string ns;                             // the only namespace to watch; empty: all namespaces
  std::chrono::seconds kube_api_timeout{30};  // for each request
  double kube_api_qps = 0;
  int kube_api_burst = 0;
  int workers = 4;
  // The maximum number or percentage of pools whose workloads may be deleted together. If more have to be deleted, the
  // deletion waits until a user allows it. nullopt means no limit.
  std::optional<IntOrPercent> max_removals;
  // Servers other than the apiserver, without their user_agent. If the URL of a server is empty, the operator does not
  // use the server.
  ServiceOptions prometheus;    // evaluates the queries of checks
  ServiceOptions cloud_events;  // receives events about rollouts
  ServiceOptions otlp_traces;   // receives traces of rollouts
  std::string prefetch_image = kDefaultPrefetchImage;
  int webhook_port = 9443;
  std::string webhook_cert_dir;       // folder with the certificate, which another program renews
  std::string webhook_cert_secret;    // Secret with the certificate, which the operator renews
  std::string webhook_service;        // Service through which the apiserver calls the webhook
  std::string webhook_configuration;  // name of both webhook configurations
  std::chrono::seconds webhook_cert_validity = std::chrono::hours(24 * 365);
  log::Level log_level = log::Level::kInfo;
  log::Format log_format = log::Format::kText;
};

// Parses the command line. Returns nullopt if the process must exit: `exit_code` is 0 after --help or --version, and 2
// after an invalid flag. Prints the help, the version or the error.
std::optional<Options> ParseOptions(int argc, char** argv, const std::string& version, int& exit_code);

}  // namespace yad

#endif  // OPERATOR_OPTIONS_H_
