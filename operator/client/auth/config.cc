#include "operator/client/auth/config.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "operator/base/file.h"
#include "operator/client/auth/exec_credential.h"
#include "operator/client/auth/kubeconfig.h"
#include "operator/client/auth/token_source.h"
#include "operator/client/transport/base64.h"
#include "operator/client/transport/renewing_transport.h"

namespace yad {
namespace {

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// Returns whether the file exists and has more than white space.
bool HasContent(const std::string& path) {
  if (path.empty() || !Exists(path)) return false;
  const Result<std::string> text = ReadSmallFile(path);
  return !text || !Trim(*text).empty();  // An unreadable file must not be skipped, but become an error.
}

Result<ClusterConfig> LoadFile(const std::string& path, const std::string& context) {
  Result<std::string> text = ReadSmallFile(path);
  if (!text) return Fail(Reason::kConfig, "kubeconfig " + text.error().message);
  return ConfigFromKubeconfig({{path, std::move(*text)}}, context);
}

// Loads the files that $KUBECONFIG lists. Missing files are skipped, as in kubectl, but at least one must exist.
Result<ClusterConfig> LoadList(const std::string& list, const std::string& context) {
  std::vector<KubeconfigFile> files;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    const std::string path = list.substr(begin, end - begin);
    begin = end + 1;
    if (path.empty() || !Exists(path)) continue;
    Result<std::string> text = ReadSmallFile(path);
    if (!text) return Fail(Reason::kConfig, "kubeconfig " + text.error().message);
    files.push_back({path, std::move(*text)});
  }
  if (files.empty()) {
    return Fail(Reason::kConfig, "KUBECONFIG is set to \"" + list +
                                     "\", and no such file exists (correct it, unset it, or give --kubeconfig FILE)");
  }
  return ConfigFromKubeconfig(files, context);
}

RenewingTransport::SetIdentity IdentityOf(std::shared_ptr<ExecCredentialSource> plugin) {
  if (plugin == nullptr) return nullptr;
  return [plugin = std::move(plugin)](const std::stop_token& stop, TlsMaterial& material) -> Status {
    YAD_TRY(ExecCredential credential, plugin->Get(stop));
    if (credential.client_cert_pem.empty()) return {};
    material.client_cert_pem = std::move(credential.client_cert_pem);
    material.client_key_pem = std::move(credential.client_key_pem);
    return {};
  };
}

// Sets how the client authenticates, except for its certificate. `plugin` may be null.
Status SetAuthorization(const ClusterConfig& config, const std::shared_ptr<ExecCredentialSource>& plugin,
                        ClientOptions& options) {
  const auto always = [](std::string header) {
    return [header = std::move(header)](const std::stop_token&) -> Result<std::string> { return header; };
  };
  if (plugin != nullptr) {
    options.authorization = [plugin](const std::stop_token& stop) -> Result<std::string> {
      YAD_TRY(ExecCredential credential, plugin->Get(stop));
      return credential.token.empty() ? "" : "Bearer " + credential.token;
    };
    options.on_unauthorized = [plugin] { plugin->Invalidate(); };
  } else if (!config.token_file.empty()) {
    auto file = std::make_shared<TokenFile>(config.token_file, Clock::Real());
    YAD_TRY_VOID(file->Get());
    options.authorization = [file](const std::stop_token&) -> Result<std::string> {
      YAD_TRY(std::string token, file->Get());
      return "Bearer " + token;
    };
    options.on_unauthorized = [file] { file->Invalidate(); };
  } else if (!config.token.empty()) {
    options.authorization = always("Bearer " + config.token);
  } else if (!config.username.empty()) {
    options.authorization = always("Basic " + Base64Encode(config.username + ":" + config.password));
  }
  return {};
}

}  // namespace

