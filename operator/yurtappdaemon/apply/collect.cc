#include "operator/yurtappdaemon/apply/collect.h"

#include <chrono>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/api/well_known.h"
#include "operator/client/status_error.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"

namespace yad {
namespace {

// Returns the reason that status shows for a rejected write, or nullopt if the write may still succeed.
std::optional<std::string> FailureOf(const Error& error) {
  switch (error.reason) {
    case Reason::kConflict:
    case Reason::kCancelled:
    case Reason::kDecode:        // The write may have happened.
    case Reason::kTooLarge:      // The write may have happened.
    case Reason::kUnauthorized:  // The server rejected the operator, not the workload.
    case Reason::kNotFound:      // The object or its namespace has just been deleted. The watch will report this.
      return std::nullopt;
    case Reason::kInternalError:
      // The last two strings are from messages about the JSON patch of a webhook, such as
      // "error in remove for path: '/spec/x': …".
      for (const char* text : {"failed calling webhook", "operation does not apply", " for path: '"}) {
        if (error.message.find(text) != std::string::npos) return kWebhookFailed;
      }
      return std::nullopt;
    case Reason::kForbidden:
      // The second string means that the server has not yet counted the objects for a new quota.
      for (const char* text : {"exceeded quota", "status unknown for quota"}) {
        if (error.message.find(text) != std::string::npos) return kQuotaExceeded;
      }
      for (const Cause& cause : error.causes) {
        if (cause.reason == "NamespaceTerminating") return std::nullopt;
      }
      break;
    case Reason::kInvalid:
      if (IsPolicyUnavailable(error)) return kWebhookFailed;
      break;
    default:
      if (IsTransient(error)) return std::nullopt;
  }
  return std::string(ToString(error.reason));
}

// The list of Outcome to which a written pool is added, by WorkloadAction and by ServiceAction.
using WrittenPools = std::vector<std::string> Outcome::*;
constexpr WrittenPools kWorkloadsWritten[] = {nullptr,          &Outcome::created,  &Outcome::updated,
                                              &Outcome::scaled, &Outcome::repaired, &Outcome::adopted};
constexpr WrittenPools kServicesWritten[] = {nullptr, &Outcome::services_created, &Outcome::services_updated,
                                             &Outcome::services_repaired};

void AddWritten(WrittenPools list, const std::string& pool, Outcome& outcome) {
  if (list != nullptr) (outcome.*list).push_back(pool);
}

// Sets outcome.retry to `error` if the retry after `error` must wait longer than the retry after the current value. For
// example, the retry waits longer after an exceeded quota than after a Conflict.
void Retry(const Error& error, Outcome& outcome) {
  const auto wait = [](const Error& one) {
    return std::pair(one.retry_after.value_or(std::chrono::milliseconds(0)), one.reason != Reason::kConflict);
  };
  if (!outcome.retry || wait(error) > wait(*outcome.retry)) outcome.retry = error;
}

// Marks the pool's write as outstanding. `conflict` is the failure reason if the object of another owner has the name.
void SetFailed(PoolOutcome& pool, const Error& error, const char* conflict, Outcome& outcome) {
  pool.outstanding = true;
  Retry(error, outcome);
  const auto reason = error.reason == Reason::kAlreadyExists ? std::optional<std::string>(conflict) : FailureOf(error);
  if (!reason) return;
  pool.failure_reason = *reason;
  // The message is truncated as in status. PoolHealth and WritePace keep a copy for each pool.
  pool.failure_message = Cut(error.message, kMaxMessage);
}

void SetUndone(PoolOutcome& pool, Outcome& outcome) {
  // The reason is not kConflict, because the operator retries a conflict every second. The webhook would revert the
  // write each time.
  const Error undone{Reason::kUnknown,
                     "the server does not keep the new revision: an admission webhook reverts the update"};
  pool.outstanding = true;
  pool.not_kept.clear();
  pool.failure_reason = "UpdateUndone";
  pool.failure_message = undone.message;
  Retry(undone, outcome);
}

// Restores the failure of an earlier attempt of this write if the current error does not show whether the server
// accepts the revision. Examples are a timeout, a conflict, an unreachable webhook, and a missing permission of the
// operator. Without the earlier failure, a stopped rollout would continue.
void KeepEarlierRejection(PoolOutcome& pool) {
  const auto& verdict = pool.plan->health.rejected;
  const RevisionPtr& to = pool.plan->to.revision;
  if (!verdict || to == nullptr || verdict->revision != to->name) return;
  const std::string& reason = pool.failure_reason;
  const bool is_unclear =
      reason.empty() || (IsCausedByRevision(reason) && !CountsAsFailure(reason, pool.failure_message) &&
                         CountsAsFailure(verdict->reason, verdict->message));
  if (!is_unclear) return;
  pool.failure_reason = verdict->reason;
  pool.failure_message = verdict->message;
}

void CollectService(const Status& written, PoolOutcome& pool, Outcome& outcome) {
  if (written) {
    pool.service = pool.plan->service->name;
    AddWritten(kServicesWritten[static_cast<int>(pool.plan->service->action)], pool.plan->pool, outcome);
    return;
  }
  SetFailed(pool, written.error(), kServiceConflict, outcome);
  if (pool.failure_reason == kQuotaExceeded) pool.failure_reason = kServiceQuotaExceeded;
}

void CollectWorkload(const Result<WrittenWorkload>& attempt, const std::optional<MergeChanges>& not_kept,
                     PlanMemo& memo, PoolOutcome& pool, Outcome& outcome) {
  if (!attempt) {
    SetFailed(pool, attempt.error(), kWorkloadConflict, outcome);
    return;
  }
  pool.workload = MakeWorkloadRef(attempt->object);
  pool.outstanding = pool.outstanding || attempt->reclaimed;
  const ObjectMeta& meta = pool.workload->object->meta();
  if (not_kept) {
    memo.RecordNotKept(meta.key.name, RenderSpecFingerprint(pool.plan->to), not_kept->digest);
    pool.not_kept = not_kept->at;
  }
  if (attempt->written == WorkloadAction::kUpdate && meta.Label(kRevisionLabel) != pool.plan->to.revision->label) {
    SetUndone(pool, outcome);
    return;
  }
  AddWritten(kWorkloadsWritten[static_cast<int>(attempt->written)], pool.plan->pool, outcome);
}

}  // namespace

Outcome OutcomeWithoutWrites(const Plan& plan) {
  Outcome outcome;
  outcome.leaving = plan.leaving;
  outcome.pools.reserve(plan.pools.size());
  for (const PoolPlan& pool : plan.pools) {
    PoolOutcome& result = outcome.pools.emplace_back();
    result.plan = &pool;
    result.workload = pool.workload;
    result.failure_reason = pool.failure_reason;
    result.failure_message = pool.failure_message;
    const auto& service = pool.service;
    if (service && service->live != nullptr && !service->live->meta().deleting()) result.service = service->name;
    if (pool.deferred) {
      result.outstanding = true;
      result.failure_reason = pool.deferred->reason;
      result.failure_message = pool.deferred->message;
    }
  }
  return outcome;
}

std::vector<std::size_t> PoolsToWrite(const Plan& plan) {
  std::vector<std::size_t> writes;
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    if (!plan.pools[i].deferred && WritesAnything(plan.pools[i])) writes.push_back(i);
  }
  return writes;
}

