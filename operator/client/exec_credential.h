// Credentials from a program: client.authentication.k8s.io/v1 and v1beta1 ExecCredential, as kubectl runs it.
#ifndef OPERATOR_CLIENT_EXEC_CREDENTIAL_H_
#define OPERATOR_CLIENT_EXEC_CREDENTIAL_H_

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/client/config.h"

namespace yad {

struct ExecCredential {
  std::string token;  // These never appear in an error or a log line.
  std::string client_cert_pem;
  std::string client_key_pem;
  std::optional<WallTime> expires;
};

// From the program's standard output. `api_version` is the one that it was asked for.
Result<ExecCredential> ParseExecCredential(const std::string& output, const std::string& api_version);

// Runs the plugin when its last credential has expired or was refused. Thread-safe; others wait while it runs, each
// until its own stop token fires.
class ExecCredentialSource {
 public:
  ExecCredentialSource(const ClusterConfig& config, Clock& clock,
                       std::chrono::milliseconds timeout = std::chrono::seconds(60));

  // kCancelled when `stop` fires; a plugin that this call runs is killed then.
  Result<ExecCredential> Get(const std::stop_token& stop = {});
  // The server has refused it. A credential of the last seconds stays: one refusal of many requests that were under way
  // together must not run the plugin for each.
  void Invalidate();

 private:
  Result<ExecCredential> Run(const std::stop_token& stop) const;

  const ExecCredentialPlugin plugin_;
  const std::string exec_info_;
  const std::string source_;
  Clock& clock_;
  const std::chrono::milliseconds timeout_;
  std::mutex mutex_;
  std::condition_variable_any ended_;
  bool running_ = false;
  std::optional<ExecCredential> cached_;
  SteadyTime fetched_at_;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_EXEC_CREDENTIAL_H_
