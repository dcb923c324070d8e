#include "operator/yurtappdaemon/status.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "operator/api/conditions.h"
#include "operator/api/status_patch.h"
#include "operator/api/well_known.h"
#include "operator/workload/images.h"
#include "operator/yurtappdaemon/phase.h"
#include "operator/yurtappdaemon/rollout_progress.h"

namespace yad {
namespace {

constexpr std::size_t kMaxListed = 500;  // pools in a list: 5,000 of them would not fit into etcd's limit
constexpr char kFailure[] = "WorkLoadFailure";
constexpr char kRemovalBlocked[] = "RemovalBlocked";
constexpr char kTruncated[] = "poolsTruncated";
constexpr char kBegunGroups[] = "begunGroups";

struct PoolView : PoolEntry {
  bool healthy = false;  // at its own generation, with no write outstanding
  bool soaking = false;  // not for minReadySeconds yet
  bool updated = false;
  bool excused = false;          // failed, and it is not the revision's fault
  bool revision_failed = false;  // failed, and it may be the revision's fault
  bool late = false;             // failed, because it was not healthy in time
};

std::string RevisionNameOf(const PoolResult& result) {
  if (!result.workload) return "";
  const bool written = result.plan->to.revision != nullptr &&
                       result.workload->object->meta().Label(kRevisionLabel) == result.plan->to.revision->label;
  if (written) return result.plan->to.revision->name;
  return result.plan->from.revision != nullptr ? result.plan->from.revision->name
                                               : result.workload->object->meta().Label(kRevisionLabel);
}

// What the pods say, beside why the pool counts as failed.
void AddDiagnosis(const Diagnosis& diagnosis, PoolView& view) {
  view.state = diagnosis.state;
  if (diagnosis.reason.empty()) return;
  view.reason = diagnosis.reason;
  view.message = diagnosis.told || view.message.empty() ? diagnosis.message : diagnosis.message + "; " + view.message;
}

PoolView View(const PoolResult& result, const RollingUpdate& strategy, const Diagnoses* diagnoses) {
  PoolView view;
  view.name = result.plan->pool;
  view.revision = RevisionNameOf(result);
  view.service = result.service;
  view.workload = result.workload ? &*result.workload : nullptr;
  const WorkloadState* state = view.workload != nullptr ? &view.workload->state() : nullptr;
  const bool deleting = view.workload != nullptr && view.workload->object->meta().deleting();
  view.healthy = state != nullptr && state->healthy && !result.outstanding && !deleting;
  const bool written = view.workload != nullptr && !result.outstanding && !deleting;
  const bool moved = result.plan->write == Write::kMove && !result.outstanding;
  const bool begins_anew = moved && result.plan->health.revision != result.plan->to.revision->name;
  view.soaking = view.healthy && (result.plan->soaking || (begins_anew && strategy.min_ready.count() > 0));
  view.updated = written && result.plan->on_update && ((view.healthy && !view.soaking) || result.plan->offline);
  view.reason = result.failure_reason;
  view.message = result.failure_message;
  if (view.reason.empty() && state != nullptr && state->progress_deadline_exceeded && !result.outstanding) {
    view.reason = kDeadlineExceeded;
    view.message = state->failure_message;
  }
  if (view.reason.empty() && result.plan->overdue && written && !moved) {
    view.reason = kDeadlineExceeded;
    view.message = "not healthy within " + std::to_string(strategy.progress_deadline.count()) + " s on its revision";
  }
  view.late = view.reason == kDeadlineExceeded;
  view.revision_failed = IsRevisionsFault(view.reason);
  view.excused = !view.reason.empty() && !view.revision_failed;
  if (result.plan->offline) {
    view.phase = kOfflinePhase;
    if (view.reason.empty()) view.reason = "NoReadyNode";
  } else if (!view.reason.empty()) {
    view.phase = kFailedPhase;
  } else if (view.workload == nullptr) {
    view.phase = kPendingPhase;
  } else if (!view.healthy) {
    view.phase = kUpdatingPhase;
    if (deleting) view.reason = "WorkloadTerminating";
  } else if (view.soaking) {
    view.phase = kSoakingPhase;
  } else {
    view.phase = kReadyPhase;
  }
  // In a pool without a node nothing gets on.
  if (state != nullptr) view.state = StateOf({*state, deleting, result.plan->offline || result.plan->overdue});
  if (diagnoses == nullptr) return view;
  if (const auto found = diagnoses->find(result.plan->pool); found != diagnoses->end())
    AddDiagnosis(found->second, view);
  return view;
}

// For `pools[]`: the unhealthy first, so that the cut list shows what matters.
int ListRank(const PoolView& view) { return view.phase == kReadyPhase ? 1 : 0; }

using OldEntries = std::unordered_map<std::string_view, const Json*>;  // by the pool's name

// Of `view`, as `pools` lists it.
PoolEntry Listed(PoolEntry view, const OldEntries& old_entries, const std::string& now) {
  view.message = Cut(std::move(view.message), kMaxMessage);
  view.since = now;
  if (const auto it = old_entries.find(view.name); it != old_entries.end() &&
                                                   StringAt(*it->second, {"phase"}) == view.phase &&
                                                   StringAt(*it->second, {"revision"}) == view.revision) {
    view.since = StringAt(*it->second, {"lastTransitionTime"}, now);
  }
  return view;
}

std::vector<const WorkloadRef*> Summary(std::vector<const WorkloadRef*> workloads) {
  const std::size_t listed = std::min(workloads.size(), kMaxListed);
  const auto end = workloads.begin() + static_cast<std::ptrdiff_t>(listed);
  std::partial_sort(workloads.begin(), end, workloads.end(), [](const WorkloadRef* a, const WorkloadRef* b) {
    return a->object->meta().key.name < b->object->meta().key.name;
  });
  workloads.resize(listed);
  return workloads;
}

// The last revision that was fully rolled out. It stands still while anything is on its way.
std::string CurrentRevision(const StatusInput& input, const std::vector<PoolView>& views) {
  const Snapshot& snapshot = input.snapshot;
  const std::string before = snapshot.current != nullptr ? snapshot.current->name : "";
  if (views.empty() && snapshot.daemon.paused) return before;
  if (input.rollout) {
    // Pools out of sight may come back. Once this is their current revision, no approval would be asked for.
    const bool unseen = views.empty() || !input.held.workloads.empty() || !input.leaving.empty();
    if (unseen && !before.empty()) return before;
    if (input.rollout->goal.rolled_back) return before;
    if (snapshot.daemon.strategy.rolling.partition.Of(views.size()) > 0) return before;
  }
  for (const PoolView& view : views) {
    if (!view.updated && !view.excused) return before;
  }
  return snapshot.update->name;
}

}  // namespace

DaemonStatus BuildStatus(const StatusInput& input) {
  const YurtAppDaemon& daemon = input.snapshot.daemon;
  const std::string now = FormatTime(input.snapshot.now);

  std::vector<PoolView> views;
  views.reserve(input.pools.size());
  for (const PoolResult& result : input.pools) views.push_back(View(result, daemon.strategy.rolling, input.diagnoses));

  std::int64_t updated = 0, ready = 0, failed = 0, offline = 0, replicas = 0, ready_replicas = 0, held = 0, waits = 0,
               provisioned = 0;
  std::int64_t deadline_exceeded = 0, refused = 0, on_their_way = 0;
  std::vector<std::string> not_ready;
  std::vector<const WorkloadRef*> provided;
  StatusLists lists;
  const PoolView* first_failure = nullptr;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const PoolView& view = views[i];
    updated += view.updated;
    ready += view.healthy && (view.phase == kReadyPhase || view.phase == kSoakingPhase);
    failed += view.phase == kFailedPhase;
    offline += view.phase == kOfflinePhase;
    if (view.revision_failed && view.phase == kFailedPhase) ++(view.late ? deadline_exceeded : refused);
    held += input.pools[i].plan->held;
    waits += input.pools[i].plan->waits;
    provisioned += view.workload != nullptr;
    if (view.phase == kFailedPhase && first_failure == nullptr) first_failure = &view;
    if (view.phase != kReadyPhase && view.phase != kOfflinePhase)
      not_ready.push_back(std::string(view.name) + " (" + view.phase + ")");
    on_their_way += !view.updated && !view.excused && view.phase != kFailedPhase && !input.pools[i].plan->held;
    if (lists.nodepools.size() < kMaxListed) lists.nodepools.push_back(view.name);
    if (view.workload != nullptr) {
      const WorkloadState& state = view.workload->state();
      replicas += state.replicas;
      ready_replicas += state.ready_replicas;
      provided.push_back(view.workload);
    }
  }
  const auto desired = static_cast<std::int64_t>(views.size());
  lists.workloads = Summary(std::move(provided));

