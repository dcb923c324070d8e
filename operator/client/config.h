// The address of the cluster and the operator's identity, from kubeconfig files or a pod's service account.
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
  TlsFiles tls_files;      // the files of the three fields above, which are read again
  std::string token;       // static bearer token
  std::string token_file;  // read again when it changes; takes precedence over `token`
  std::string username, password;
  std::optional<ExecCredentialPlugin> exec;
  std::string proxy_url;
  std::string ns = "default";
  std::string source;  // for messages: "context \"dev\" of /home/me/.kube/config" or "the pod's service account"
};

// Finds the config as kubectl does: `kubeconfig_flag` if given, else $KUBECONFIG (several files are merged, and the
// first that sets a value wins), else the pod's service account, else ~/.kube/config. An empty `context` selects
// current-context. Every failure is kConfig; its message names the file, the entry and the fix.
Result<ClusterConfig> LoadClusterConfig(const std::string& kubeconfig_flag, const std::string& context = "");

// Returns the config of the pod's service account: KUBERNETES_SERVICE_HOST/PORT and the files in `directory`.
Result<ClusterConfig> LoadInClusterConfig(
    const std::string& directory = "/var/run/secrets/kubernetes.io/serviceaccount");

// Returns a client on the real transport with the config's credentials. The client reads token files again. It runs
// exec plugins and caches their credentials until they expire.
Result<std::unique_ptr<Client>> MakeClient(const ClusterConfig& config, ClientOptions options);

}  // namespace yad

#endif  // OPERATOR_CLIENT_CONFIG_H_
