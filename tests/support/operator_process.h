// The operator as users run it: a process with flags.
#ifndef TESTS_SUPPORT_OPERATOR_PROCESS_H_
#define TESTS_SUPPORT_OPERATOR_PROCESS_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace yad::testing {

struct OperatorOptions {
  std::string binary;
  std::string kubeconfig;
  std::string ns;        // the watched namespace; empty: all
  std::string log_file;  // appended to
  bool leader_elect = false;
  std::vector<std::string> flags;  // more flags
  // If not empty, the process has exactly these flags, and no flags for the fields above. Set health_port and
  // metrics_port to the ports in these flags. The kubeconfig is passed in $KUBECONFIG.
  std::vector<std::string> all_flags;
  std::map<std::string, std::string> env;
  int health_port = 0;  // 0: a free port
  int metrics_port = 0;
};

// Not thread-safe.
class OperatorProcess {
 public:
  explicit OperatorProcess(const OperatorOptions& options);

  void WaitUntilReady();  // polls /readyz; throws TestFailure if the process exits
  bool Ready() const;
  std::string Readyz() const;  // returns the body for any status code
  int Stop();                  // sends SIGTERM; returns the exit code
  void Kill();                 // sends SIGKILL
  void Signal(int signal) { process_->Signal(signal); }
  std::optional<int> ExitCode() { return process_->ExitCode(); }
  int Wait(std::chrono::milliseconds timeout) { return process_->Wait(timeout); }
  std::string Log() const;
  void AwaitLog(const std::string& text) const;  // blocks until the log contains `text`
  // Returns /metrics as text.
  std::string Metrics() const;
  // Returns the sum of the metric's samples that have all these labels, such as `name="value"`.
  double Metric(const std::string& name, const std::vector<std::string>& labels = {}) const;
  pid_t pid() const { return process_->pid(); }

 private:
  OperatorOptions options_;
  int health_port_;
  int metrics_port_;
  std::unique_ptr<Process> process_;
};

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_OPERATOR_PROCESS_H_