Error ShortError(const Error& error) {
  constexpr std::size_t kMaxShortMessage = 4 * 1024;
  Error result{error.reason, Cut(error.message, kMaxShortMessage), error.http_status, error.retry_after};
  std::set<std::string> reasons;
  for (const Cause& cause : error.causes) reasons.insert(cause.reason);
  for (const std::string& reason : reasons) result.causes.push_back({"", reason, ""});
  return result;
}

void CollectWrites(const std::vector<std::size_t>& writes, const std::vector<PoolAttempt>& attempts, PlanMemo& memo,
                   Outcome& outcome) {
  for (std::size_t i = 0; i < writes.size(); ++i) {
    PoolOutcome& pool = outcome.pools[writes[i]];
    const PoolAttempt& attempt = attempts[i];
    if (attempt.service) CollectService(*attempt.service, pool, outcome);
    if (pool.plan->action == WorkloadAction::kNone) continue;
    if (attempt.workload) CollectWorkload(*attempt.workload, attempt.not_kept, memo, pool, outcome);
    if (!attempt.workload || !*attempt.workload) KeepEarlierRejection(pool);
  }
}

std::set<std::string> CollectRemovals(const std::vector<Removal>& removals, const std::vector<Status>& removed,
                                      PlanMemo& memo, Outcome& outcome) {
  std::set<std::string> staying;
  for (std::size_t i = 0; i < removals.size(); ++i) {
    const Removal& removal = removals[i];
    const std::string& name = removal.workload.object->meta().key.name;
    const bool gone = !removed[i] && removed[i].error().reason == Reason::kNotFound;
    if (!removed[i] && !gone) {
      Retry(removed[i].error(), outcome);
      staying.insert(removal.workload.pool);
    }
    if (removed[i]) (removal.kept ? outcome.duplicates_removed : outcome.removed).push_back(removal.workload.pool);
    if (!removal.kept && !gone) outcome.leaving.push_back(removal.workload);
    if (removed[i] || gone) outcome.deleted.push_back(name);
    memo.Forget(name);
  }
  return staying;
}

}  // namespace yad
