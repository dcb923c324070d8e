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

// Returns whether the old list was truncated, and omitted only pools that were Ready on the update revision.
bool UnlistedWereReady(const StatusInput& input) {
  return StatusView(input.previous).unlisted_were_ready() && WasRolledOut(input.previous, input.snapshot.update->name);
}

// Returns the view with a bounded message and with lastTransitionTime. The time is that of the old entry, except if one
// of these has changed:
// - the phase or the revision
// - whether the pool is being scaled (scaledFrom); not for an Offline pool
// - whether an Offline pool counts against its update (IsOfflineAfterUpdate), so that the time of an outage
//   does not count
PoolView Listed(PoolView view, const PoolStatusIndex& old_entries, const std::string& now) {
  view.message = Cut(std::move(view.message), kMaxMessage);
  view.since = now;
  const PoolStatusView* old = old_entries.Find(view.name);
  if (old != nullptr && old->phase() == view.phase && old->revision() == view.revision &&
      !old->last_transition_text().empty() &&
      (view.phase == PoolPhase::kOffline ? IsOfflineAfterUpdate(old->reason()) == IsOfflineAfterUpdate(view.reason)
                                         : (old->scaled_from() > 0) == (view.scaled_from > 0))) {
    view.since = old->last_transition_text();
    // The pool's soak or deadline may count from a later time, for example because the wall clock was set forward
    // (ShiftTimes).
    if (view.counted_since > old->last_transition()) view.since = FormatTime(view.counted_since);
  }
  return view;
}

