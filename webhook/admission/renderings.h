// Selects the renderings of a YurtAppDaemon for dry runs. A rendering is the workload for one pool, with the overrides
// and the tolerations of that pool. Pure, except for reads of the caches.
#ifndef WEBHOOK_ADMISSION_RENDERINGS_H_
#define WEBHOOK_ADMISSION_RENDERINGS_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "operator/yurtappdaemon/plan/plan.h"
#include "webhook/admission/admission_stores.h"

namespace yad {

// The name of a pool that does not exist. It is used where a template is tried without a real pool.
inline constexpr char kAnyPool[] = "any";

// One rendering. If several pools have the same rendering, the plans are for the first of them.
struct Rendering {
  PoolPlan plan;          // `to`: with the new spec; `from`: the spec that made the workload, but see `origin`
  PoolPlan before;        // the same pool with the old spec; before.to.revision is null if there is no old spec
  bool any_pool = false;  // true: no pool is selected now, so the plan is for kAnyPool
  PoolRef pool;           // has no object if `any_pool`
  // The ControllerRevision that made the workload, if it is not the one of the old spec. `from` is then unset in both
  // plans. OriginOf parses the revision only when it is needed, because the parsed tree is large.
  ObjectPtr origin;
  // True if the cache does not have the revision that made the workload. It is then unknown which values a merge must
  // remove.
  bool unknown_origin = false;
};

// Parses `origin`, the revision that made the workload. It must be set. Returns the value of `from` for both plans of
// the rendering.
RenderSpec OriginOf(const Rendering& rendering);

// Returns the different renderings of `wanted` for the pools that it selects now, at most `limit`. `before` is the
// object before an update; null for a new one.
// - Two pools have the same rendering if they have equal taints, and overrides with equal effects.
// - If no pool is selected, or if the cache of pools has not synced, returns one rendering for kAnyPool.
//
// The order is:
// - first renderings with different overrides, because they are more likely to have different faults, and then
//   renderings that differ only in taints;
// - in each of these two parts, first pools with a workload, and then the others;
// - by name.
//
// With thousands of pools and overrides, this may take seconds. As soon as `expired` returns true, the function returns
// the renderings that it has found.
std::vector<Rendering> DistinctRenderings(const YurtAppDaemon& wanted, const YurtAppDaemon* before,
                                          const AdmissionStores& stores, std::size_t limit,
                                          const std::function<bool()>& expired);

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_RENDERINGS_H_
