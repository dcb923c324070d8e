#include "operator/yurtappdaemon/apply.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <unordered_map>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/base/guarded.h"
#include "operator/base/parallel.h"
#include "operator/nodepool/nodepool_type.h"
#include "operator/runtime/paged_list.h"
#include "operator/yurtappdaemon/confirm.h"
#include "operator/yurtappdaemon/controlled.h"
#include "operator/yurtappdaemon/phase.h"

namespace yad {
namespace {

constexpr int kConflictAttempts = 4;
constexpr int kPageSize = 500;
constexpr std::size_t kTrimAfter = 4u << 20;  // bytes of text that one reconcile writes

// Names of workloads by pool. A workload that OpenYurt created keeps its generated name.
using WorkloadNames = std::unordered_map<std::string, std::string>;

struct Failure {
  std::string reason;
  std::string message;
};

// Returns the failure that status shows for a rejected write. nullopt: the write may succeed later, and is not a
// failure yet.
std::optional<Failure> FailureOf(const Error& error) {
  switch (error.reason) {
    case Reason::kConflict:
    case Reason::kCancelled:
    case Reason::kDecode:        // The write may have happened.
    case Reason::kTooLarge:      // The write may have happened.
    case Reason::kUnauthorized:  // The server rejected the operator, not the workload.
    case Reason::kNotFound:      // The object or its namespace has just been deleted, and the watch reports it.
      return std::nullopt;
    case Reason::kInternalError:
      if (error.message.find("failed calling webhook") == std::string::npos) return std::nullopt;
      return Failure{kWebhookFailed, error.message};
    case Reason::kForbidden:
      if (error.message.find("exceeded quota") != std::string::npos) return Failure{kQuotaExceeded, error.message};
      for (const Cause& cause : error.causes) {
        if (cause.reason == "NamespaceTerminating") return std::nullopt;
      }
      break;
    default:
      if (IsTransient(error)) return std::nullopt;
  }
  return Failure{std::string(ToString(error.reason)), error.message};
}

// Returns whether one rendering made both. Otherwise, a merge would keep the values that only the other rendering has.
bool SameOrigin(const ObjectMeta& a, const ObjectMeta& b) {
  return a.Label(kRevisionLabel) == b.Label(kRevisionLabel) &&
         a.Annotation(kRenderedFromAnnotation) == b.Annotation(kRenderedFromAnnotation);
}

bool WritesService(const PoolPlan& plan) { return plan.service && plan.service->write != ServiceWrite::kNone; }

std::vector<std::string>& ServicesWritten(Applied& applied, ServiceWrite write) {
  if (write == ServiceWrite::kCreate) return applied.services_created;
  return write == ServiceWrite::kUpdate ? applied.services_updated : applied.services_repaired;
}

WorkloadNames NamesIn(const Json& status) {
  WorkloadNames names;
  const Json* pools = Find(status, {"pools"});
  if (pools == nullptr || !pools->is_array()) return names;
  for (const Json& entry : *pools) {
    if (std::string workload = StringAt(entry, {"workload"}); !workload.empty())
      names.emplace(StringAt(entry, {"name"}), std::move(workload));
  }
  return names;
}

}  // namespace

ObjectPtr PlanExecutor::Kept(const Json& object) const { return std::make_shared<StoredObject>(object, projector_); }

ObjectPtr PlanExecutor::Kept(const JsonDocument& object) const {
  const Json part = object.TreeOfObject(kProjectedOfWorkloads);
  return std::make_shared<StoredObject>(ParseMeta(object), part, object, projector_);
}

PlanExecutor::Attempt PlanExecutor::Update(const YurtAppDaemon& daemon, const PoolPlan& plan,
                                           std::stop_token stop) const {
  const ResourceType& type = TypeOf(daemon.kind);
  const ObjectMeta& meta = plan.workload->object->meta();
  if (meta.controller() == nullptr) {
    // After a deletion with --cascade=orphan, a workload that is adopted again would be deleted with the daemon.
    if (const auto owner = ConfirmDaemon(client_, daemon.meta, stop); !owner)
      return {Fail(owner.error()), Write::kNone};
  }
  Json live = plan.workload->object->Parse();
  for (int attempt = 1;; ++attempt) {
    const Json before = attempt > 1 ? live : Json();
    const auto merged = MergedWorkload(daemon, plan, std::move(live));
    if (!merged) return {Fail(merged.error()), Write::kNone};
    if (*merged == before) return {Kept(before), Write::kNone};
    const auto updated = client_.UpdateAsDocument(type, *merged, {}, stop);
    if (updated) return {Kept(*updated), plan.write};
    if (updated.error().reason != Reason::kConflict || attempt == kConflictAttempts)
      return {Fail(updated.error()), plan.write};
    // The workload's controller writes its status often, so the merge is repeated with the present object.
    auto fresh = client_.Get(type, meta.key, stop);
    if (!fresh) return {Fail(fresh.error()), Write::kNone};
    const ObjectMeta now = ParseMeta(*fresh);
    if (now.uid != meta.uid || now.deleting()) {
      return {Fail(Reason::kConflict, meta.key.ToString() + " was deleted or replaced meanwhile"), Write::kNone};
    }
    if (now.controller() != nullptr && !ControlledBy(now, daemon.meta.uid)) {
      return {Taken(TypeOf(daemon.kind), meta.key.name, "is controlled by " + ControllerOf(now)), Write::kNone};
    }
    if (now.controller() == nullptr && meta.controller() != nullptr) {
      return {Fail(Reason::kConflict, meta.key.ToString() + " was released meanwhile"), Write::kNone};
    }
    if (!SameOrigin(now, meta)) {
      return {Fail(Reason::kConflict, meta.key.ToString() + " is on another revision than it was"), Write::kNone};
    }
    live = *std::move(fresh);
  }
}

std::optional<PlanExecutor::Attempt> PlanExecutor::Reclaim(const YurtAppDaemon& daemon, const PoolPlan& plan,
                                                           const std::string& name, std::stop_token stop) const {
  const ResourceType& type = TypeOf(daemon.kind);
  auto existing = client_.Get(type, {daemon.meta.key.ns, name}, stop);
  if (!existing) {
    if (existing.error().reason == Reason::kNotFound) return std::nullopt;
    return Attempt{Fail(existing.error())};
  }
  const ObjectMeta meta = ParseMeta(*existing);
  if (!ControlledBy(meta, daemon.meta.uid))
    return Attempt{Taken(TypeOf(daemon.kind), name, "is controlled by " + ControllerOf(meta))};
  const std::string pool = StringAt(*existing, {"spec", "selector", "matchLabels", kPoolNameLabel});
  if (pool != plan.pool) return Attempt{Taken(TypeOf(daemon.kind), name, "selects the pods of pool \"" + pool + "\"")};
  if (meta.deleting()) return Attempt{Fail(Reason::kConflict, name + " is still being deleted")};
  if (meta.Label(kPoolNameLabel) == plan.pool) return Attempt{Kept(*existing), Write::kNone, true};
  const Json patch = {
      {"metadata",
       {{"uid", meta.uid}, {"resourceVersion", meta.resource_version}, {"labels", {{kPoolNameLabel, plan.pool}}}}}};
  const auto patched = client_.Patch(type, meta.key, PatchType::kMerge, patch, {}, stop);
  if (!patched) return Attempt{Fail(patched.error()), Write::kRepair, true};
  return Attempt{Kept(*patched), Write::kRepair, true};
}

PlanExecutor::Attempt PlanExecutor::Create(const YurtAppDaemon& daemon, const PoolPlan& plan,
                                           const std::string& remembered, std::stop_token stop) const {
  auto wanted = NewWorkload(daemon, plan);
  if (!wanted) return {Fail(wanted.error())};
  const std::string name = StringAt(*wanted, {"metadata", "name"});
  // A workload that the caches do not show may have the name in status, which lists at most 500 pools, or the name that
  // an older version gave.
  const std::string old_name = NameOfOlderVersion(daemon.meta.key.name, daemon.meta.uid, plan.pool, daemon.kind);
  for (const std::string& known : {remembered, remembered == old_name ? std::string() : old_name}) {
    if (known.empty() || known == name) continue;
    if (auto reclaimed = Reclaim(daemon, plan, known, stop)) {
      const bool foreign = !reclaimed->object && reclaimed->object.error().reason == Reason::kAlreadyExists;
      if (!foreign) return *std::move(reclaimed);
    }
  }
  const auto created = client_.CreateAsDocument(TypeOf(daemon.kind), *wanted, {}, stop);
  if (created) return {Kept(*created), Write::kCreate};
  if (created.error().reason != Reason::kAlreadyExists) return {Fail(created.error()), Write::kCreate};
  if (auto reclaimed = Reclaim(daemon, plan, name, stop)) return *std::move(reclaimed);
  return {Fail(Reason::kConflict, name + " came and went while it was created")};
}

Status PlanExecutor::MarkRemovals(const YurtAppDaemon& daemon, std::vector<Removal>& removals,
                                  std::stop_token stop) const {
  std::vector<Removal*> unmarked;
  for (Removal& removal : removals) {
    const std::string& mark = removal.workload.object->meta().Annotation(kRemovalAllowedAnnotation);
    if (!removal.mark.empty() && mark != removal.mark) unmarked.push_back(&removal);
  }
  std::vector<Status> marked(unmarked.size());
  ParallelFor(unmarked.size(), options_.parallel_writes, [&](std::size_t i) {
    const ObjectMeta& meta = unmarked[i]->workload.object->meta();
    const Json patch = {
        {"metadata",
         {{"uid", meta.uid},
          {"labels", {{kPoolNameLabel, unmarked[i]->workload.pool}}},  // The store holds only labelled workloads.
          {"annotations", {{kRemovalAllowedAnnotation, unmarked[i]->mark}}}}}};
    auto answer = client_.Patch(TypeOf(daemon.kind), meta.key, PatchType::kMerge, patch, {}, stop);
    if (answer) {
      const auto object = Kept(*answer);
      store_.Observe(object);
      unmarked[i]->workload = MakeWorkloadRef(object);
    } else if (answer.error().reason != Reason::kNotFound) {
      marked[i] = Fail(answer.error());
    }
  });
  for (Status& status : marked) {
    if (!status) return std::move(status);
  }
  return {};
}

Status PlanExecutor::ConfirmOrphans(const YurtAppDaemon& daemon, const Plan& plan, std::stop_token stop) const {
  ListOptions options;
  options.ns = daemon.meta.key.ns;
  options.limit = kPageSize;
  options.label_selector = kPoolNameLabel;
  for (const auto& [key, value] : StringMapAt(daemon.workload_template, {"metadata", "labels"})) {
    if (key != kPoolNameLabel) options.label_selector += "," + key + "=" + value;
  }
  bool unseen = false;
  const auto read = ForEachListed(client_, TypeOf(daemon.kind), options, stop, [&](const JsonDocument& item) {
    const ObjectMeta meta = ParseMeta(item);
    if (meta.controller() == nullptr && !meta.deleting() && !plan.orphans.contains(meta.uid)) {
      unseen = true;
      store_.Observe(Kept(item));
    }
    return true;
  });
  if (!read) return Fail(read.error());
  if (unseen) return Fail(Reason::kConflict, "an earlier " + daemon.meta.key.name + " may have left workloads");
  return {};
}

Status PlanExecutor::ReadWorkloads(const YurtAppDaemon& daemon, std::stop_token stop) const {
  ListOptions options;
  options.ns = daemon.meta.key.ns;
  options.limit = kPageSize;
  options.label_selector = kPoolNameLabel;
  for (const auto& [key, value] : StringMapAt(daemon.selector, {"matchLabels"})) {
    options.label_selector += "," + key + "=" + value;
  }
  const auto read = ForEachListed(client_, TypeOf(daemon.kind), options, stop, [&](const JsonDocument& item) {
    if (ControlledBy(ParseMeta(item), daemon.meta.uid)) store_.Observe(Kept(item));
    return true;
  });
  return read ? Status() : Fail(read.error());
}

Status PlanExecutor::ConfirmOffline(const std::string& name, std::stop_token stop) const {
  const auto pool = ReadPool(client_, options_.pool_type(), name, stop);
  if (!pool) return Fail(pool.error());
  if (!*pool || !(*pool)->offline) return Fail(Reason::kConflict, "pool " + name + " is not Offline any more");
  return {};
}

Status PlanExecutor::Remove(const YurtAppDaemon& daemon, const Removal& removal, LiveChecks& checks,
                            std::stop_token stop) const {
  const ResourceType& type = TypeOf(daemon.kind);
  if (removal.kept) {
    // The caches may show a workload that the operator has already deleted. Then the pool would have none left.
    const ObjectMeta& kept = removal.kept->object->meta();
    const auto now = client_.GetMeta(type, kept.key, stop);
    if (!now) return Fail(Reason::kConflict, "the workload that stays could not be read: " + now.error().message);
    if (now->uid != kept.uid || now->deleting() || !ControlledBy(*now, daemon.meta.uid))
      return Fail(Reason::kConflict, kept.key.ToString() + " is gone");
    // The caches do not show a workload without its label, and another one would be created.
    if (now->Label(kPoolNameLabel) != removal.kept->pool)
      return Fail(Reason::kConflict, kept.key.ToString() + " lost its label");
  } else if (const Status left = checks.MayRemove(removal.workload.pool, removal.mark); !left) {
    return left;
  }
  const ObjectMeta& meta = removal.workload.object->meta();
  DeleteOptions options;
  options.uid = meta.uid;
  options.resource_version = meta.resource_version;  // It may have got another owner.
  return client_.Delete(type, meta.key, options, stop);
}

void PlanExecutor::RemoveServices(const YurtAppDaemon& daemon, const Plan& plan, const std::set<std::string>& staying,
                                  LiveChecks& checks, Applied& applied, std::stop_token stop) const {
  const std::vector<ServiceRemoval>& removals = plan.service_removals;
  std::vector<Status> removed(removals.size());
  ParallelFor(removals.size(), options_.parallel_writes, [&](std::size_t i) {
    const ServiceRef& service = removals[i].service;
    if (!removals[i].pool) {
      removed[i] = staying.contains(service.pool) ? Fail(Reason::kConflict, "the workload is still there")
                                                  : checks.MayRemove(service.pool, "");
      if (removed[i]) removed[i] = service_writer_.Remove(daemon, service, nullptr, stop);
      return;
    }
    const PoolResult& result = applied.pools[*removals[i].pool];
    const bool written = result.workload && !result.outstanding;
    removed[i] = written ? service_writer_.Remove(daemon, service, result.workload->object.get(), stop)
                         : Fail(Reason::kConflict, "the workload has not been written yet");
  });
  for (std::size_t i = 0; i < removals.size(); ++i) {
    const bool waits = removals[i].pool && plan.pools[*removals[i].pool].withheld;
    if (removed[i]) {
      applied.services_removed.push_back(removals[i].service.pool);
    } else if (removed[i].error().reason != Reason::kNotFound && !applied.retry && !waits) {
      applied.retry = removed[i].error();
    }
  }
}

Applied PlanExecutor::Apply(const YurtAppDaemon& daemon, const Plan& plan, PlanMemo& memo, std::stop_token stop) const {
  Applied applied;
  applied.leaving = plan.leaving;
  applied.pools.resize(plan.pools.size());
  std::vector<std::size_t> writes;
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    PoolResult& result = applied.pools[i];
    result.plan = &plan.pools[i];
    result.workload = plan.pools[i].workload;
    result.failure_reason = plan.pools[i].failure_reason;
    result.failure_message = plan.pools[i].failure_message;
    const auto& service = plan.pools[i].service;
    if (service && service->live != nullptr && !service->live->meta().deleting()) result.service = service->name;
    if (plan.pools[i].withheld) {
      result.outstanding = true;
      result.failure_reason = plan.pools[i].withheld->reason;
      result.failure_message = plan.pools[i].withheld->message;
    } else if (WritesAnything(plan.pools[i])) {
      writes.push_back(i);
    }
  }

