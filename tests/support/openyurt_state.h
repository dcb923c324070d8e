// Creates a YurtAppDaemon and its objects as yurt-manager 1.6.1 leaves them, modelled on the objects of a real cluster:
// - The workloads have generated names.
// - The ControllerRevisions have OpenYurt's format.
// - The status lacks the fields that only this operator writes.
#ifndef TESTS_SUPPORT_OPENYURT_STATE_H_
#define TESTS_SUPPORT_OPENYURT_STATE_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/kube.h"

namespace yad::testing {

// Returns a daemon with a complete template, as OpenYurt requires:
// - A toleration covers the taint {key: region}.
// - OpenYurt does not copy the node selector and the required node affinity into the workloads.
Json OpenYurtDaemon(const std::string& name, const Json& nodepool_selector, int replicas);
// Returns the labels that the template's node selector requires. OpenYurt's workloads ignore them. The workloads of the
// operator's next revision run only on nodes with these labels.
Json LostNodeSelector();

struct OpenYurtOptions {
  // The images of the first container, oldest first. The daemon and its workloads have the last image.
  std::vector<std::string> images = {"example.org/app:0", "example.org/app:1"};
  // True: the label and the pod label of the workloads refer to the first revision, as the webhook of OpenYurt 1.5 and
  // 1.6 sets them. False: they refer to the last revision.
  bool labels_first = false;
};
// Creates the daemon, its revisions 1 to n, and a Deployment named OpenYurtName() for each of these NodePool objects.
// The operator must not run at the same time. Returns the daemon.
Json MakeOpenYurtState(const Kube& kube, const Json& daemon, const std::vector<Json>& pools,
                       const OpenYurtOptions& options = {});
std::string OpenYurtName(const std::string& daemon, const std::string& pool);
// Returns the names of the revisions, oldest first.
std::vector<std::string> OpenYurtRevisions(const std::string& daemon, const OpenYurtOptions& options = {});

// Creates a second Deployment for the pool, as OpenYurt does when its cache is stale: "<daemon>-<pool>-aaaaa". Its pods
// cannot run.
void AddOpenYurtDuplicate(const Kube& kube, const std::string& daemon, const std::string& pool);

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_OPENYURT_STATE_H_
