#include "operator/yurtappdaemon/apply.h"

#include <utility>

#include "operator/api/well_known.h"
#include "operator/base/parallel.h"

namespace yad {
namespace {

constexpr int kConflictAttempts = 4;

struct Refusal {
  std::string reason;
  std::string message;
};

// What a refused write is called in status. nullopt: it may succeed by itself, and is no failure yet.
std::optional<Refusal> RefusalOf(const Error& error) {
  if (IsTransient(error) || error.reason == Reason::kConflict || error.reason == Reason::kCancelled) return std::nullopt;
  if (error.reason == Reason::kForbidden && error.message.find("exceeded quota") != std::string::npos) {
    return Refusal{"QuotaExceeded", error.message};
  }
  return Refusal{std::string(ToString(error.reason)), error.message};
}

bool ControlledBy(const Json& object, const std::string& uid) {
  const ObjectMeta meta = ParseMeta(object);
  const OwnerReference* controller = meta.controller();
  return controller != nullptr && controller->uid == uid;
}

// The name that status remembers for a pool: a workload made by OpenYurt keeps its generated one.
std::string RememberedName(const YurtAppDaemon& daemon, const std::string& pool) {
  const Json* pools = Find(daemon.status, {"pools"});
  if (pools == nullptr || !pools->is_array()) return "";
  for (const Json& entry : *pools) {
    if (StringAt(entry, {"name"}) == pool) return StringAt(entry, {"workload"});
  }
  return "";
}

}  // namespace

PlanExecutor::Attempt PlanExecutor::Update(const YurtAppDaemon& daemon, const PoolPlan& plan, Json live,
                                           bool live_is_fresh, std::stop_token stop) const {
  const ResourceType& type = TypeOf(daemon.kind);
  const ObjectMeta meta = ParseMeta(live);
  for (int attempt = 1;; ++attempt) {
    auto merged = MergedWorkload(daemon, plan, live);
    if (!merged) return {Fail(merged.error()), Write::kNone};
    if (live_is_fresh && *merged == live) return {std::move(live), Write::kNone};
    auto updated = client_.Update(type, *merged, {}, stop);
    if (updated) return {std::move(updated), plan.write};
    if (updated.error().reason != Reason::kConflict || attempt == kConflictAttempts) return {std::move(updated), plan.write};
    // Its own controllers write status all the time: merge once more onto what is there now.
    auto fresh = client_.Get(type, meta.key, stop);
    if (!fresh) return {std::move(fresh), Write::kNone};
    if (ParseMeta(*fresh).uid != meta.uid) {
      return {Fail(Reason::kConflict, meta.key.ToString() + " was replaced meanwhile"), Write::kNone};
    }
    live = *std::move(fresh);
    if (live.contains("metadata") && live["metadata"].is_object()) live["metadata"].erase("managedFields");
    live_is_fresh = true;
  }
}

std::optional<PlanExecutor::Attempt> PlanExecutor::Reclaim(const YurtAppDaemon& daemon, const PoolPlan& plan,
                                                           const std::string& name, std::stop_token stop) const {
  auto existing = client_.Get(TypeOf(daemon.kind), {daemon.meta.key.ns, name}, stop);
  if (!existing) {
    if (existing.error().reason == Reason::kNotFound) return std::nullopt;
    return Attempt{Fail(existing.error()), Write::kNone};
  }
  const ObjectMeta meta = ParseMeta(*existing);
  if (!ControlledBy(*existing, daemon.meta.uid)) {
    const OwnerReference* controller = meta.controller();
    const std::string whose = controller == nullptr ? "nobody" : controller->kind + " " + controller->name;
    return Attempt{Fail(Error{Reason::kAlreadyExists,
                              TypeOf(daemon.kind).kind + " " + name + " exists already and is controlled by " + whose +
                                  "; it is left alone: delete or rename it",
                              0, std::nullopt, {}}),
                   Write::kNone};
  }
  if (meta.deleting()) return Attempt{Fail(Reason::kConflict, name + " is still being deleted"), Write::kNone};
  (*existing)["metadata"].erase("managedFields");
  PoolPlan repair = plan;
  repair.write = Write::kRepair;
  repair.from.inputs = plan.to.inputs;
  return Update(daemon, repair, *std::move(existing), true, stop);
}

PlanExecutor::Attempt PlanExecutor::Create(const YurtAppDaemon& daemon, const PoolPlan& plan, std::stop_token stop) const {
  auto wanted = NewWorkload(daemon, plan);
  if (!wanted) return {Fail(wanted.error()), Write::kNone};
  const std::string name = StringAt(*wanted, {"metadata", "name"});
  const std::string remembered = RememberedName(daemon, plan.pool);
  if (!remembered.empty() && remembered != name) {
    if (auto reclaimed = Reclaim(daemon, plan, remembered, stop)) {
      const bool foreign = !reclaimed->object && reclaimed->object.error().reason == Reason::kAlreadyExists;
      if (!foreign) return *std::move(reclaimed);
    }
  }
  auto created = client_.Create(TypeOf(daemon.kind), *wanted, {}, stop);
  if (created || created.error().reason != Reason::kAlreadyExists) return {std::move(created), Write::kCreate};
  if (auto reclaimed = Reclaim(daemon, plan, name, stop)) return *std::move(reclaimed);
  return {Fail(Reason::kConflict, name + " came and went while it was created"), Write::kNone};
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
    if (plan.pools[i].write != Write::kNone) writes.push_back(i);
  }

