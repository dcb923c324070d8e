// The address of a cluster, and credentials for it.
#ifndef OPERATOR_CLIENT_AUTH_CLUSTER_CONFIG_H_
#define OPERATOR_CLIENT_AUTH_CLUSTER_CONFIG_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operator/client/transport/transport_options.h"

namespace yad {

struct ExecCredentialPlugin {
  std::string api_version;
  std::string command;
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
  std::string install_hint;
  bool provide_cluster_info = false;
};

struct ClusterConfig : TransportOptions {
  TlsFiles tls_files;      // the files of `tls`; a changed file is read again
  std::string token;       // static bearer token
  std::string token_file;  // read again when it changes; takes precedence over `token`
  std::string username, password;
  std::optional<ExecCredentialPlugin> exec;
  std::string ns = "default";
  std::string context;  // the context in the kubeconfig; "": the pod's service account is used
  std::string source;   // for messages: "context \"dev\" of /home/me/.kube/config" or "the pod's service account"
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_AUTH_CLUSTER_CONFIG_H_
