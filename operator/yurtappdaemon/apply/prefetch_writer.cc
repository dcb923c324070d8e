#include "operator/yurtappdaemon/apply/prefetch_writer.h"

#include <vector>

#include "operator/api/conditions.h"
#include "operator/api/well_known.h"
#include "operator/base/parallel.h"
#include "operator/workload/prefetch.h"
#include "operator/yurtappdaemon/apply/collect.h"
#include "operator/yurtappdaemon/observe/live_daemon.h"

namespace yad {
namespace {

using State = ImageVolumeSupport::State;

std::vector<PrefetchRef> DeletionsOf(const Snapshot& snapshot, const Plan& plan, const Outcome& written) {
  std::vector<PrefetchRef> deletions = plan.outdated_prefetches;
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    if (!plan.pools[i].prefetch.ends || written.pools[i].outstanding) continue;
    const auto found = snapshot.prefetches.find(plan.pools[i].prefetch.name);
    if (found != snapshot.prefetches.end()) deletions.push_back(found->second);
  }
  return deletions;
}

}  // namespace

// Fails with kAlreadyExists if a DaemonSet of that name exists. If that DaemonSet belongs to this daemon, the next plan
// finds it in the cache.
Status PrefetchWriter::Create(const Json& daemon_set, std::stop_token stop) const {
  const auto created = client_.Create(kDaemonSetType, daemon_set, {}, stop);
  support_.LearnFrom(created);
  if (!created) return Fail(ShortError(created.error()));
  if (prefetches_ != nullptr)
    prefetches_->store().Observe(StoredObject::WithoutContent(StoredObject(*created, ProjectPrefetch)));
  return {};
}

PrefetchOutcome PrefetchWriter::Apply(const Snapshot& snapshot, const Plan& plan, const Outcome& written,
                                      std::stop_token stop) const {
  PrefetchOutcome outcome;
  const std::vector<PrefetchRef> deletions = DeletionsOf(snapshot, plan, written);
  std::vector<Json> creations;
  for (const PoolPlan& pool : plan.pools) {
    if (!pool.prefetch.starts) continue;
    creations.push_back(MakePrefetch(snapshot.daemon, pool.pool, pool.prefetch.name, pool.prefetch.pods, pause_));
  }
  if (creations.empty() && deletions.empty()) return outcome;
  if (const auto live = ConfirmDaemon(client_, snapshot.daemon.meta, stop); !live) {
    outcome.rejected = snapshot.rejected_prefetches;
    outcome.retry = live.error();
    return outcome;
  }
  const auto reject = [&](const Json& daemon_set, const Error& error) {
    const std::string name = StringAt(daemon_set, {"metadata", "name"});
    RejectedPrefetch rejected{Cut(error.message, kMaxMessage / 2),
                              StringAt(daemon_set, {"metadata", "annotations", kPrefetchDigestAnnotation}),
                              snapshot.now};
    const auto before = snapshot.rejected_prefetches.find(name);
    if (before != snapshot.rejected_prefetches.end() && before->second.digest == rejected.digest)
      rejected.since = before->second.since;
    outcome.rejected.emplace(name, std::move(rejected));
    outcome.retry = error;
  };
  while (!creations.empty()) {
    const auto support = support_.Find(creations.front(), stop);
    if (support && support->state == State::kDropped) creations.clear();
    if (support) break;
    // kAlreadyExists affects only the first DaemonSet, so the others are still tried. Any other error rejects all
    // DaemonSets.
    const bool only_first = support.error().reason == Reason::kAlreadyExists;
    const auto end = only_first ? creations.begin() + 1 : creations.end();
    for (auto daemon_set = creations.begin(); daemon_set != end; ++daemon_set) reject(*daemon_set, support.error());
    creations.erase(creations.begin(), end);
  }
  std::vector<Status> results(creations.size() + deletions.size());
  ParallelFor(results.size(), parallel_writes_, [&](std::size_t task) {
    if (task < creations.size()) {
      results[task] = Create(creations[task], stop);
      return;
    }
    const ObjectMeta& meta = deletions[task - creations.size()].object->meta();
    const DeleteOptions options{.uid = meta.uid};
    results[task] = client_.Delete(kDaemonSetType, meta.key, options, stop);
  });
  for (std::size_t task = 0; task < results.size(); ++task) {
    if (results[task]) continue;
    const Error& error = results[task].error();
    if (task < creations.size()) {
      reject(creations[task], error);
    } else if (error.reason != Reason::kNotFound) {
      outcome.retry = error;
    }
  }
  outcome.dropped = snapshot.image_volumes.state != State::kDropped && support_.Known().state == State::kDropped;
  return outcome;
}

}  // namespace yad
