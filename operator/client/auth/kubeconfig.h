// Parsing of kubeconfig files. Only kubeconfig.cc includes the YAML library.
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

// Merges the files as kubectl does: if several files have a cluster, a user or a context of one name, the first one
// wins. Returns the config of one context; an empty `context` selects the first current-context. Reads the certificates
// and keys of the context.
Result<ClusterConfig> ConfigFromKubeconfig(const std::vector<KubeconfigFile>& files, const std::string& context);

}  // namespace yad

#endif  // OPERATOR_CLIENT_AUTH_KUBECONFIG_H_
