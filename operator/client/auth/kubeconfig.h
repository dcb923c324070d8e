// Parses kubeconfig files. Only kubeconfig.cc includes the YAML library.
#ifndef OPERATOR_CLIENT_AUTH_KUBECONFIG_H_
#define OPERATOR_CLIENT_AUTH_KUBECONFIG_H_

#include <string>
#include <vector>

#include "operator/base/error.h"
#include "operator/client/auth/cluster_config.h"

namespace yad {

struct KubeconfigFile {
  std::string path;  // for messages, and as the base of relative paths in the file
  std::string text;
};

// Merges the files as kubectl does, and returns the config of one context. Reads its certificate and key files.
// - If several files have a cluster, user or context of the same name, the first file takes precedence.
// - If `context` is empty, the first current-context is used.
Result<ClusterConfig> ConfigFromKubeconfig(const std::vector<KubeconfigFile>& files, const std::string& context);

}  // namespace yad

#endif  // OPERATOR_CLIENT_AUTH_KUBECONFIG_H_
