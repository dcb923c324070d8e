// Deletes pods that block the update of a StatefulSet.
//
// A StatefulSet replaces its pods in order, and waits until each new pod is ready. A pod of a bad template never
// becomes ready, and blocks the StatefulSet even after the template is fixed (kubernetes/kubernetes issue 67250).
#ifndef OPERATOR_YURTAPPDAEMON_DIAGNOSE_STUCK_PODS_H_
#define OPERATOR_YURTAPPDAEMON_DIAGNOSE_STUCK_PODS_H_

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/client/client.h"
#include "operator/client/rate_limiter.h"
#include "operator/yurtappdaemon/plan/plan.h"

namespace yad {

// Deletes the stuck pods of the StatefulSet, and returns their names. A pod is stuck if:
// - its template is not the newest template
// - it has not been ready since `since`
// - its node is not lost (LostItsNode)
// - the StatefulSet's partition does not keep it
//
// Does not delete any pod in these cases:
// - The StatefulSet has another uid than `uid`, or `daemon` no longer controls it.
// - A pod of the newest template is not ready, because that template may be bad.
// - The StatefulSet is replacing a pod, because its old pods may be needed for a quorum.
// - Pods are missing, and the StatefulSet can't create them, for example because of a quota. It could not recreate a
//   deleted pod either. The StatefulSet's Events show this case. The function fails if it can't read them.
//
// If no pod of the newest template is ready yet, deletes at most one pod, because the newest template may be bad: the
// first pod, by ordinal, that is not ready. This pod blocks the StatefulSet.
//
// Reads the StatefulSet and all its pods live. Keeps one page of pods in memory, and deletes at most 500 pods.
Result<std::vector<std::string>> ReplaceStuckPods(Client& client, const ObjectMeta& daemon,
                                                  const ObjectKey& stateful_set, const std::string& uid, WallTime since,
                                                  std::stop_token stop);

// The pools whose StatefulSet may be stuck and was examined (ReplaceStuckPods), with the time of the last examination.
using ExaminedPools = std::map<std::string, SteadyTime>;

// Returns the pools to examine now, and records them in `examined`. These are pools whose StatefulSet may be stuck
// (PoolPlan::may_be_stuck) and is not written by this plan.
// - Pools that were never examined come first, and then those whose last examination is the oldest.
// - Omits pools that were examined less than kStuckAfter ago, because in a normal update every StatefulSet may be stuck
//   for a while.
// - Takes a token of `limiter` for each pool, and returns no further pool when no token is left.
std::vector<const PoolPlan*> NextStuckPools(const Plan& plan, ExaminedPools& examined, RateLimiter& limiter,
                                            SteadyTime now);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_DIAGNOSE_STUCK_PODS_H_