Result<ClusterConfig> LoadClusterConfig(const std::string& kubeconfig_flag, const std::string& context, InPod in_pod,
                                        const std::string& service_account) {
  if (!kubeconfig_flag.empty()) return LoadFile(kubeconfig_flag, context);
  if (const std::string list = EnvironmentVariable("KUBECONFIG"); !list.empty()) return LoadList(list, context);
  const std::string token = service_account + "/token";
  const bool is_pod = !EnvironmentVariable("KUBERNETES_SERVICE_HOST").empty();
  const std::string home = EnvironmentVariable("HOME");
  const std::string home_file = home.empty() ? "" : home + "/.kube/config";
  const bool prefers_home = in_pod == InPod::kHomeFile && HasContent(home_file);
  if (context.empty() && is_pod && Exists(token) && !prefers_home) return LoadInClusterConfig(service_account);
  if (!home.empty() && Exists(home_file)) return LoadFile(home_file, context);
  return Fail(
      Reason::kConfig,
      "no cluster was found: --kubeconfig is not given, KUBECONFIG is not set, " +
          (!context.empty() ? "the service account of a pod has no context \"" + context + "\""
           : is_pod ? "the pod has no service account token (" + token + "; is automountServiceAccountToken false?)"
                    : std::string("this process does not run in a pod (KUBERNETES_SERVICE_HOST is not set)")) +
          ", and " + (home.empty() ? "HOME is not set" : home_file + " does not exist") +
          " (give --kubeconfig FILE, or set KUBECONFIG)");
}

Result<ClusterConfig> LoadInClusterConfig(const std::string& directory) {
  const std::string host = EnvironmentVariable("KUBERNETES_SERVICE_HOST");
  const std::string port = EnvironmentVariable("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty()) {
    return Fail(Reason::kConfig,
                "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this process does not run in a pod");
  }
  ClusterConfig config;
  const bool ipv6 = host.find(':') != std::string::npos;
  config.server = "https://" + (ipv6 ? "[" + host + "]" : host) + ":" + port;
  config.source = "the pod's service account";
  config.token_file = directory + "/token";
  const Result<std::string> token = ReadSmallFile(config.token_file);
  if (!token) {
    return Fail(Reason::kConfig, "the pod's service account token cannot be read: " + token.error().message +
                                     " (is automountServiceAccountToken false?)");
  }
  config.tls_files.ca = directory + "/ca.crt";
  Result<std::string> ca = ReadNonEmptyFile(config.tls_files.ca);
  if (!ca) return Fail(Reason::kConfig, "the cluster's CA cannot be read: " + ca.error().message);
  config.tls.ca_pem = std::move(*ca);
  const Result<std::string> ns = ReadSmallFile(directory + "/namespace");
  if (ns && !Trim(*ns).empty()) config.ns = Trim(*ns);
  return config;
}

Result<std::unique_ptr<Client>> MakeClient(const ClusterConfig& config, ClientOptions options) {
  const auto fail = [&config](const Error& error) { return Fail(error.reason, config.source + ": " + error.message); };
  std::shared_ptr<ExecCredentialSource> plugin;
  if (config.exec) plugin = std::make_shared<ExecCredentialSource>(config, Clock::Real());
  const auto transport = std::make_shared<RenewingTransport>(config, config.tls_files, IdentityOf(plugin));
  // Runs the plugin at startup. Fails if the configuration is wrong, for example because the plugin is missing or does
  // not print a credential. Does not fail if the plugin exits with an error or hangs, because it may work later.
  const auto current = transport->Current();
  if (!current && plugin == nullptr) return fail(current.error());
  if (!current && current.error().reason == Reason::kConfig) return Fail(current.error());
  if (const Status set = SetAuthorization(config, plugin, options); !set) return fail(set.error());
  // Makes the client read the certificate files again after a 401. The server may have rejected the client certificate
  // because the CA that signed it has changed.
  if (!config.tls_files.client_cert.empty()) {
    options.on_unauthorized = [transport, others = std::move(options.on_unauthorized)] {
      transport->RereadFiles();
      if (others) others();
    };
  }
  return std::make_unique<Client>(transport, std::move(options));
}

}  // namespace yad
