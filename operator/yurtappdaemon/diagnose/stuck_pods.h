// Pods that block the update of a StatefulSet.
//
// A StatefulSet replaces its pods in order, and waits for each one to become ready. A pod of a bad template never
// becomes ready. The StatefulSet still waits for this pod after its template is fixed or rolled back
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

// Deletes the stuck pods of the StatefulSet, and returns their names. A pod is stuck if its template is older than the
// newest one, it has not been ready since `since`, its node is not lost (LostItsNode), and the StatefulSet's partition
// does not keep it.
// - Deletes no pod while a pod of the newest template is not ready, or while the StatefulSet replaces a pod. The newest
//   template may be bad, and an old pod that is unready only for a moment may belong to a quorum.
// - Reads the StatefulSet and all its pods live. Keeps one page of pods in memory, and makes at most 500 deletions.
Result<std::vector<std::string>> ReplaceStuckPods(Client& client, const ObjectKey& stateful_set, const std::string& uid,
                                                  WallTime since, std::stop_token stop);

// These limits keep a reconcile with thousands of stuck pools from taking minutes. The first limits the pools of one
// reconcile, and the second limits the pools whose pods are read in parallel.
inline constexpr std::size_t kMostStuckPools = 200;
inline constexpr std::size_t kStuckPoolsInParallel = 10;

// Returns the pools whose StatefulSet may be stuck and is not written now. If there are more than kMostStuckPools,
// returns that many, beginning after the pool `last`, and sets `last` to the last returned pool. Pure.
std::vector<const PoolPlan*> NextStuckPools(const Plan& plan, std::string& last);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_DIAGNOSE_STUCK_PODS_H_
