#include "tests/support/operator_process.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <sstream>

#include "tests/support/eventually.h"

namespace yad::testing {

OperatorProcess::OperatorProcess(const OperatorOptions& options)
    : options_(options),
      health_port_(options.health_port != 0 ? options.health_port : FreePort()),
      metrics_port_(options.metrics_port != 0 ? options.metrics_port : FreePort()) {
  std::vector<std::string> flags = options.all_flags;
  ProcessOptions process;
  process.output_file = options.log_file;
  process.env = options.env;
  if (flags.empty()) {
    flags = {std::string("--leader-elect=") + (options.leader_elect ? "true" : "false"),
             "--health-probe-bind-address=127.0.0.1:" + std::to_string(health_port_),
             "--metrics-bind-address=127.0.0.1:" + std::to_string(metrics_port_)};
    if (!options.kubeconfig.empty()) flags.push_back("--kubeconfig=" + options.kubeconfig);
    if (!options.ns.empty()) flags.push_back("--namespace=" + options.ns);
    flags.insert(flags.end(), options.flags.begin(), options.flags.end());
    // Turns the nodepool controller off, because most tests write the status of NodePools themselves.
    if (std::none_of(options.flags.begin(), options.flags.end(),
                     [](const std::string& flag) { return flag.starts_with("--controllers"); })) {
      flags.push_back("--controllers=*,-nodepool");
    }
  } else {
    process.env["KUBECONFIG"] = options.kubeconfig;
  }
  flags.insert(flags.begin(), options.binary);
  process_ = std::make_unique<Process>(flags, process);
}

bool OperatorProcess::Ready() const { return HttpGet(health_port_, "/readyz").status == 200; }

std::string OperatorProcess::Readyz() const { return HttpGet(health_port_, "/readyz").body; }

void OperatorProcess::WaitUntilReady() {
  bool ended = false;
  Eventually("the operator is ready", [&]() -> std::string {
    if (process_->ExitCode().has_value()) {
      ended = true;
      return "";
    }
    const PlainHttpAnswer answer = HttpGet(health_port_, "/readyz");
    return answer.status == 200 ? "" : "/readyz: " + std::to_string(answer.status) + " " + answer.body;
  });
  if (ended) throw TestFailure("the operator exited with code " + std::to_string(*process_->ExitCode()));
}

int OperatorProcess::Stop() {
  process_->Signal(SIGTERM);
  return process_->Wait(std::chrono::seconds(30));
}

void OperatorProcess::Kill() {
  process_->Signal(SIGKILL);
  process_->Wait(std::chrono::seconds(30));
}

std::string OperatorProcess::Log() const { return ReadFile(options_.log_file); }

void OperatorProcess::AwaitLog(const std::string& text) const {
  Eventually("the log contains \"" + text + "\"", [&] {
    const std::string log = Log();
    return log.find(text) != std::string::npos ? "" : "the log: " + log;
  });
}

std::string OperatorProcess::Metrics() const { return HttpGet(metrics_port_, "/metrics").body; }

double OperatorProcess::Metric(const std::string& name, const std::vector<std::string>& labels) const {
  std::istringstream lines(Metrics());
  double sum = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, name.size(), name) != 0) continue;
    const char next = line.size() > name.size() ? line[name.size()] : ' ';
    if (next != '{' && next != ' ') continue;
    const bool matches = std::all_of(labels.begin(), labels.end(),
                                     [&](const std::string& label) { return line.find(label) != std::string::npos; });
    if (matches) sum += std::strtod(line.c_str() + line.rfind(' '), nullptr);
  }
  return sum;
}

}  // namespace yad::testing