  Json status = {
      {"observedGeneration", daemon.meta.generation},
      {"collisionCount", input.collision_count},
      {"currentRevision", CurrentRevision(input, views)},
      {"updateRevision", input.snapshot.update->name},
      {"templateType", daemon.kind == WorkloadKind::kDeployment ? "Deployment" : "StatefulSet"},
      {"desiredPools", desired},
      {"updatedPools", updated},
      {"readyPools", ready},
      {"failedPools", failed},
      {"offlinePools", offline},
      {"replicas", replicas},
      {"readyReplicas", ready_replicas},
      {"images", Cut(ImagesOf(input.snapshot.update->content), kMaxMessage)},
  };

  if (input.rollout && !input.snapshot.begun.empty()) status[kBegunGroups] = input.snapshot.begun;

  OldEntries old_entries;
  if (const Json* old = Find(input.previous, {"pools"}); old != nullptr && old->is_array()) {
    old_entries.reserve(old->size());
    for (const Json& entry : *old) {
      if (const Json* name = Find(entry, {"name"}); name != nullptr && name->is_string()) {
        old_entries.emplace(name->get_ref<const std::string&>(), &entry);
      }
    }
  }
  std::vector<PoolView> leaving;
  // What is not decided stays as it was shown.
  const auto was_blocked = [&](std::string_view pool) {
    const auto old = old_entries.find(pool);
    return old != old_entries.end() && StringAt(*old->second, {"reason"}) == kRemovalBlocked;
  };
  const auto list_leaving = [&](const std::vector<WorkloadRef>& workloads, bool stay) {
    for (const WorkloadRef& workload : workloads) {
      PoolView view;
      view.name = workload.pool;
      view.phase = kRemovingPhase;
      if (stay && (input.held.blocked() || was_blocked(view.name))) view.reason = kRemovalBlocked;
      view.revision = workload.object->meta().Label(kRevisionLabel);
      view.workload = &workload;
      view.state = StateOf({workload.state(), !stay || workload.object->meta().deleting()});
      leaving.push_back(std::move(view));
    }
  };
  list_leaving(input.leaving, false);
  list_leaving(input.held.workloads, true);
  std::vector<const PoolView*> listed;
  listed.reserve(views.size() + leaving.size());
  for (const auto* of_both : {&views, &leaving}) {
    for (const PoolView& view : *of_both) listed.push_back(&view);
  }
  std::stable_sort(listed.begin(), listed.end(), [](const PoolView* a, const PoolView* b) {
    return std::pair(ListRank(*a), std::string_view(a->name)) < std::pair(ListRank(*b), std::string_view(b->name));
  });
  const bool truncated = listed.size() > kMaxListed;
  if (truncated) {
    listed.resize(kMaxListed);
    status[kTruncated] = true;
  }
  lists.pools.reserve(listed.size());
  for (const PoolView* view : listed) lists.pools.push_back(Listed(*view, old_entries, now));

