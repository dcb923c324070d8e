#include "operator/client/auth/exec_credential.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "operator/base/catch_exceptions.h"
#include "operator/base/file.h"
#include "operator/client/auth/subprocess.h"
#include "operator/client/transport/base64.h"
#include "operator/json/json_document.h"

namespace yad {
namespace {

constexpr std::chrono::seconds kMinimumAge{5};

// Returns the value of KUBERNETES_EXEC_INFO, the environment variable with the plugin's input. The value describes the
// cluster if the kubeconfig sets provideClusterInfo.
std::string ExecInfo(const ClusterConfig& config) {
  Json spec = {{"interactive", false}};
  if (config.exec->provide_cluster_info) {
    Json cluster = {{"server", config.server}};
    if (!config.tls_server_name.empty()) cluster["tls-server-name"] = config.tls_server_name;
    if (config.insecure_skip_tls_verify) cluster["insecure-skip-tls-verify"] = true;
    if (!config.tls.ca_pem.empty()) cluster["certificate-authority-data"] = Base64Encode(config.tls.ca_pem);
    if (!config.proxy_url.empty()) cluster["proxy-url"] = config.proxy_url;
    spec["cluster"] = std::move(cluster);
  }
  return DumpJson({{"apiVersion", config.exec->api_version}, {"kind", "ExecCredential"}, {"spec", std::move(spec)}});
}

// Returns true for a time in the year 2200 or later. Some plugins use this time for "never", but ParseTime rejects it.
bool IsFarAway(const std::string& time) {
  constexpr std::size_t kYear = 4;
  return time.size() > kYear && time.substr(0, kYear) >= "2200" && ParseTime("2196" + time.substr(kYear)) != WallTime{};
}

}  // namespace

Result<ExecCredential> ParseExecCredential(const std::string& output, const std::string& api_version) {
  // The error messages below quote only apiVersion and expirationTimestamp of `output`, because `output` contains the
  // credential.
  const Result<Json> parsed = ParseJson(output);
  if (!parsed || !parsed->is_object()) {
    return Fail(Reason::kConfig, output.empty() ? "it printed nothing" : "it printed no JSON object");
  }
  if (StringAt(*parsed, {"kind"}) != "ExecCredential") {
    return Fail(Reason::kConfig, "it printed no object of kind ExecCredential");
  }
  if (StringAt(*parsed, {"apiVersion"}) != api_version) {
    return Fail(Reason::kConfig, "it must print apiVersion " + api_version + ", and printed " +
                                     Excerpt(StringAt(*parsed, {"apiVersion"}), 80));
  }
  ExecCredential credential;
  credential.token = StringAt(*parsed, {"status", "token"});
  credential.client_cert_pem = StringAt(*parsed, {"status", "clientCertificateData"});
  credential.client_key_pem = StringAt(*parsed, {"status", "clientKeyData"});
  if (credential.token.find_first_of("\r\n") != std::string::npos) {
    return Fail(Reason::kConfig, "its token contains a line break");
  }
  if (credential.client_cert_pem.empty() != credential.client_key_pem.empty()) {
    return Fail(Reason::kConfig, "it printed only one of clientCertificateData and clientKeyData");
  }
  if (credential.token.empty() && credential.client_cert_pem.empty()) {
    return Fail(Reason::kConfig, "it printed neither status.token nor status.clientCertificateData");
  }
  const std::string expires = StringAt(*parsed, {"status", "expirationTimestamp"});
  if (!expires.empty() && !IsFarAway(expires)) {
    credential.expires = ParseTime(expires);
    if (*credential.expires == WallTime{}) {
      return Fail(Reason::kConfig, "its status.expirationTimestamp is not a valid time: " + Excerpt(expires, 40));
    }
  }
  return credential;
}

ExecCredentialSource::ExecCredentialSource(const ClusterConfig& config, Clock& clock, std::chrono::milliseconds timeout)
    : plugin_(*config.exec), exec_info_(ExecInfo(config)), source_(config.source), clock_(clock), timeout_(timeout) {}

Result<ExecCredential> ExecCredentialSource::Get(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (!ended_.wait(lock, stop, [&] { return !running_; }))
    return Fail(Reason::kCancelled, source_ + ": the request was cancelled while the exec credential plugin ran");
  if (cached_ && (!cached_->expires || clock_.WallNow() < *cached_->expires)) return *cached_;
  running_ = true;
  lock.unlock();
  Result<ExecCredential> fresh = CatchExceptions([&] { return Run(stop); });
  lock.lock();
  running_ = false;
  ended_.notify_all();
  if (fresh) {
    cached_ = *fresh;
    fetched_at_ = clock_.Now();
  }
  return fresh;
}

void ExecCredentialSource::Invalidate() {
  std::lock_guard lock(mutex_);
  if (clock_.Now() - fetched_at_ >= kMinimumAge) cached_.reset();
}

Result<ExecCredential> ExecCredentialSource::Run(const std::stop_token& stop) const {
  Subprocess program{plugin_.command, plugin_.args, plugin_.env, timeout_};
  program.env.emplace_back("KUBERNETES_EXEC_INFO", exec_info_);
  // Makes the Error of a failed run. Its reason is kConfig if a retry does not help. For a non-zero exit code, the
  // reason is kTransport, because a server that the plugin uses may be temporarily unavailable.
  const auto fail = [this](Reason reason, const std::string& why) {
    return Fail(reason, source_ + ": the exec credential plugin \"" + plugin_.command + "\" failed: " + why);
  };
  const Result<SubprocessResult> result = RunSubprocess(program, stop);
  if (!result) {
    const bool missing = result.error().reason == Reason::kNotFound;
    std::string why = missing ? "there is no such program" : result.error().message;
    if (missing && !plugin_.install_hint.empty()) why += "\n" + plugin_.install_hint;
    return fail(missing ? Reason::kConfig : result.error().reason, why);
  }
  if (result->exit_code != 0) {
    const std::string tail = Trim(result->error_tail);
    return fail(Reason::kTransport,
                "exit code " + std::to_string(result->exit_code) + (tail.empty() ? "" : ": " + Excerpt(tail, 1024)));
  }
  Result<ExecCredential> credential = ParseExecCredential(result->output, plugin_.api_version);
  if (!credential) return fail(credential.error().reason, credential.error().message);
  return credential;
}

}  // namespace yad
