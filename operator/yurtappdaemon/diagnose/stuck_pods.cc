#include "operator/yurtappdaemon/diagnose/stuck_pods.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/api/well_known.h"
#include "operator/runtime/paged_list.h"
#include "operator/yurtappdaemon/observe/ownership.h"
#include "operator/yurtappdaemon/observe/pod_facts.h"
#include "operator/yurtappdaemon/observe/pods.h"

namespace yad {
namespace {

// An Event about a failed creation is outdated after this time, because a StatefulSet retries a creation after at most
// 1000 s.
constexpr std::chrono::minutes kCreationIsRetried{20};
constexpr std::size_t kMostDeletions = 500;  // in one call; the next call deletes the others

// A StatefulSet whose status describes its newest template.
struct Update {
  std::string uid;
  std::string revision;
  std::int64_t first = 0;          // the lowest ordinal
  std::int64_t first_updated = 0;  // the StatefulSet's partition keeps the pods with lower ordinals
  std::int64_t replicas = 1;
  std::string selector;
};

struct Candidate {
  ObjectKey key;
  DeleteOptions precondition;
};

// The result of reading all pods of the StatefulSet.
struct Survey {
  bool under_way = false;        // the StatefulSet replaces a pod, or waits for a new pod to become ready
  bool proven = false;           // a pod of the newest template is ready
  std::int64_t pods = 0;         // all pods of the StatefulSet
  std::set<std::int64_t> ready;  // the ordinals of the pods that are ready, with any template
  std::vector<Candidate> stuck;
};

// Returns 3 for "web-3".
std::int64_t Ordinal(const std::string& name) {
  std::int64_t ordinal = 0;
  const std::size_t dash = name.rfind('-');
  std::from_chars(name.data() + dash + 1, name.data() + name.size(), ordinal);
  return ordinal;
}

bool HasNotBeenReady(const Json& pod, const ObjectMeta& meta, WallTime since) {
  const Json* ready = FindCondition(pod, "Ready");
  if (ready == nullptr) return ParseTime(meta.creation_timestamp) <= since;
  if (IsTrue(ready)) return false;
  // The kubelet sets this time by the clock of its node. If the time is far in the future, this clock is wrong, and the
  // pod counts as not ready for long enough.
  const WallTime then = ParseTime(StringAt(*ready, {"lastTransitionTime"}));
  return then <= since || then > since + 2 * kStuckAfter;
}

// Returns nullopt if no pod of the StatefulSet may be deleted: it has another uid, it no longer belongs to the daemon,
// its status does not describe its newest template yet, or its strategy is OnDelete.
std::optional<Update> UpdateOf(const Json& stateful_set, const std::string& uid, const ObjectMeta& daemon) {
  const ObjectMeta meta = ParseMeta(stateful_set);
  if (meta.uid != uid || !ControlledBy(meta, daemon.uid)) return std::nullopt;
  const bool observed =
      IntAt(stateful_set, {"status", "observedGeneration"}) >= IntAt(stateful_set, {"metadata", "generation"});
  Update update;
  update.uid = uid;
  update.revision = StringAt(stateful_set, {"status", "updateRevision"});
  update.first = IntAt(stateful_set, {"spec", "ordinals", "start"});
  update.first_updated = update.first + IntAt(stateful_set, {"spec", "updateStrategy", "rollingUpdate", "partition"});
  update.replicas = IntAt(stateful_set, {"spec", "replicas"}, 1);
  const auto selector = SelectorOf(stateful_set);
  if (!selector) return std::nullopt;  // The apiserver rejects an invalid selector.
  update.selector = *selector;
  if (!observed || update.revision.empty()) return std::nullopt;
  if (StringAt(stateful_set, {"spec", "updateStrategy", "type"}) == "OnDelete") return std::nullopt;
  return update;
}

void AddToSurvey(const Json& pod, const Update& update, WallTime since, Survey& survey) {
  const ObjectMeta meta = ParseMeta(pod);
  if (!ControlledBy(meta, update.uid)) return;
  ++survey.pods;
  const std::int64_t ordinal = Ordinal(meta.key.name);
  const bool ready = IsPodReady(pod) && !meta.deleting();
  if (ready) survey.ready.insert(ordinal);
  if (meta.Label(kPodRevisionLabel) == update.revision) {
    (ready ? survey.proven : survey.under_way) = true;
    return;
  }
  if (meta.deleting()) {
    // deletionTimestamp is the end of the pod's grace period. A pod on a lost node remains after this time, and is then
    // not a replacement in progress.
    if (ParseTime(meta.deletion_timestamp) > since) survey.under_way = true;
    return;
  }
  // On a disconnected node, the containers probably still run. If several pods on the node were deleted, the kubelet
  // would terminate all of them together when it reconnects.
  if (LostItsNode(pod)) return;
  if (!HasNotBeenReady(pod, meta, since) || ordinal < update.first_updated) return;
  // The deletion fails if the pod has changed, because it may be ready now.
  survey.stuck.push_back({meta.key, {.uid = meta.uid, .resource_version = meta.resource_version}});
}

// Returns the pods to delete. If no pod of the newest template is ready yet, this template may be bad. So only the pod
// that blocks the StatefulSet is deleted, which is the first pod that is not ready.
std::vector<Candidate> PodsToDelete(const Update& update, Survey survey) {
  if (survey.under_way) return {};
  if (!survey.proven) {
    std::int64_t blocking = update.first;
    while (survey.ready.contains(blocking)) ++blocking;
    std::erase_if(survey.stuck, [&](const Candidate& pod) { return Ordinal(pod.key.name) != blocking; });
  }
  if (survey.stuck.size() > kMostDeletions) survey.stuck.resize(kMostDeletions);
  return std::move(survey.stuck);
}

// Returns whether the last creation of a pod by the StatefulSet failed.
bool CreationFails(const std::vector<Json>& events, WallTime now) {
  WallTime failed = now - kCreationIsRetried;
  WallTime created = failed;
  for (const Json& event : events) {
    const std::string reason = StringAt(event, {"reason"});
    if (reason == kFailedCreate) failed = std::max(failed, TimeOfEvent(event));
    if (reason == "SuccessfulCreate") created = std::max(created, TimeOfEvent(event));
  }
  return failed > created;
}

}  // namespace

Result<std::vector<std::string>> ReplaceStuckPods(Client& client, const ObjectMeta& daemon,
                                                  const ObjectKey& stateful_set, const std::string& uid, WallTime since,
                                                  std::stop_token stop) {
  // This read is live, because a stale cache could make a pod of the newest template look like an old pod.
  YAD_TRY(const auto owner, client.Get(kStatefulSetType, stateful_set, stop));
  std::vector<std::string> deleted;
  const std::optional<Update> update = UpdateOf(owner, uid, daemon);
  if (!update) return deleted;

  const ListOptions options{.ns = stateful_set.ns, .label_selector = update->selector, .limit = kPageLimit};
  // All pages are read before the first deletion, because the last pod may forbid all deletions.
  Survey survey;
  const auto read = ForEachListed(client, kPodType, options, stop, [&](const JsonDocument& pod) {
    AddToSurvey(pod.TreeOfObject(), *update, since, survey);
    return true;
  });
  if (!read) return Fail(read.error());
  const bool lacks_pods = survey.pods < update->replicas;
  const std::vector<Candidate> pods = PodsToDelete(*update, std::move(survey));
  if (lacks_pods && !pods.empty()) {
    YAD_TRY(const auto events, ReadEventsAbout(client, stateful_set.ns, uid, stop));
    if (CreationFails(events, since + kStuckAfter)) return deleted;
  }
  for (const Candidate& pod : pods) {
    const Status gone = client.Delete(kPodType, pod.key, pod.precondition, stop);
    if (gone) {
      deleted.push_back(pod.key.name);
    } else if (gone.error().reason != Reason::kNotFound && gone.error().reason != Reason::kConflict) {
      return Fail(gone.error());
    }
  }
  return deleted;
}

std::vector<const PoolPlan*> NextStuckPools(const Plan& plan, ExaminedPools& examined, RateLimiter& limiter,
                                            SteadyTime now) {
  std::vector<std::pair<SteadyTime, const PoolPlan*>> due;  // with the time of the last examination
  ExaminedPools still_stuck;
  for (const PoolPlan& pool : plan.pools) {
    if (!pool.may_be_stuck || pool.action != WorkloadAction::kNone) continue;
    const auto last = examined.find(pool.pool);
    if (last == examined.end()) {
      due.emplace_back(SteadyTime::min(), &pool);
      continue;
    }
    still_stuck.insert(*last);
    if (last->second + kStuckAfter <= now) due.emplace_back(last->second, &pool);
  }
  examined = std::move(still_stuck);
  std::stable_sort(due.begin(), due.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const PoolPlan*> next;
  for (const auto& [last, pool] : due) {
    if (!limiter.TryTake()) break;
    examined[pool->pool] = now;
    next.push_back(pool);
  }
  return next;
}

}  // namespace yad
