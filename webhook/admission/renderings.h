// Selects the renderings of a YurtAppDaemon for dry runs. Pure, except for reads of the caches.
#ifndef WEBHOOK_ADMISSION_RENDERINGS_H_
#define WEBHOOK_ADMISSION_RENDERINGS_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "operator/yurtappdaemon/plan/plan.h"
#include "webhook/admission/admission_stores.h"

namespace yad {

// The name of the made-up pool for which a template is tried if no pool is selected.
inline constexpr char kAnyPool[] = "any";

// One rendering, for the first of the pools that share it.
struct Rendering {
  PoolPlan plan;          // `to`: with the new spec; `from`: with the old spec, if there is one
  PoolPlan before;        // the same pool with the old spec; before.to.revision is null if there is no old spec
  bool any_pool = false;  // true: no pool is selected now, so the plan is for a pool that does not exist
};

// Returns the distinct renderings of `wanted` for the pools that it selects now, at most `limit`. Two renderings are
// distinct if their pools have different taints, or overrides with different effects. The first renderings differ in
// overrides, the later ones only in taints. In each of these two parts, pools with a workload come before the other
// pools, and both are sorted by name. If several pools have the same rendering, the first one is used. `before` is the
// object before an update; null for a new one. If no pool is selected, or the cache of pools has not synced, the result
// is one rendering for a pool that does not exist.
//
// With thousands of pools and overrides, this may take seconds. As soon as `expired` returns true, the function returns
// the renderings that it has found.
std::vector<Rendering> DistinctRenderings(const YurtAppDaemon& wanted, const YurtAppDaemon* before,
                                          const AdmissionStores& stores, std::size_t limit,
                                          const std::function<bool()>& expired);

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_RENDERINGS_H_