  if (writes.empty() && plan.removals.empty() && plan.service_removals.empty()) return applied;
  const auto live_daemon = ConfirmDaemon(client_, daemon.meta, stop);
  Status confirmed = live_daemon ? Status() : Fail(live_daemon.error());
  WorkloadNames remembered;
  if (confirmed && std::any_of(writes.begin(), writes.end(), [&](std::size_t i) {
        return plan.pools[i].write == Write::kCreate || plan.pools[i].write == Write::kAdopt;
      })) {
    if (live_daemon->resource_version == daemon.meta.resource_version) {
      remembered = NamesIn(daemon.status);
    } else if (const auto newer = client_.Get(kYurtAppDaemonType, daemon.meta.key, stop)) {
      remembered = NamesIn(newer->value("status", Json()));
    } else {
      confirmed = Fail(newer.error());
    }
    if (confirmed && remembered.empty()) confirmed = ConfirmOrphans(daemon, plan, stop);
  }
  if (!confirmed) {
    applied.refused = confirmed.error();
    return applied;
  }
  struct Done {
    Attempt attempt;
    std::optional<Undone> undone;  // the part that the server did not keep
    std::optional<Result<ObjectPtr>> service = std::nullopt;
    bool held_up = false;  // the workload was not written, because the write of its Service failed
  };
  std::vector<Done> done(writes.size());
  LiveChecks checks(client_, *options_.clock, options_.pool_type(), daemon, plan, options_.parallel_writes, stop);
  std::vector<Removal> removals = plan.removals;
  const Status marked = MarkRemovals(daemon, removals, stop);
  std::vector<Status> deleted(removals.size());
  Guarded<std::set<std::pair<std::uint64_t, std::uint64_t>>> as_asked;
  std::atomic<std::size_t> written_bytes = 0;
  ParallelFor(writes.size() + removals.size(), options_.parallel_writes, [&](std::size_t task) {
    if (task >= writes.size()) {
      const Removal& removal = removals[task - writes.size()];
      const bool held_up = !removal.mark.empty() && !marked;
      deleted[task - writes.size()] = held_up ? marked : Remove(daemon, removal, checks, stop);
      return;
    }
    Done& slot = done[task];
    const PoolPlan& pool = plan.pools[writes[task]];
    // An orphan of an unknown revision is adopted as it is.
    const std::size_t bytes = pool.to.revision != nullptr ? RenderedBytes(pool.to.revision->content)
                                                          : pool.workload->object->unpacked_bytes();
    const ByteBudget::Lease text = options_.text->Take(bytes, stop);
    written_bytes += bytes;
    if (WritesService(pool)) slot.service = service_writer_.Write(daemon, pool, stop);
    slot.held_up = slot.service && !*slot.service && WaitsForService(pool);
    if (pool.write == Write::kNone || slot.held_up) return;
    if (pool.write == Write::kCreate) {
      const auto name = remembered.find(pool.pool);
      slot.attempt = Create(daemon, pool, name == remembered.end() ? "" : name->second, stop);
    } else if (const Status as_read = IsForThePool(pool) ? checks.InputsAreAsPlanned(pool) : Status(); !as_read) {
      slot.attempt.object = Fail(as_read.error());
    } else {
      slot.attempt = Update(daemon, pool, stop);
    }
    if (!slot.attempt.object) return;
    const StoredObject& written = **slot.attempt.object;
    store_.Observe(*slot.attempt.object);
    // A response that differs from the request was rewritten by a mutating webhook, or into the server's canonical
    // form. The next write would be rewritten too.
    if (slot.attempt.reclaimed) return;
    // Most responses are alike, so only one of them is compared. An override may put the pool's name anywhere.
    const std::optional<std::pair<std::uint64_t, std::uint64_t>> alike =
        pool.to.inputs.overrides.empty()
            ? std::optional(std::pair(LikenessOf(written, pool.pool), TargetFingerprint(pool.to)))
            : std::nullopt;
    if (alike && as_asked.With([&](const auto& known) { return known.contains(*alike); })) return;
    const Json live = written.Parse();
    PoolPlan now = pool;
    now.from = now.to;
    if (NeedsNoWrite(daemon, now, live)) {
      if (alike) as_asked.With([&](auto& known) { known.insert(*alike); });
      return;
    }
    const auto again = MergedWorkload(daemon, now, live);
    if (again && *again != live) slot.undone = UndoneDifference(live, *again);
  });

