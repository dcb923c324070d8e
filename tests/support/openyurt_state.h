// A daemon as yurt-manager 1.6.1 leaves it: generated names, its rules of rendering, its spelling of
// ControllerRevisions, a status without our fields. After objects of a real cluster.
#ifndef TESTS_SUPPORT_OPENYURT_STATE_H_
#define TESTS_SUPPORT_OPENYURT_STATE_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/kube.h"

namespace yad::testing {

// The template, which OpenYurt wants whole, with everything that it lost on the way to the workloads: node selector,
// required node affinity. One toleration of its own covers the taint {key: region}.
Json OpenYurtDaemon(const std::string& name, const Json& nodepool_selector, int replicas);
// The labels of nodes that they ask for: what OpenYurt made runs on any node of its pool, the next revision on these.
Json LostNodeSelector();

struct OpenYurtOptions {
  // Of the first container, oldest first; the last one is that of the daemon, and runs.
  std::vector<std::string> images = {"example.org/app:0", "example.org/app:1"};
};
// Creates the daemon, a Deployment for each of these NodePools (objects) named OpenYurtName(), and its revisions 1 to
// n. No operator may run meanwhile. Returns the daemon.
Json MakeOpenYurtState(const Kube& kube, const Json& daemon, const std::vector<Json>& pools,
                       const OpenYurtOptions& options = {});
std::string OpenYurtName(const std::string& daemon, const std::string& pool);
// The names of the revisions, oldest first.
std::vector<std::string> OpenYurtRevisions(const std::string& daemon, const OpenYurtOptions& options = {});

// A second Deployment for that pool, as OpenYurt makes one when its cache is late: "<daemon>-<pool>-aaaaa". No pod of
// it can run.
void AddOpenYurtDuplicate(const Kube& kube, const std::string& daemon, const std::string& pool);

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_OPENYURT_STATE_H_
