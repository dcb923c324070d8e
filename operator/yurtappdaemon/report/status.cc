#include "operator/yurtappdaemon/report/status.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "operator/api/conditions.h"
#include "operator/api/merge_patch.h"
#include "operator/api/well_known.h"
#include "operator/base/join.h"
#include "operator/workload/revision.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"
#include "operator/yurtappdaemon/observe/prefetches.h"
#include "operator/yurtappdaemon/report/daemon_conditions.h"

namespace yad {
namespace {

constexpr std::size_t kMaxListed = 500;  // pools in one list; 5,000 pools would exceed etcd's limit
// The maximum size in bytes of all messages in `pools` together. A single message may contain a whole template.
constexpr std::size_t kMaxMessages = 64 * 1024;
constexpr char kFailure[] = "WorkLoadFailure";
constexpr char kRemovalBlockedReason[] = "RemovalBlocked";  // of a pool
constexpr char kOutdatedCrd[] = "OutdatedCRD";
constexpr char kTruncated[] = "poolsTruncated";
constexpr char kBegunGroups[] = "begunGroups";
constexpr char kCompletedRevision[] = "completedRevision";

// Returns the rank of the pool in the list of pools in status: first unhealthy pools, then Offline pools with reason
// NoReadyNode, then Ready pools. If the list is truncated, a new leader concludes from its last entry which phases the
// omitted pools may have (StatusView::unlisted_have_soaked).
int ListRank(const PoolView& view) {
  if (view.phase == PoolPhase::kReady) return 2;
  return view.phase == PoolPhase::kOffline && view.reason == kNoReadyNode ? 1 : 0;
}

// Returns the pool's lastTransitionTime. It is the time of the old entry, except if one of these has changed:
// - the phase or the revision
// - whether the pool is being scaled (scaledFrom); not for an Offline pool
// - whether an Offline pool counts against its update (IsOfflineAfterUpdate), so that the time of an outage
//   does not count
std::string TransitionOf(const PoolView& view, const PoolStatusView* old, const std::string& now) {
  if (old == nullptr || old->phase() != view.phase || old->revision() != view.revision ||
      old->last_transition_text().empty() ||
      (view.phase == PoolPhase::kOffline ? IsOfflineAfterUpdate(old->reason()) != IsOfflineAfterUpdate(view.reason)
                                         : (old->scaled_from() > 0) != (view.scaled_from > 0)))
    return now;
  // The pool's soak or deadline may count from a later time, for example because the wall clock was set forward
  // (ShiftTimes).
  return view.counted_since > old->last_transition() ? FormatTime(view.counted_since)
                                                     : std::string(old->last_transition_text());
}

// Returns the last revision that was fully rolled out.
std::string CurrentRevision(const StatusInput& input, const PoolCounts& counts) {
  const Snapshot& snapshot = input.snapshot;
  const std::string before = snapshot.current != nullptr ? snapshot.current->name : "";
  if (counts.desired == 0 && snapshot.daemon.paused) return before;
  if (input.rollout) {
    // currentRevision stays while no pool is selected, or while unselected pools have workloads that are not being
    // deleted. A user may select these pools again. If currentRevision changed now, they would be updated to the new
    // revision without an approval.
    const auto stays = [](const WorkloadRef& workload) { return !workload.object->meta().deleting(); };
    const bool unseen = counts.desired == 0 || !input.postponed.workloads.empty() ||
                        std::any_of(input.leaving.begin(), input.leaving.end(), stays);
    if (unseen && !before.empty()) return before;
    // While all pools are offline, it is not known whether the revision works. If currentRevision changed now, failures
    // would not count when the pools return.
    if (counts.all_offline() && !before.empty()) return before;
    if (input.rollout->target.rolled_back) return before;
    if (snapshot.daemon.strategy.rolling.partition.Of(static_cast<std::size_t>(counts.desired)) > 0) return before;
  }
  return IsRolledOut(counts, input) ? snapshot.update->name : before;
}

// Returns the views of workloads whose pools are no longer selected, one for each pool.
std::vector<PoolView> ViewLeaving(const StatusInput& input, const PoolStatusIndex& old) {
  std::vector<PoolView> views;
  std::set<std::string_view> seen;
  const auto add = [&](const std::vector<WorkloadRef>& workloads, bool stay) {
    for (const WorkloadRef& workload : workloads) {
      if (!seen.insert(workload.pool).second) continue;
      PoolView& view = views.emplace_back();
      view.name = workload.pool;
      view.phase = PoolPhase::kRemoving;
      // Until it is decided whether the removal is blocked, the reason RemovalBlocked in the previous status stays.
      const PoolStatusView* before = old.Find(view.name);
      const bool was_blocked = before != nullptr && before->reason() == kRemovalBlockedReason;
      if (stay && (input.postponed.blocked() || was_blocked)) {
        view.reason = kRemovalBlockedReason;
        view.message = "not removed: see condition RemovalBlocked";  // short: SetPools may cut longer messages
      }
      view.revision = workload.object->meta().Label(kRevisionLabel);
      view.workload = &workload;
      view.state = StateOf({workload.state(), !stay || workload.object->meta().deleting()});
    }
  };
  add(input.leaving, false);
  add(input.postponed.workloads, true);
  return views;
}

Json EntryOf(const PoolView& pool, const std::string& since) {
  Json entry = pool.details;
  entry["name"] = pool.name;
  entry["phase"] = ToString(pool.phase);
  entry["lastTransitionTime"] = since;
  const auto add = [&](const char* key, std::string_view text) {
    if (!text.empty()) entry[key] = text;
  };
  add("revision", pool.revision);
  add("state", pool.state);
  add("reason", pool.reason);
  add("message", pool.message);
  if (pool.scaled_from > 0) entry["scaledFrom"] = pool.scaled_from;
  if (pool.workload == nullptr) return entry;
  entry["workload"] = pool.workload->object->meta().key.name;
  entry["replicas"] = pool.workload->state().replicas;
  entry["readyReplicas"] = pool.workload->state().ready_replicas;
  return entry;
}

Json SummaryOf(const WorkloadRef& workload) {
  return {{"availableCondition", workload.state().available_condition},
          {"replicas", workload.state().replicas},
          {"readyReplicas", workload.state().ready_replicas},
          {"workloadName", workload.object->meta().key.name}};
}

void SetSummaries(const std::vector<PoolView>& views, Json& status) {
  Json& nodepools = status["nodepools"] = Json::array();
  std::vector<const WorkloadRef*> provided;
  for (const PoolView& view : views) {
    if (nodepools.size() < kMaxListed) nodepools.push_back(view.name);
    if (view.workload != nullptr) provided.push_back(view.workload);
  }
  std::sort(provided.begin(), provided.end(), [](const WorkloadRef* a, const WorkloadRef* b) {
    return a->object->meta().key.name < b->object->meta().key.name;
  });
  if (provided.size() > kMaxListed) provided.resize(kMaxListed);
  Json& summary = status["workloadSummary"] = Json::array();
  for (const WorkloadRef* workload : provided) summary.push_back(SummaryOf(*workload));
}

// Sets the list of pools, which is the largest part of the status. Bounds the messages of the listed views.
void SetPools(std::vector<PoolView>& views, std::vector<PoolView>& leaving, const PoolStatusIndex& old, WallTime now,
              Json& status) {
  std::vector<PoolView*> order;
  order.reserve(views.size() + leaving.size());
  for (auto* of_both : {&views, &leaving}) {
    for (PoolView& view : *of_both) order.push_back(&view);
  }
  std::stable_sort(order.begin(), order.end(), [](const PoolView* a, const PoolView* b) {
    return std::pair(ListRank(*a), a->name) < std::pair(ListRank(*b), b->name);
  });
  if (order.size() > kMaxListed) {
    order.resize(kMaxListed);
    status[kTruncated] = true;
  }
  std::size_t size = 0;
  for (PoolView* view : order) {
    view->message = Cut(std::move(view->message), kMaxMessage);
    size += view->message.size();
  }
  const std::string time = FormatTime(now);
  Json& pools = status["pools"] = Json::array();
  for (PoolView* view : order) {
    // Limits the total length of the messages, so that the object stays below etcd's limit.
    if (size > kMaxMessages) view->message = Cut(std::move(view->message), kMaxMessages / order.size());
    pools.push_back(EntryOf(*view, TransitionOf(*view, old.Find(view->name), time)));
  }
}

// Sets the three conditions that OpenYurt writes.
void SetUpstreamConditions(const StatusInput& input, const PoolCounts& counts, Conditions& conditions) {
  const bool all_there =
      counts.provisioned == counts.desired && input.leaving.empty() && input.postponed.workloads.empty();
  conditions.Set({"WorkLoadProvisioned", all_there ? "True" : "False", "", ""}, true);
  conditions.Set({"WorkLoadUpdated", counts.updated == counts.desired ? "True" : "False", "", ""}, true);
  if (counts.first_failure != nullptr) {
    const PoolView& first = *counts.first_failure;
    conditions.Set({kFailure, "True", first.reason,
                    "pool " + std::string(first.name) + ": " + first.message +
                        (counts.failed > 1 ? " (and " + Pluralize(counts.failed - 1, "more pool") + ")" : "")},
                   true);
  } else if (conditions.Has(kFailure)) {
    conditions.Set({kFailure, "False", "", ""}, true);
  }
}

// Sets or removes the condition about the pull of images before updates. The condition does not change until it is
// known whether the server keeps image volumes.
void SetPrefetchCondition(const Snapshot& snapshot, const ImageVolumeSupport& image_volumes, Conditions& conditions) {
  using State = ImageVolumeSupport::State;
  if (!snapshot.daemon.strategy.rolling.prefetch) {
    if (snapshot.prefetches.empty()) conditions.Remove(kPrefetchUnavailable);
  } else if (image_volumes.state == State::kDropped) {
    conditions.Set({kPrefetchUnavailable, "True", "NoImageVolumes",
                    "updates do not wait until nodes have pulled the new images: " + image_volumes.reason});
  } else if (image_volumes.state == State::kKept) {
    conditions.Set({kPrefetchUnavailable, "False", "ImageVolumesKept", "the apiserver keeps image volumes"});
  }
}

// Sets or removes the condition that lists the fields that the apiserver drops. The user must be warned, because a
// dropped field has no effect, even if it configures a gate.
void SetCrdCondition(const std::optional<std::string>& missing, Conditions& conditions) {
  if (!missing) return;
  if (missing->empty()) {
    conditions.Remove(kOutdatedCrd);
    return;
  }
  conditions.Set({kOutdatedCrd, "True", "FieldsMissing",
                  "the apiserver drops these fields, because the CRD lacks them: " + *missing +
                      ". Apply the CRD that comes with this version of the operator"});
}

Json CounterFields(const StatusInput& input, const PoolCounts& counts, const std::vector<PoolView>& views) {
  const YurtAppDaemon& daemon = input.snapshot.daemon;
  std::int64_t replicas = 0, ready_replicas = 0;
  for (const PoolView& view : views) {
    if (view.workload == nullptr) continue;
    replicas += view.workload->state().replicas;
    ready_replicas += view.workload->state().ready_replicas;
  }
  return {
      {"observedGeneration", daemon.meta.generation},
      {"collisionCount", input.collision_count},
      {"currentRevision", CurrentRevision(input, counts)},
      {"updateRevision", input.snapshot.update->name},
      {"templateType", daemon.kind == WorkloadKind::kDeployment ? "Deployment" : "StatefulSet"},
      {"desiredPools", counts.desired},
      {"updatedPools", counts.updated},
      {"readyPools", counts.ready},
      {"failedPools", counts.failed},
      {"offlinePools", counts.offline},
      {"replicas", replicas},
      {"readyReplicas", ready_replicas},
      {"images", Cut(ImagesOf(input.snapshot.update->content), kMaxMessage)},
  };
}

}  // namespace

Json BuildStatus(const StatusInput& input) {
  const PoolStatusIndex old{StatusView(input.previous)};
  std::vector<PoolView> views;
  views.reserve(input.pools.size());
  for (const PoolOutcome& result : input.pools) views.push_back(MakeView(result, input, old));
  const PoolCounts counts = CountPools(views, input);

  Json status = CounterFields(input, counts, views);
  SetSummaries(views, status);
  if (input.rollout && !input.rollout->begun.empty()) status[kBegunGroups] = input.rollout->begun;

  Conditions conditions(input.previous, input.snapshot.daemon.meta.generation, input.snapshot.now);
  SetUpstreamConditions(input, counts, conditions);
  SetConditions(input, counts, conditions);
  if (input.postponed.blocked()) {
    conditions.Set({kRemovalBlockedCondition, "True", input.postponed.reason, input.postponed.message});
  } else if (conditions.Has(kRemovalBlockedCondition) && !input.postponed.undecided()) {
    conditions.Set({kRemovalBlockedCondition, "False", "NothingBlocked", "no removal is blocked"});
  }
  SetPrefetchCondition(input.snapshot, input.image_volumes, conditions);
  SetCrdCondition(input.missing_fields, conditions);
  status["conditions"] = conditions.Take();
  std::vector<PoolView> leaving = ViewLeaving(input, old);
  SetPools(views, leaving, old, input.snapshot.now, status);  // after the conditions, which need the whole messages
  const std::string& update = input.snapshot.update->name;
  const bool was_complete = WasCompleteOnce(input.previous, update) || WasCompleteOnce(status, update);
  if (input.rollout && !input.rollout->target.rolled_back && was_complete) status[kCompletedRevision] = update;
  return status;
}

Json DaemonStatusPatch(const Json& before, const Json& after, const std::string& uid) {
  return StatusPatch(before, after, uid, {kTruncated, kBegunGroups, kCompletedRevision});
}

Json BuildBlockedStatus(const ObjectMeta& meta, const Json& object, const std::string& reason, const Error& error,
                        WallTime now) {
  Json status = object.value("status", Json::object());
  if (!status.is_object()) status = Json::object();
  status["observedGeneration"] = meta.generation;
  if (!status.contains("currentRevision")) status["currentRevision"] = "";
  if (!status.contains("templateType")) status["templateType"] = TypeOf(KindOf(object)).kind;
  Conditions conditions(status, meta.generation, now);
  conditions.Set({kFailure, "True", reason, error.message}, true);
  SetBlockedConditions(reason, error.message, conditions);
  status["conditions"] = conditions.Take();
  return status;
}

bool ShowsBlocked(const Json& status, const std::string& reason, const Error& error) {
  const Json* failure = FindConditionIn(status, kFailure);
  return IsTrue(failure) && StringAt(*failure, {"reason"}) == reason &&
         StringAt(*failure, {"message"}) == Cut(error.message, kMaxMessage);
}

bool ShowsRemovalBlocked(const Json& status, const std::string& token) {
  const Json* blocked = FindConditionIn(status, kRemovalBlockedCondition);
  return IsTrue(blocked) && StringAt(*blocked, {"message"}).find("(token " + token + ")") != std::string::npos;
}

}  // namespace yad