  // glibc keeps the memory of large trees, which is several times the memory in use.
  if (written_bytes > kTrimAfter) malloc_trim(0);

  const auto retry = [&](const Error& error) {
    // Keeps the error with the longest wait. A Conflict is retried soon, and the other writes would be retried with it.
    const auto wait = [](const Error& one) {
      return std::pair(one.retry_after.value_or(std::chrono::milliseconds(0)), one.reason != Reason::kConflict);
    };
    if (!applied.retry || wait(error) > wait(*applied.retry)) applied.retry = error;
  };
  const auto fail = [&](PoolResult& result, const Error& error, const char* conflict) {
    result.outstanding = true;
    retry(error);
    if (error.reason == Reason::kAlreadyExists) {
      result.failure_reason = conflict;
      result.failure_message = error.message;
    } else if (const auto failure = FailureOf(error)) {
      result.failure_reason = failure->reason;
      result.failure_message = failure->message;
    }
  };
  for (std::size_t task = 0; task < writes.size(); ++task) {
    PoolResult& result = applied.pools[writes[task]];
    Done& slot = done[task];
    if (slot.service && *slot.service) {
      result.service = result.plan->service->name;
      ServicesWritten(applied, result.plan->service->write).push_back(result.plan->pool);
    } else if (slot.service) {
      fail(result, slot.service->error(), kServiceConflict);
      if (result.failure_reason == kQuotaExceeded) result.failure_reason = kServiceQuotaExceeded;
    }
    if (result.plan->write == Write::kNone || slot.held_up) continue;
    if (slot.attempt.object) {
      result.workload = MakeWorkloadRef(*slot.attempt.object);
      result.outstanding = result.outstanding || slot.attempt.reclaimed;
      if (slot.undone) {
        memo.Settle(result.workload->object->meta().key.name, TargetFingerprint(result.plan->to), slot.undone->digest);
        result.not_kept = slot.undone->at;
      }
      if (slot.attempt.written == Write::kMove &&
          result.workload->object->meta().Label(kRevisionLabel) != result.plan->to.revision->label) {
        // The reason is not kConflict, which would be retried every second, forever.
        const Error undone{Reason::kUnknown,
                           "the server does not keep the new revision: an admission webhook undoes the update",
                           0,
                           std::nullopt,
                           {}};
        result.outstanding = true;
        result.not_kept.clear();
        result.failure_reason = "UpdateUndone";
        result.failure_message = undone.message;
        retry(undone);
        continue;
      }
      switch (slot.attempt.written) {
        case Write::kCreate:
          applied.created.push_back(result.plan->pool);
          break;
        case Write::kMove:
          applied.moved.push_back(result.plan->pool);
          break;
        case Write::kRepair:
          applied.repaired.push_back(result.plan->pool);
          break;
        case Write::kAdopt:
          applied.adopted.push_back(result.plan->pool);
          break;
        case Write::kNone:
          break;
      }
      continue;
    }
    fail(result, slot.attempt.object.error(), kWorkloadConflict);
  }
  std::set<std::string> staying;
  for (std::size_t i = 0; i < removals.size(); ++i) {
    const Removal& removal = removals[i];
    const bool gone = !deleted[i] && deleted[i].error().reason == Reason::kNotFound;
    if (!deleted[i] && !gone) {
      retry(deleted[i].error());
      staying.insert(removal.workload.pool);
    }
    if (deleted[i]) (removal.kept ? applied.duplicates_removed : applied.removed).push_back(removal.workload.pool);
    if (!removal.kept && !gone) applied.leaving.push_back(removal.workload);
    if (deleted[i] || gone) applied.deleted.push_back(removal.workload.object->meta().key.name);
    memo.Forget(removal.workload.object->meta().key.name);
  }
  RemoveServices(daemon, plan, staying, checks, applied, stop);
  return applied;
}

}  // namespace yad
