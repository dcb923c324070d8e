// Where the cluster is and who we are: kubeconfig files or a pod's service account.
#ifndef OPERATOR_CLIENT_CONFIG_H_
#define OPERATOR_CLIENT_CONFIG_H_

#include <memory>
#include <string>
#include <vector>

#include "operator/base/error.h"
#include "operator/client/client.h"
#include "operator/client/tls_material.h"
#include "operator/client/transport.h"

namespace yad {

struct ExecCredentialPlugin {
  std::string api_version;
  std::string command;
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
  std::string install_hint;
  bool provide_cluster_info = false;
};

struct ClusterConfig {
  std::string server;  // "https://host:port[/prefix]"
  std::string tls_server_name;
  bool insecure_skip_tls_verify = false;
  std::string ca_pem;           // empty: the system's CAs
  std::string client_cert_pem;  // may be empty
  std::string client_key_pem;
  TlsFiles tls_files;      // where the three above were read, and are read again
  std::string token;       // static bearer token
  std::string token_file;  // re-read when it changes; wins over token
  std::string username, password;
  std::optional<ExecCredentialPlugin> exec;
  std::string proxy_url;
  std::string ns = "default";
  std::string source;  // for messages: "context \"dev\" of /home/me/.kube/config" or "the pod's service account"
};

// The config as kubectl finds it: `kubeconfig_flag` if given, else $KUBECONFIG (several files, merged: the first that
// sets a value wins), else the pod's service account, else ~/.kube/config. `context` empty: current-context.
// Every failure is kConfig and names the file, the entry and the mend.
Result<ClusterConfig> LoadClusterConfig(const std::string& kubeconfig_flag, const std::string& context = "");

// The pod's service account: KUBERNETES_SERVICE_HOST/PORT and the files in `directory`.
Result<ClusterConfig> LoadInClusterConfig(
    const std::string& directory = "/var/run/secrets/kubernetes.io/serviceaccount");

// A client over the real transport, with the config's credentials wired in (token files re-read, exec plugins run and
// cached until they expire).
Result<std::unique_ptr<Client>> MakeClient(const ClusterConfig& config, ClientOptions options);

}  // namespace yad

#endif  // OPERATOR_CLIENT_CONFIG_H_
