#include "tests/support/chart_install.h"

#include <unistd.h>

#include <cstdlib>

#include "operator/api/object.h"
#include "tests/support/eventually.h"

namespace yad::testing {
namespace {

constexpr char kChartName[] = "yurtappdaemon-operator";

std::string Line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += " " + word;
  return line;
}

}  // namespace

std::string Helm::Missing(const std::string& source_dir) {
  const std::string path = AssetsDir(source_dir) + "/helm";
  return access(path.c_str(), X_OK) == 0 ? "" : path + " is missing; run 'make assets'";
}

Helm::Helm(const std::string& source_dir, const ControlPlane& plane)
    : chart_(source_dir + "/charts/" + kChartName), assets_(AssetsDir(source_dir)) {
  const char* path = std::getenv("PATH");
  env_ = {{"HOME", plane.dir()},
          {"KUBECONFIG", plane.kubeconfig()},
          {"PATH", assets_ + ":" + (path != nullptr ? path : "/usr/bin:/bin")}};
}

ProcessResult Helm::Try(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), assets_ + "/helm");
  ProcessOptions options;
  options.env = env_;
  return RunProcess(arguments, options);
}

std::string Helm::Run(std::vector<std::string> arguments) const {
  const std::string line = "helm" + Line(arguments);
  ProcessResult result = Try(std::move(arguments));
  if (result.exit_code != 0) throw TestFailure(line + ": " + result.err + result.out);
  return result.out;
}

ProcessResult Helm::TryRun(const std::vector<std::string>& command, std::map<std::string, std::string> env) const {
  ProcessOptions options;
  options.env = env_;
  for (auto& [name, value] : env) options.env[name] = value;
  return RunProcess(command, options);
}

ProcessResult Helm::TryShell(const std::string& script) const {
  std::string line = script;
  for (auto at = line.find("CHART"); at != std::string::npos; at = line.find("CHART", at + chart_.size())) {
    line.replace(at, 5, chart_);
  }
  return TryRun({"sh", "-euc", line});
}

ChartInstall::ChartInstall(const Helm& helm, const ControlPlane& plane, ChartInstallOptions options)
    : helm_(helm),
      plane_(plane),
      options_(std::move(options)),
      name_(options_.release.find(kChartName) != std::string::npos ? options_.release
                                                                   : options_.release + "-" + kChartName),
      health_port_(FreePort()),
      metrics_port_(FreePort()),
      webhook_port_(FreePort()) {
  const std::string& chart = options_.chart.empty() ? helm_.chart() : options_.chart;
  notes_ = helm_.Run(WithValues({"install", options_.release, chart, "--create-namespace"}, {}));
  installed_ = true;
  PointServiceHere();
}

ChartInstall::~ChartInstall() {
  if (installed_) helm_.Try({"uninstall", options_.release, "--namespace", options_.ns, "--wait"});
}

std::vector<std::string> ChartInstall::WithValues(std::vector<std::string> command,
                                                  const std::vector<std::string>& values) const {
  // helm would parse the OpenAPI document of the apiserver for each command. RenderTest tries the objects on the
  // apiserver.
  command.insert(command.end(), {"--disable-openapi-validation", "--namespace", options_.ns, "--set", kImageValue,
                                 "--set", "health.port=" + std::to_string(health_port_), "--set",
                                 "metrics.port=" + std::to_string(metrics_port_), "--set",
                                 "webhook.port=" + std::to_string(webhook_port_), "--set",
                                 "webhook.servicePort=" + std::to_string(webhook_port_)});
  for (const std::vector<std::string>& list : {options_.values, values}) {
    for (const std::string& value : list) command.insert(command.end(), {"--set", value});
  }
  return command;
}

void ChartInstall::PointServiceHere() const {
  const ProcessResult found = plane_.TryKubectl({"get", "service", webhook_service(), "--namespace=" + options_.ns});
  if (found.exit_code != 0) return;  // webhook.enabled=false: the chart has no Service
  const Json spec = {
      {"type", "ExternalName"}, {"externalName", "localhost"}, {"clusterIP", nullptr}, {"clusterIPs", nullptr}};
  plane_.Kubectl({"patch", "service", webhook_service(), "--namespace=" + options_.ns, "--type=merge",
                  "--patch=" + Json{{"spec", spec}}.dump()});
}

std::vector<std::string> ChartInstall::args() const {
  const Json deployment =
      Json::parse(plane_.Kubectl({"get", "deployment", name_, "--namespace=" + options_.ns, "--output=json"}));
  return deployment.at("/spec/template/spec/containers/0/args"_json_pointer).get<std::vector<std::string>>();
}

std::string ChartInstall::kubeconfig() const { return plane_.TokenKubeconfig(options_.ns, name_); }

OperatorOptions ChartInstall::operator_options(const std::string& binary) const {
  OperatorOptions options;
  options.binary = binary;
  options.all_flags = args();
  options.kubeconfig = kubeconfig();
  options.health_port = health_port_;
  options.metrics_port = metrics_port_;
  options.log_file = plane_.dir() + "/" + name_ + ".log";
  return options;
}

void ChartInstall::Upgrade(const std::vector<std::string>& values) {
  notes_ = helm_.Run(WithValues({"upgrade", options_.release, helm_.chart()}, values));
}

void ChartInstall::Uninstall() {
  notes_ = helm_.Run({"uninstall", options_.release, "--namespace", options_.ns, "--wait"});
  installed_ = false;
}

}  // namespace yad::testing
