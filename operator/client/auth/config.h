// Loads the address and the credentials of the cluster, from kubeconfig files or a pod's service account.
#ifndef OPERATOR_CLIENT_AUTH_CONFIG_H_
#define OPERATOR_CLIENT_AUTH_CONFIG_H_

#include <memory>
#include <string>

#include "operator/base/error.h"
#include "operator/client/auth/cluster_config.h"
#include "operator/client/client.h"

namespace yad {

inline constexpr char kServiceAccountDirectory[] = "/var/run/secrets/kubernetes.io/serviceaccount";

// Selects the source to use in a pod that also has ~/.kube/config.
enum class InPod {
  kServiceAccount,  // the service account, as for the operator
  kHomeFile,        // ~/.kube/config, as for kubectl, unless the file is empty
};

// Finds the config in the first of these sources that is set or exists:
// - the file `kubeconfig_flag`;
// - the files in $KUBECONFIG, which are merged (the first file that sets a value wins);
// - the pod's service account and ~/.kube/config (`in_pod` selects which of them is first).
//
// If `context` is empty, current-context is used. If it is set, the service account is skipped, because it has no
// contexts. Fails with kConfig. The message contains the file, the entry and the fix.
Result<ClusterConfig> LoadClusterConfig(const std::string& kubeconfig_flag, const std::string& context = "",
                                        InPod in_pod = InPod::kServiceAccount,
                                        const std::string& service_account = kServiceAccountDirectory);

// Returns the config of the pod's service account. Reads KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT and the files
// in `directory`.
Result<ClusterConfig> LoadInClusterConfig(const std::string& directory = kServiceAccountDirectory);

// Returns a client for the cluster in `config`. The client reads changed token and certificate files again. It runs
// exec plugins, and runs them again when their credentials have expired.
Result<std::unique_ptr<Client>> MakeClient(const ClusterConfig& config, ClientOptions options);

}  // namespace yad

#endif  // OPERATOR_CLIENT_AUTH_CONFIG_H_
