// Runs an exec credential plugin (client.authentication.k8s.io/v1 and v1beta1) as kubectl does.
#ifndef OPERATOR_CLIENT_AUTH_EXEC_CREDENTIAL_H_
#define OPERATOR_CLIENT_AUTH_EXEC_CREDENTIAL_H_

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/client/auth/cluster_config.h"

namespace yad {

// A token, a client certificate with its key, or both. None of these may ever appear in an error or a log line.
struct ExecCredential {
  std::string token;
  std::string client_cert_pem;
  std::string client_key_pem;
  std::optional<WallTime> expires;  // nullopt: never
};

// Parses the plugin's standard output. Fails with kConfig if the output is not an ExecCredential of `api_version`, or
// has no valid credential.
Result<ExecCredential> ParseExecCredential(const std::string& output, const std::string& api_version);

// Caches the plugin's credential, and runs the plugin again after the credential has expired or was rejected.
// Thread-safe. While one call runs the plugin, other calls wait for it, each until its own stop token fires.
class ExecCredentialSource {
 public:
  // `timeout` limits one run of the plugin. `clock` must outlive this object.
  ExecCredentialSource(const ClusterConfig& config, Clock& clock,
                       std::chrono::milliseconds timeout = std::chrono::seconds(60));

  // Fails with kCancelled if `stop` fires, and then kills the plugin if this call runs it. Fails with kConfig if the
  // program is missing, cannot be run or prints anything but a credential. Fails with kTransport, which may be retried,
  // if the program exits with an error, does not end in time or prints too much.
  Result<ExecCredential> Get(const std::stop_token& stop = {});
  // Drops the credential after the server has rejected it. A credential that is less than 5 s old stays: if many
  // concurrent requests are rejected together, the plugin must not run for each of them.
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

#endif  // OPERATOR_CLIENT_AUTH_EXEC_CREDENTIAL_H_