  Conditions conditions(input.previous, daemon.meta.generation, input.snapshot.now);
  const bool all_there = provisioned == desired && input.leaving.empty() && input.held.workloads.empty();
  conditions.Set({"WorkLoadProvisioned", all_there ? "True" : "False", "", ""}, true);
  conditions.Set({"WorkLoadUpdated", updated == desired ? "True" : "False", "", ""}, true);
  if (first_failure != nullptr) {
    conditions.Set({kFailure, "True", first_failure->reason,
                    "pool " + std::string(first_failure->name) + ": " + first_failure->message +
                        (failed > 1 ? " (and " + std::to_string(failed - 1) + " more pools)" : "")},
                   true);
  } else if (conditions.Has(kFailure)) {
    conditions.Set({kFailure, "False", "", ""}, true);
  }

  const bool on_delete = daemon.strategy.type == UpdateStrategyType::kOnDelete;
  const std::string progress = std::to_string(updated) + " of " + std::to_string(desired) + " pools are updated";
  if (!not_ready.empty()) {
    conditions.Set({"Ready", "False", "PoolsNotReady", "not ready: " + NameSome(not_ready)});
  } else if (const std::int64_t waiting = waits + (on_delete ? held : 0); waiting > 0 && !daemon.paused) {
    conditions.Set(
        {"Ready", "False", "PoolsWaiting", std::to_string(waiting) + " pools wait to be moved to the update revision"});
  } else {
    conditions.Set({"Ready", "True", "PoolsReady", "every pool that is not offline is ready"});
  }
  if (daemon.paused) {
    conditions.Set({"Progressing", "Unknown", "Paused", "spec.paused holds back new revisions"});
  } else if (auto condition = input.rollout ? ProgressOf(input.snapshot, *input.rollout) : std::nullopt) {
    conditions.Set(*condition);
  } else if (on_their_way > 0) {
    conditions.Set({"Progressing", "True", "RollingOut", progress});
  } else if (deadline_exceeded > 0) {
    conditions.Set({"Progressing", "False", kDeadlineExceeded, progress});
  } else if (refused > 0) {
    conditions.Set({"Progressing", "False", "PoolsFailed", progress});
  } else if (on_delete && held > 0) {
    conditions.Set({"Progressing", "True", "WaitingForDeletion",
                    std::to_string(held) + " pools move when their workload is deleted (updateStrategy OnDelete)"});
  } else if (held > 0) {
    conditions.Set({"Progressing", "True", "RolloutComplete",
                    progress + "; updateStrategy.rollingUpdate.partition keeps " + std::to_string(held) + " back"});
  } else {
    conditions.Set({"Progressing", "True", "RolloutComplete", progress});
  }
  if (failed > 0) {
    conditions.Set({"Degraded", "True", "PoolsFailed",
                    std::to_string(failed) + " of " + std::to_string(desired) + " pools failed"});
  } else {
    conditions.Set({"Degraded", "False", "NoFailures", ""});
  }
  conditions.Set({"Paused", daemon.paused ? "True" : "False", daemon.paused ? "SpecPaused" : "NotPaused", ""});
  if (input.held.blocked()) {
    conditions.Set({kRemovalBlocked, "True", input.held.reason, input.held.message});
  } else if (conditions.Has(kRemovalBlocked) && !input.held.undecided()) {
    conditions.Set({kRemovalBlocked, "False", "NothingBlocked", ""});
  }
  status["conditions"] = conditions.Take();
  return {std::move(status), std::move(lists)};
}

