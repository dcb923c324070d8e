// Decides whether the nodes of a pool have the new images of its update. A DaemonSet pulls them. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_PLAN_PREFETCHES_H_
#define OPERATOR_YURTAPPDAEMON_PLAN_PREFETCHES_H_

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "operator/workload/prefetch.h"
#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/plan/assess.h"
#include "operator/yurtappdaemon/rollout/rollout.h"

namespace yad {

// A DaemonSet that reports no nodes counts as finished at this age. Before, its controller might not have counted the
// nodes yet.
inline constexpr std::chrono::seconds kNoNodeAfter{10};

// The pull of images for one pool in a plan.
struct PoolPrefetch {
  NewImages images = NewImages::kNone;
  std::string name;             // of the DaemonSet; "": no image is pulled before the update
  bool exists = false;          // an object has this name
  bool current = false;         // the object is for this update
  std::optional<WallTime> due;  // the next time at which `images` may change without an event
  std::string message;          // what the update waits for
  bool starts = false;          // the DaemonSet is created now
  bool ends = false;            // the DaemonSet is deleted when the update has been written
  Json pods;                    // PrefetchPods; only if it starts
};

// The update of one pool.
struct PrefetchedUpdate {
  const std::string& pool;
  const WorkloadRef& workload;
  const RenderSpec& from;  // the spec from which the workload was rendered
  const RenderSpec& to;    // the target
};

// One object for each plan; not thread-safe. The snapshot must outlive it.
class Prefetches {
 public:
  explicit Prefetches(const Snapshot& snapshot) : snapshot_(snapshot) {}

  // Returns the state of the pull of images for an update that has not started yet.
  PoolPrefetch Of(const PrefetchedUpdate& update);

 private:
  // Returns whether the update has images that the workload does not have.
  bool BringsImages(const PrefetchedUpdate& update);
  void Evaluate(const PrefetchRef& daemon_set, PoolPrefetch& prefetch) const;
  // If the timeout (from `since`) is over, ends the wait for the images, or marks them as late if onTimeout is Wait.
  void ApplyTimeout(WallTime since, PoolPrefetch& prefetch) const;

  const Snapshot& snapshot_;
  // The known results of BringsImages, by the revisions before and after the update. Only for pools without overrides,
  // because the result for a pool with overrides also depends on the overrides.
  std::map<std::pair<const Revision*, const Revision*>, bool> brings_images_;
};

// Returns PrefetchPods for the update. Fails as Render does.
Result<Json> PodsOf(const PrefetchedUpdate& update);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_PREFETCHES_H_
