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

RenewingTransport::Source WithClientCertificateOf(std::shared_ptr<ExecCredentialSource> plugin,
                                                  std::shared_ptr<TlsMaterialReader> files) {
  return [plugin = std::move(plugin),
          files = std::move(files)](const std::stop_token& stop) -> Result<std::shared_ptr<const TlsMaterial>> {
    YAD_TRY(ExecCredential credential, plugin->Get(stop));
    std::shared_ptr<const TlsMaterial> material = files->Get();
    if (credential.client_cert_pem.empty()) return material;
    return std::make_shared<const TlsMaterial>(TlsMaterial{.ca_pem = material->ca_pem,
                                                           .client_cert_pem = std::move(credential.client_cert_pem),
                                                           .client_key_pem = std::move(credential.client_key_pem)});
  };
}

// Makes the client read the certificate files again after a 401. The server may have rejected the client certificate
// because the CA that signed it has changed.
void RereadAfterRejection(const TlsFiles& paths, std::shared_ptr<TlsMaterialReader> files, ClientOptions& options) {
  if (paths.client_cert.empty()) return;
  options.on_unauthorized = [files = std::move(files), others = std::move(options.on_unauthorized)] {
    files->Invalidate();
    if (others) others();
  };
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
  config.ca_pem = std::move(*ca);
  const Result<std::string> ns = ReadSmallFile(directory + "/namespace");
  if (ns && !Trim(*ns).empty()) config.ns = Trim(*ns);
  return config;
}

Result<std::unique_ptr<Client>> MakeClient(const ClusterConfig& config, ClientOptions options) {
  TransportOptions transport_options;
  transport_options.server = config.server;
  transport_options.tls_server_name = config.tls_server_name;
  transport_options.insecure_skip_tls_verify = config.insecure_skip_tls_verify;
  transport_options.proxy_url = config.proxy_url;
  const auto files = std::make_shared<TlsMaterialReader>(
      config.tls_files,
      TlsMaterial{
          .ca_pem = config.ca_pem, .client_cert_pem = config.client_cert_pem, .client_key_pem = config.client_key_pem},
      Clock::Real());
  const auto fail = [&config](const Error& error) { return Fail(error.reason, config.source + ": " + error.message); };

  if (config.exec) {
    auto source = std::make_shared<ExecCredentialSource>(config, Clock::Real());
    auto transport = std::make_shared<RenewingTransport>(
        std::move(transport_options), WithClientCertificateOf(source, files), [files] { files->Invalidate(); });
    // Runs the plugin at startup. Fails if the configuration is wrong, for example because the plugin is missing or
    // does not print a credential. Does not fail if the plugin exits with an error or hangs, because it may work later.
    if (const auto current = transport->Current(); !current && current.error().reason == Reason::kConfig) {
      return Fail(current.error());
    }
    options.authorization = [source](const std::stop_token& stop) -> Result<std::string> {
      YAD_TRY(ExecCredential credential, source->Get(stop));
      return credential.token.empty() ? "" : "Bearer " + credential.token;
    };
    options.on_unauthorized = [source] { source->Invalidate(); };
    RereadAfterRejection(config.tls_files, files, options);
    return std::make_unique<Client>(std::move(transport), std::move(options));
  }

  auto transport = std::make_shared<RenewingTransport>(
      std::move(transport_options), [files](const std::stop_token&) { return files->Get(); },
      [files] { files->Invalidate(); });
  if (const auto current = transport->Current(); !current) return fail(current.error());
  if (!config.token_file.empty()) {
    auto file = std::make_shared<TokenFile>(config.token_file, Clock::Real());
    if (const Result<std::string> token = file->Get(); !token) return fail(token.error());
    options.authorization = [file](const std::stop_token&) -> Result<std::string> {
      YAD_TRY(std::string token, file->Get());
      return "Bearer " + token;
    };
    options.on_unauthorized = [file] { file->Invalidate(); };
  } else if (!config.token.empty()) {
    options.authorization = [header = "Bearer " + config.token](const std::stop_token&) -> Result<std::string> {
      return header;
    };
  } else if (!config.username.empty()) {
    options.authorization = [header = "Basic " + Base64Encode(config.username + ":" + config.password)](
                                const std::stop_token&) -> Result<std::string> { return header; };
  }
  RereadAfterRejection(config.tls_files, files, options);
  return std::make_unique<Client>(std::move(transport), std::move(options));
}

}  // namespace yad
