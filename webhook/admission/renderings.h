// Selects the renderings of a YurtAppDaemon for dry runs. Pure, except that it reads caches.
#ifndef WEBHOOK_ADMISSION_RENDERINGS_H_
#define WEBHOOK_ADMISSION_RENDERINGS_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "operator/yurtappdaemon/plan/plan.h"
#include "webhook/admission/admission_stores.h"

namespace yad {

// One rendering, for one of the pools that have it.
struct Rendering {
  PoolPlan plan;          // `to`: by the new spec; `from`: by the old spec, if there is one
  PoolPlan before;        // the same pool by the old spec; before.to.revision is null if there is none
  bool any_pool = false;  // no pool is selected now, and the pool of the plan does not exist
};

// Returns the distinct renderings of `wanted` for the pools that it selects now, at most `limit`. Two renderings are
// distinct if their pools have different taints, or overrides with different effects. The first renderings differ in
// overrides, the others only in taints; each group is in the order of the pools: those with a workload first, then by
// name. The first such pool stands for the others. `before` is the object before an update, null for a new one. If no
// pool is selected, or the cache of pools has not synced, the result is one rendering, for a pool that does not exist.
//
// This may take seconds with thousands of pools and overrides. If `expired` returns true, the renderings so far are
// returned.
std::vector<Rendering> DistinctRenderings(const YurtAppDaemon& wanted, const YurtAppDaemon* before,
                                          const AdmissionStores& stores, std::size_t limit,
                                          const std::function<bool()>& expired);

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_RENDERINGS_H_
