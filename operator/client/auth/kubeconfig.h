// Parsing of kubeconfig files. Only kubeconfig.cc includes the YAML library.
#ifndef OPERATOR_CLIENT_AUTH_KUBECONFIG_H_
#define OPERATOR_CLIENT_AUTH_KUBECONFIG_H_

#include <string>
#include <vector>

#include "operator/base/error.h"
#include "operator/client/auth/cluster_config.h"

namespace yad {

struct KubeconfigFile {
  std::string path;  // for messages; relative paths in the file are relative to its directory
  std::string text;
};

// Merges the files as kubectl does: the first file that has a cluster, a user or a context wins, entry by entry.
// Returns the config of one context; an empty `context` selects the first current-context. Reads the certificates and
// keys that the context refers to.
Result<ClusterConfig> ConfigFromKubeconfig(const std::vector<KubeconfigFile>& files, const std::string& context);

}  // namespace yad

#endif  // OPERATOR_CLIENT_AUTH_KUBECONFIG_H_