// Returns the last revision that was fully rolled out.
std::string CurrentRevision(const StatusInput& input, const PoolCounts& counts) {
  const Snapshot& snapshot = input.snapshot;
  const std::string before = snapshot.current != nullptr ? snapshot.current->name : "";
  if (counts.desired == 0 && snapshot.daemon.paused) return before;
  if (input.rollout) {
    // currentRevision stays while no pool is selected, or while workloads of unselected pools exist. A user may select
    // these pools again. If currentRevision changed now, they would be updated to the new revision without an approval.
    const bool unseen = counts.desired == 0 || !input.postponed.workloads.empty() || !input.leaving.empty();
    if (unseen && !before.empty()) return before;
    // While all pools are offline, it is not known whether the revision works. If currentRevision changed now, failures
    // would not count when the pools return.
    if (counts.all_offline() && !before.empty()) return before;
    if (input.rollout->target.rolled_back) return before;
    if (snapshot.daemon.strategy.rolling.partition.Of(static_cast<std::size_t>(counts.desired)) > 0) return before;
  }
  return IsRolledOut(counts, snapshot.daemon, input.rollout ? &*input.rollout : nullptr) ? snapshot.update->name
                                                                                         : before;
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
        view.message = "not removed: see condition RemovalBlocked";  // short: BoundMessages may cut longer messages
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

// Limits the total length of the messages, so that the object stays below etcd's limit.
void BoundMessages(std::vector<PoolView>& pools) {
  std::size_t size = 0;
  for (const PoolView& pool : pools) size += pool.message.size();
  if (size <= kMaxMessages) return;
  for (PoolView& pool : pools) pool.message = Cut(std::move(pool.message), kMaxMessages / pools.size());
}

Json EntryOf(const PoolView& pool) {
  Json entry = {{"name", pool.name}, {"phase", ToString(pool.phase)}, {"lastTransitionTime", pool.since}};
  const auto add = [&](const char* key, std::string_view text) {
    if (!text.empty()) entry[key] = text;
  };
  const auto add_count = [&](const char* key, std::int64_t count) {
    if (count > 0) entry[key] = count;
  };
  add("revision", pool.revision);
  add("state", pool.state);
  add("service", pool.service);
  add("reason", pool.reason);
  add("message", pool.message);
  add("waitingFor", pool.waiting_for);
  add_count("unhealthySeconds", pool.unhealthy_seconds);
  add_count("scaledFrom", pool.scaled_from);
  add("healthySince", pool.healthy_since);
  add("check", pool.check);
  add("checkStartedAt", pool.check_started);
  add_count("checkFailures", pool.check_failures);
  if (pool.joining) entry["joining"] = true;
  if (pool.workload == nullptr) return entry;
  entry["workload"] = pool.workload->object->meta().key.name;
  entry["replicas"] = pool.workload->state().replicas;
  entry["readyReplicas"] = pool.workload->state().ready_replicas;
  add_count("misplacedReplicas", pool.misplaced);
  return entry;
}

Json SummaryOf(const WorkloadRef& workload) {
  return {{"availableCondition", workload.state().available_condition},
          {"replicas", workload.state().replicas},
          {"readyReplicas", workload.state().ready_replicas},
          {"workloadName", workload.object->meta().key.name}};
}

// Returns the pools that status lists, in their order.
std::vector<PoolView> ListedPools(const std::vector<PoolView>& views, const std::vector<PoolView>& leaving,
                                  const PoolStatusIndex& old, const std::string& now) {
  std::vector<const PoolView*> order;
  order.reserve(views.size() + leaving.size());
  for (const auto* of_both : {&views, &leaving}) {
    for (const PoolView& view : *of_both) order.push_back(&view);
  }
  std::stable_sort(order.begin(), order.end(), [](const PoolView* a, const PoolView* b) {
    return std::pair(ListRank(*a), std::string_view(a->name)) < std::pair(ListRank(*b), std::string_view(b->name));
  });
  if (order.size() > kMaxListed) order.resize(kMaxListed);
  std::vector<PoolView> listed;
  listed.reserve(order.size());
  for (const PoolView* view : order) listed.push_back(Listed(*view, old, now));
  BoundMessages(listed);
  return listed;
}

// Sets the lists of the status, which are its largest part.
void SetLists(const std::vector<PoolView>& views, const std::vector<PoolView>& leaving, const PoolStatusIndex& old,
              const std::string& now, Json& status) {
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
  Json& pools = status["pools"] = Json::array();
  for (const PoolView& pool : ListedPools(views, leaving, old, now)) pools.push_back(EntryOf(pool));
  if (views.size() + leaving.size() > kMaxListed) status[kTruncated] = true;
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

void AddMisplaced(const MisplacedCounts& counts, std::vector<PoolView>& views) {
  if (counts.empty()) return;
  for (PoolView& view : views) {
    if (const auto found = counts.find(view.name); found != counts.end()) view.misplaced = found->second;
  }
}

}  // namespace

Json BuildStatus(const StatusInput& input) {
  const PoolStatusIndex old{StatusView(input.previous)};
  const Rollout* rollout = input.rollout ? &*input.rollout : nullptr;
  const ViewContext context{input.snapshot, old, rollout, input.diagnoses, UnlistedWereReady(input)};
  std::vector<PoolView> views;
  views.reserve(input.pools.size());
  for (const PoolOutcome& result : input.pools) views.push_back(MakeView(result, context));
  if (input.misplaced != nullptr) AddMisplaced(*input.misplaced, views);
  const PoolCounts counts = CountPools(views, input.pools, rollout);
  const std::vector<PoolView> leaving = ViewLeaving(input, old);

  Json status = CounterFields(input, counts, views);
  SetLists(views, leaving, old, FormatTime(input.snapshot.now), status);
  if (rollout != nullptr && !rollout->begun.empty()) status[kBegunGroups] = rollout->begun;

  Conditions conditions(input.previous, input.snapshot.daemon.meta.generation, input.snapshot.now);
  SetUpstreamConditions(input, counts, conditions);
  SetConditions({input.snapshot, rollout, counts, input.previous, input.was_incomplete}, conditions);
  if (input.postponed.blocked()) {
    conditions.Set({kRemovalBlockedCondition, "True", input.postponed.reason, input.postponed.message});
  } else if (conditions.Has(kRemovalBlockedCondition) && !input.postponed.undecided()) {
    conditions.Set({kRemovalBlockedCondition, "False", "NothingBlocked", "no removal is blocked"});
  }
  SetPrefetchCondition(input.snapshot, input.image_volumes, conditions);
  SetCrdCondition(input.missing_fields, conditions);
  status["conditions"] = conditions.Take();
  const std::string& update = input.snapshot.update->name;
  const bool was_complete = WasCompleteOnce(input.previous, update) || WasCompleteOnce(status, update);
  if (rollout != nullptr && !rollout->target.rolled_back && was_complete) status[kCompletedRevision] = update;
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
