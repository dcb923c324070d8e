// Compares a plan with the caches while the plan is applied, because thousands of writes take minutes, and users may
// stop them during this time. The checks do not send requests, so they run before each write.
#ifndef OPERATOR_YURTAPPDAEMON_APPLY_CACHE_CHECKS_H_
#define OPERATOR_YURTAPPDAEMON_APPLY_CACHE_CHECKS_H_

#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/yurtappdaemon/observe/stores.h"
#include "operator/yurtappdaemon/plan/plan.h"

namespace yad {

// Fails with kConflict if the daemon in the cache has a newer spec than `planned`, or was deleted or replaced.
// `planned` is the daemon's metadata in the plan. An older spec in the cache is not an error, because the cache may
// lag. A cache that is not filled is not compared.
Status DaemonIsAsPlanned(const ReconcilerStores& stores, const ObjectMeta& planned);

// Fails with kConflict if one of these has happened since the plan was made:
// - A freeze began.
// - The pool's update window closed, or the pool's windows or time zone changed and its window is closed now. This also
//   stops a rollback. The next plan continues the rollback, because windows do not delay rollbacks.
// - The pool was held: by its annotation, by invalid windows, or by the condition of a Node.
//
// A cache that is null or not filled is not compared, and neither are the Nodes while their watch fails.
Status GatesAreAsPlanned(const ReconcilerStores& stores, const YurtAppDaemon& daemon, const Plan& plan,
                         const PoolPlan& pool, WallTime now);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_APPLY_CACHE_CHECKS_H_
