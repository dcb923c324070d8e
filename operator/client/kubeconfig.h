// kubeconfig files. Only this file's .cc knows the YAML library.
#ifndef OPERATOR_CLIENT_KUBECONFIG_H_
#define OPERATOR_CLIENT_KUBECONFIG_H_

#include <string>
#include <vector>

#include "operator/base/error.h"
#include "operator/client/config.h"

namespace yad {

struct KubeconfigFile {
  std::string path;  // for messages, and what relative paths in it are relative to
  std::string text;
};

// Merges the files as kubectl does (the first that names a cluster, a user or a context wins, entry by entry), and
// makes a config of one context; `context` empty: the first current-context. Certificates and keys named in it are
// read.
Result<ClusterConfig> ConfigFromKubeconfig(const std::vector<KubeconfigFile>& files, const std::string& context);

}  // namespace yad

#endif  // OPERATOR_CLIENT_KUBECONFIG_H_
