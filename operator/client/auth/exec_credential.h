// Runs an exec credential plugin (client.authentication.k8s.io/v1 and v1beta1) as kubectl does.
#ifndef OPERATOR_CLIENT_AUTH_EXEC_CREDENTIAL_H_
#define OPERATOR_CLIENT_AUTH_EXEC_CREDENTIAL_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/client/auth/cluster_config.h"

namespace yad {

// The output of a plugin: a token, a client certificate with its key, or both. All three are secret and must not appear
// in an error or a log line.
struct ExecCredential {
  std::string token;
  std::string client_cert_pem;
  std::string client_key_pem;
  std::optional<WallTime> expires;  // nullopt: never
};

// Parses the plugin's standard output. Fails with kConfig if the output is not an ExecCredential of `api_version`, or
// contains no valid credential.
Result<ExecCredential> ParseExecCredential(const std::string& output, const std::string& api_version);

// Caches the plugin's credential. Runs the plugin again after the credential has expired or was rejected. Thread-safe:
// one call runs the plugin, and the other calls wait for it.
class ExecCredentialSource {
 public:
  // `timeout` limits one run of the plugin. `clock` must outlive this object.
  ExecCredentialSource(const ClusterConfig& config, Clock& clock,
                       std::chrono::milliseconds timeout = std::chrono::seconds(60));

  // Returns the credential, and runs the plugin if necessary. Fails
  // - with kConfig if the program is missing, can't be run, or prints anything but a credential;
  // - with kTransport if the program exits with an error, runs too long or prints too much (a retry may succeed);
  // - with kCancelled if `stop` fires, which also kills the plugin.
  Result<ExecCredential> Get(const std::stop_token& stop = {});
  // Drops the credential after the server has rejected it. Keeps a credential that is less than 5 s old, so that the
  // plugin runs only once if the server rejects many concurrent requests.
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
