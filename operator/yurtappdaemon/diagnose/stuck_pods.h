// Pods that block the update of a StatefulSet.
//
// A StatefulSet replaces its pods in order, and waits for each one to become ready. After its template is fixed or
// rolled back, the StatefulSet still waits for a pod of the bad template, which never becomes ready
// (kubernetes/kubernetes issue 67250).
#ifndef OPERATOR_YURTAPPDAEMON_DIAGNOSE_STUCK_PODS_H_
#define OPERATOR_YURTAPPDAEMON_DIAGNOSE_STUCK_PODS_H_

#include <stop_token>
#include <string>
#include <vector>

#include "operator/base/error.h"
#include "operator/client/client.h"
#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/plan/plan.h"

namespace yad {

// Deletes the pods of the StatefulSet that have an older template than its newest, have not been ready since `since`,
// and are not kept by its partition. Returns their names.
// - Deletes no pod while a pod of the newest template is not ready, or while the StatefulSet replaces a pod. The newest
//   template may be bad, and an old pod that is unready only for a moment may belong to a quorum.
// - Reads the StatefulSet and all its pods live. Keeps one page of pods in memory, and makes at most 500 deletions.
Result<std::vector<std::string>> ReplaceStuckPods(Client& client, const ObjectKey& stateful_set, const std::string& uid,
                                                  WallTime since, std::stop_token stop);

// The maximum number of pools in one reconcile, and of pools whose pods are read in parallel: a reconcile with
// thousands of stuck pools must not take minutes.
inline constexpr std::size_t kMostStuckPools = 200;
inline constexpr std::size_t kStuckPoolsInParallel = 10;

// Returns the pools whose StatefulSet may be stuck and is not written now: at most kMostStuckPools. If there are more,
// those after pool `last` come first, and `last` becomes the name of the last returned pool. Pure.
std::vector<const PoolPlan*> NextStuckPools(const Plan& plan, std::string& last);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_DIAGNOSE_STUCK_PODS_H_
