// The flags of the operator.
#ifndef OPERATOR_OPTIONS_H_
#define OPERATOR_OPTIONS_H_

#include <chrono>
#include <optional>
#include <string>

#include "operator/base/log.h"
#include "operator/client/auth/service_client.h"
#include "operator/client/client.h"
#include "operator/nodepool/wiring.h"
#include "operator/runtime/controller_list.h"
#include "operator/runtime/leader_elector.h"
#include "operator/yurtappdaemon/wiring.h"
#include "webhook/wiring.h"

namespace yad {

// Names of controllers, as in --controllers.
inline constexpr char kYurtAppDaemonController[] = "yurtappdaemon";
inline constexpr char kNodePoolController[] = "nodepool";
inline constexpr char kAutoscalerController[] = "nodepool-autoscaler";  // not started by "*"

// The values of the flags. Some members of the structs below have no flag, such as the namespace of the webhook's
// Secret; main sets them.
struct Options {
  std::string kubeconfig;
  ControllerList controllers;
  NodePoolOptions nodepool;
  std::chrono::seconds capacity_resync{30};
  bool leader_elect = false;
  // If the namespace of the lease is empty, main sets it to the namespace of the pod, or of the kubeconfig context.
  LeaderElectionOptions election;
  std::string metrics_bind_address = ":8080";
  std::string health_probe_bind_address = ":8081";
  ClientOptions client;
  YurtAppDaemonOptions daemons;
  // Servers other than the apiserver. If the URL of a server is empty, the operator does not use the server.
  ServiceOptions prometheus;    // evaluates the queries of checks
  ServiceOptions cloud_events;  // receives events about rollouts
  ServiceOptions otlp_traces;   // receives traces of rollouts
  WebhookOptions webhook;
  log::Level log_level = log::Level::kInfo;
  log::Format log_format = log::Format::kText;
};

// Parses the command line. Returns nullopt if the process must exit: `exit_code` is 0 after --help or --version, and 2
// after an invalid flag. Prints the help, the version or the error.
std::optional<Options> ParseOptions(int argc, char** argv, const std::string& version, int& exit_code);

}  // namespace yad

#endif  // OPERATOR_OPTIONS_H_
