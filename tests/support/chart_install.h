// Installs the chart with helm. The test runs the operator on this machine, so the webhook's Service points here.
#ifndef TESTS_SUPPORT_CHART_INSTALL_H_
#define TESTS_SUPPORT_CHART_INSTALL_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/control_plane.h"
#include "tests/support/operator_process.h"
#include "tests/support/process.h"

namespace yad::testing {

// Runs helm as the administrator of one control plane. Thread-safe.
class Helm {
 public:
  static std::string Missing(const std::string& source_dir);  // "" if helm is installed

  Helm(const std::string& source_dir, const ControlPlane& plane);

  const std::string& chart() const { return chart_; }
  // Never throws; check exit_code.
  ProcessResult Try(std::vector<std::string> arguments) const;
  // Throws TestFailure unless helm succeeds; returns stdout.
  std::string Run(std::vector<std::string> arguments) const;
  // Runs any other program, with helm and kubectl on its PATH.
  ProcessResult TryRun(const std::vector<std::string>& command, std::map<std::string, std::string> env = {}) const;
  // Runs a shell script, such as a command of the chart's notes or of the documentation. In the script, CHART stands
  // for the chart's path.
  ProcessResult TryShell(const std::string& script) const;

 private:
  std::string chart_;
  std::string assets_;
  std::map<std::string, std::string> env_;
};

// The default image of the chart. It is never pulled, because the tests run the operator on this machine.
inline constexpr char kImageValue[] = "image.repository=yurtappdaemon-operator";

struct ChartInstallOptions {
  std::string release = "yad";
  std::string ns = kOperatorNamespace;   // created if it does not exist
  std::vector<std::string> values = {};  // for --set, each "key=value"
  std::string chart = {};                // the chart's folder; empty: the project's chart
};

// A release of the chart. It uses free ports, so several releases can exist. The destructor uninstalls it. Not
// thread-safe.
class ChartInstall {
 public:
  // Runs helm install. Throws TestFailure if helm fails.
  ChartInstall(const Helm& helm, const ControlPlane& plane, ChartInstallOptions options = {});
  ~ChartInstall();
  ChartInstall(const ChartInstall&) = delete;
  ChartInstall& operator=(const ChartInstall&) = delete;

  const std::string& release() const { return options_.release; }
  const std::string& ns() const { return options_.ns; }
  // The name of the Deployment, the ServiceAccount, both webhook configurations and other objects.
  const std::string& name() const { return name_; }
  std::string webhook_service() const { return name_ + "-webhook"; }
  std::string certificate_secret() const { return name_ + "-webhook"; }
  int health_port() const { return health_port_; }
  int metrics_port() const { return metrics_port_; }

  // The output of the last helm command, which includes the chart's notes.
  const std::string& notes() const { return notes_; }
  // Returns the container's arguments in the Deployment. They include the three ports.
  std::vector<std::string> args() const;
  // Returns the path of a kubeconfig with a token of the ServiceAccount and with the namespace of the release.
  std::string kubeconfig() const;
  // Returns options that run `binary` on this machine with the flags of the Deployment. The log file is in the control
  // plane's folder.
  OperatorOptions operator_options(const std::string& binary) const;

  // Runs helm upgrade to the project's chart, with the values of the installation and with `values`.
  void Upgrade(const std::vector<std::string>& values);
  void Uninstall();
  // Makes the destructor leave the release installed. Saves time if the control plane is stopped right after.
  void LeaveInstalled() { installed_ = false; }

 private:
  std::vector<std::string> WithValues(std::vector<std::string> command, const std::vector<std::string>& values) const;
  // Makes the webhook's Service an ExternalName of localhost, where the operator runs.
  void PointServiceHere() const;

  const Helm& helm_;
  const ControlPlane& plane_;
  ChartInstallOptions options_;
  std::string name_;
  int health_port_;
  int metrics_port_;
  int webhook_port_;
  std::string notes_;
  bool installed_ = false;
};

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_CHART_INSTALL_H_
