#include "operator/yurtappdaemon/plan/prefetches.h"

#include <algorithm>
#include <vector>

#include "operator/base/join.h"

namespace yad {
namespace {

// Returns the images in `target`, the rendered workload after the update, that the workload does not have yet.
std::vector<PulledImage> NewImagesOf(const PrefetchedUpdate& update, const Json& target) {
  std::vector<PulledImage> images = ImagesToPull(target);
  const auto made = update.from.revision != nullptr ? RenderWorkload(update.from, update.pool) : Fail(Error());
  const std::vector<PulledImage> present = ImagesToPull(made ? *made : update.workload.object->Parse());
  std::erase_if(images, [&](const PulledImage& image) {
    return std::any_of(present.begin(), present.end(),
                       [&](const PulledImage& one) { return one.reference == image.reference; });
  });
  return images;
}

}  // namespace

Result<Json> PodsOf(const PrefetchedUpdate& update) {
  YAD_TRY(const auto target, RenderWorkload(update.to, update.pool));
  return PrefetchPods(target, NewImagesOf(update, target));
}

bool Prefetches::BringsImages(const PrefetchedUpdate& update) {
  const auto compare = [&] {
    const auto target = RenderWorkload(update.to, update.pool);
    return target && !NewImagesOf(update, *target).empty();
  };
  if (update.from.revision == nullptr || !update.from.inputs.overrides.empty() || !update.to.inputs.overrides.empty())
    return compare();
  const auto [known, is_new] =
      brings_images_.try_emplace({update.from.revision.get(), update.to.revision.get()}, false);
  if (is_new) known->second = compare();
  return known->second;
}

// Sets prefetch.images to kPulled if all nodes that the DaemonSet controller counts have the images. The controller
// also counts nodes that are not ready, if the pods tolerate the taints of these nodes.
//
// NodePool.status.readyNodeNum can't replace this count. Example: one of two nodes is not ready, but OpenYurt keeps its
// pods Ready, because the node is autonomous. readyNodeNum and `ready` are then both 1, although the ready node still
// pulls.
void Prefetches::Evaluate(const PrefetchRef& daemon_set, PoolPrefetch& prefetch) const {
  const PrefetchState& state = daemon_set.state();
  const bool no_node = state.observed && state.desired == 0;
  if ((no_node && snapshot_.now >= daemon_set.since + kNoNodeAfter) ||
      (state.observed && state.desired > 0 && state.ready >= state.desired)) {
    prefetch.images = NewImages::kPulled;
    return;
  }
  if (state.observed && !no_node) {
    prefetch.message +=
        ": " + std::to_string(state.ready) + " of " + Pluralize(state.desired, "node has", "nodes have") + " them";
  }
  ApplyTimeout(daemon_set.since, prefetch);
  if (no_node && prefetch.due) prefetch.due = std::min(daemon_set.since + kNoNodeAfter, *prefetch.due);
}

void Prefetches::ApplyTimeout(WallTime since, PoolPrefetch& prefetch) const {
  const Prefetch& wanted = *snapshot_.daemon.strategy.rolling.prefetch;
  if (snapshot_.now < since + wanted.timeout) {
    prefetch.due = since + wanted.timeout;
    return;
  }
  prefetch.images = wanted.waits ? NewImages::kLate : NewImages::kPulled;
  prefetch.message +=
      "; timeoutSeconds (" + std::to_string(wanted.timeout.count()) + ") has passed, but onTimeout is Wait";
}

PoolPrefetch Prefetches::Of(const PrefetchedUpdate& update) {
  PoolPrefetch prefetch;
  if (!snapshot_.daemon.strategy.rolling.prefetch) return prefetch;
  if (snapshot_.image_volumes.state == ImageVolumeSupport::State::kDropped || !BringsImages(update)) return prefetch;
  prefetch.images = NewImages::kMissing;
  prefetch.name = PrefetchName(update.workload.object->meta().key.name);
  prefetch.message = "the pool's nodes pull the new images before the update";
  const auto found = snapshot_.prefetches.find(prefetch.name);
  const auto rejected = snapshot_.rejected_prefetches.find(prefetch.name);
  prefetch.exists = found != snapshot_.prefetches.end();
  if (prefetch.exists ? found->second.object->meta().deleting() : rejected == snapshot_.rejected_prefetches.end())
    return prefetch;
  const auto pods = PodsOf(update);
  const std::string digest = pods ? PrefetchDigest(*pods) : "";
  if (prefetch.exists) {
    prefetch.current = pods && found->second.state().digest == digest;
    if (prefetch.current) Evaluate(found->second, prefetch);
  } else if (rejected->second.digest == digest) {
    prefetch.message += "; DaemonSet " + prefetch.name + " can't be created: " + rejected->second.message;
    ApplyTimeout(rejected->second.since, prefetch);
  }
  return prefetch;
}

}  // namespace yad
