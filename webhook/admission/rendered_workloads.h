// Selects the rendered workloads of a YurtAppDaemon for dry runs. Pure, except for reads of the caches.
#ifndef WEBHOOK_ADMISSION_RENDERED_WORKLOADS_H_
#define WEBHOOK_ADMISSION_RENDERED_WORKLOADS_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "operator/yurtappdaemon/plan/plan.h"
#include "webhook/admission/admission_stores.h"

namespace yad {

// The name of a pool that does not exist. Used to try a template without a real pool.
inline constexpr char kAnyPool[] = "any";

// The rendered workload for one pool, with the overrides and the tolerations of the pool. If several pools have the
// same rendered workload, the plans are for the first of these pools.
struct RenderedWorkload {
  PoolPlan plan;    // `to`: with the new spec; `from`: the spec from which the workload was rendered, but see `origin`
  PoolPlan before;  // the same pool with the old spec; before.to.revision is null for a new object
  PoolRef pool;     // has no object if no pool is selected now; the plan is then for kAnyPool
  // The ControllerRevision from which the workload was rendered, if it is not the revision of the old spec. `from` is
  // then unset in both plans. OriginOf parses the revision only when it is needed, because the parsed tree is large.
  ObjectPtr origin;
  // True if the cache does not have the revision from which the workload was rendered. It is then unknown which values
  // a merge must remove.
  bool unknown_origin = false;
};

// Parses `origin`, which must be set. Returns the value of `from` for both plans.
RenderSpec OriginOf(const RenderedWorkload& rendered);

// Returns the different rendered workloads of `wanted` for the pools that it selects now, at most `limit`. `before` is
// the object before an update; null for a new object.
// - Two pools have the same rendered workload if they have equal taints, and overrides with equal effects.
// - If no pool is selected, or if the cache of pools has not synced, returns one workload for kAnyPool.
//
// The order is:
// - first workloads with different overrides, because they are more likely to have different errors, and then workloads
//   that differ only in taints;
// - in each of these two parts, first pools that have a workload, and then the other pools;
// - by name.
//
// With thousands of pools and overrides, this may take seconds. As soon as `expired` returns true, the function returns
// the workloads that it has found.
std::vector<RenderedWorkload> DistinctWorkloads(const YurtAppDaemon& wanted, const YurtAppDaemon* before,
                                                const AdmissionStores& stores, std::size_t limit,
                                                const std::function<bool()>& expired);

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_RENDERED_WORKLOADS_H_
