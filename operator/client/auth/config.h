// The address of the cluster and the operator's identity, from kubeconfig files or a pod's service account.
#ifndef OPERATOR_CLIENT_AUTH_CONFIG_H_
#define OPERATOR_CLIENT_AUTH_CONFIG_H_

#include <memory>
#include <string>

#include "operator/base/error.h"
#include "operator/client/auth/cluster_config.h"
#include "operator/client/client.h"

namespace yad {

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

#endif  // OPERATOR_CLIENT_AUTH_CONFIG_H_
