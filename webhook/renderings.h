// Which renderings of a YurtAppDaemon are worth asking the apiserver about. Pure, but for the caches that it reads.
#ifndef WEBHOOK_RENDERINGS_H_
#define WEBHOOK_RENDERINGS_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "operator/yurtappdaemon/plan.h"
#include "webhook/admission_handler.h"

namespace yad {

// One rendering, for one pool that gets it.
struct Rendering {
  PoolPlan plan;          // to: what the spec asks for; from: what the spec before it asked for, where there was one
  PoolPlan before;        // the pool as the spec before it wants it; before.to.revision is null where there was none
  bool any_pool = false;  // no pool is selected now: the plan's is made up
};

// The distinct renderings of `wanted` for the pools that it selects now, at most `limit`: distinct in the overrides and
// the tolerations that go into them, other overrides before other tolerations, then by the pool's name; a pool that has
// a workload stands for the others. Those that come out as `before` (null: there is none) rendered them are left out.
// Where no pool is selected, or pools are not known yet: one, for a pool that does not exist.
//
// With thousands of pools and of overrides this may take seconds: when `expired` says so, what was found is all.
std::vector<Rendering> DistinctRenderings(const YurtAppDaemon& wanted, const YurtAppDaemon* before,
                                          const AdmissionStores& stores, std::size_t limit,
                                          const std::function<bool()>& expired);

}  // namespace yad

#endif  // WEBHOOK_RENDERINGS_H_