Json DaemonStatus::ToJson() const {
  Json status = fields;
  if (lists) lists->AddChanged(nullptr, status);
  return status;
}

bool DaemonStatus::IsShownBy(const Json& status) const {
  return (!lists || lists->AreShownBy(status)) && StatusPatch(status, fields, "", {kTruncated, kBegunGroups}).is_null();
}

Json DaemonStatus::PatchFrom(const Json& before, const std::string& uid) const {
  Json patch = StatusPatch(before, fields, uid, {kTruncated, kBegunGroups});
  if (!lists) return patch;
  Json changed = patch.is_null() ? Json::object() : std::move(patch["status"]);
  lists->AddChanged(before, changed);
  if (changed.empty()) return nullptr;
  patch["metadata"]["uid"] = uid;
  patch["status"] = std::move(changed);
  return patch;
}

Json BuildBlockedStatus(const ObjectMeta& meta, const Json& object, const std::string& reason, const Error& error,
                        WallTime now) {
  Json status = object.value("status", Json::object());
  if (!status.is_object()) status = Json::object();
  status["observedGeneration"] = meta.generation;
  if (!status.contains("currentRevision")) status["currentRevision"] = "";
  if (!status.contains("templateType")) {
    const Json* stateful = Find(object, {"spec", "workloadTemplate", TemplateField(WorkloadKind::kStatefulSet)});
    status["templateType"] = stateful != nullptr && !stateful->is_null() ? "StatefulSet" : "Deployment";
  }
  Conditions conditions(status, meta.generation, now);
  conditions.Set({kFailure, "True", reason, error.message}, true);
  conditions.Set({"Ready", "False", reason, error.message});
  conditions.Set({"Progressing", "False", reason, "the spec is not acted upon; what runs stays as it is"});
  status["conditions"] = conditions.Take();
  return status;
}

std::set<std::string> BegunGroups(const Json& status, const std::string& revision) {
  std::set<std::string> groups;
  const Json* list = Find(status, {kBegunGroups});
  if (list == nullptr || !list->is_array() || StringAt(status, {"updateRevision"}) != revision) return groups;
  for (const Json& group : *list) {
    if (group.is_string()) groups.insert(group.get<std::string>());
  }
  return groups;
}

bool SaysBlocked(const Json& status, const std::string& reason, const Error& error) {
  const Json* failure = FindConditionIn(status, kFailure);
  return failure != nullptr && StringAt(*failure, {"status"}) == "True" && StringAt(*failure, {"reason"}) == reason &&
         StringAt(*failure, {"message"}) == Cut(error.message, kMaxMessage);
}

bool SaysRemovalBlocked(const Json& status, const std::string& token) {
  const Json* blocked = FindConditionIn(status, kRemovalBlocked);
  return blocked != nullptr && StringAt(*blocked, {"status"}) == "True" &&
         StringAt(*blocked, {"message"}).find("(token " + token + ")") != std::string::npos;
}

}  // namespace yad