  struct Done {
    Attempt attempt;
    ObjectPtr object;
    bool settled = false;
  };
  std::vector<Done> done(writes.size());
  std::vector<Status> deleted(plan.removals.size());
  ParallelFor(writes.size() + plan.removals.size(), options_.parallel_writes, [&](std::size_t task) {
    if (task >= writes.size()) {
      const std::size_t i = task - writes.size();
      const ObjectMeta& meta = plan.removals[i].workload.object->meta();
      DeleteOptions options;
      options.uid = meta.uid;
      deleted[i] = client_.Delete(TypeOf(daemon.kind), meta.key, options, stop);
      return;
    }
    Done& slot = done[task];
    const PoolPlan& pool = plan.pools[writes[task]];
    slot.attempt = pool.write == Write::kCreate ? Create(daemon, pool, stop)
                                                : Update(daemon, pool, pool.workload->object->Parse(), false, stop);
    if (!slot.attempt.object) return;
    Json live = *std::move(slot.attempt.object);
    slot.attempt.object = Json();
    slot.object = std::make_shared<StoredObject>(std::move(live), projector_);
    store_.Observe(slot.object);
    // Where the answer is not what was asked for, somebody (a mutating webhook, the server's own canonical form) rewrote it, and would do so again.
    PoolPlan now = pool;
    now.from = now.to;
    const Json answer = slot.object->Parse();
    const auto again = MergedWorkload(daemon, now, answer);
    slot.settled = again && *again != answer;
  });

  const auto retry = [&](const Error& error) {
    if (!applied.retry || error.retry_after.value_or(std::chrono::milliseconds(0)) >
                              applied.retry->retry_after.value_or(std::chrono::milliseconds(0))) {
      applied.retry = error;
    }
  };
  for (std::size_t task = 0; task < writes.size(); ++task) {
    PoolResult& result = applied.pools[writes[task]];
    Done& slot = done[task];
    if (slot.object != nullptr) {
      result.workload = MakeWorkloadRef(slot.object);
      if (slot.settled) {
        memo.Settle(slot.object->meta().key.name, TargetFingerprint(result.plan->to), slot.object->digest());
      }
      switch (slot.attempt.written) {
        case Write::kCreate: applied.created.push_back(result.plan->pool); break;
        case Write::kMove: applied.moved.push_back(result.plan->pool); break;
        case Write::kRepair: applied.repaired.push_back(result.plan->pool); break;
        case Write::kAdopt: applied.adopted.push_back(result.plan->pool); break;
        case Write::kNone: break;
      }
      continue;
    }
    const Error& error = slot.attempt.object.error();
    result.outstanding = true;
    retry(error);
    if (error.reason == Reason::kAlreadyExists) {
      result.failure_reason = "WorkloadConflict";
      result.failure_message = error.message;
    } else if (const auto refusal = RefusalOf(error)) {
      result.failure_reason = refusal->reason;
      result.failure_message = refusal->message;
      applied.refused.push_back(result.plan->pool);
    }
  }
  for (std::size_t i = 0; i < plan.removals.size(); ++i) {
    const Removal& removal = plan.removals[i];
    const bool gone = !deleted[i] && deleted[i].error().reason == Reason::kNotFound;
    if (!deleted[i] && !gone) retry(deleted[i].error());
    if (deleted[i]) (removal.duplicate ? applied.duplicates_removed : applied.removed).push_back(removal.workload.pool);
    if (!removal.duplicate && !gone) applied.leaving.push_back(removal.workload);
    memo.Forget(removal.workload.object->meta().key.name);
  }
  return applied;
}

}  // namespace yad
