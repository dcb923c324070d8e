#include "operator/yurtappdaemon/diagnose/pod_diagnoser.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/runtime/paged_list.h"
#include "operator/yurtappdaemon/observe/pods.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"
#include "operator/yurtappdaemon/observe/status_view.h"

namespace yad {
namespace {

// The pods of a daemon's unhealthy pools are read in batches. The limits are the number of pools in one batch, and the
// shortest time between two batches.
constexpr std::ptrdiff_t kPoolsPerBatch = 10;
constexpr Duration kMinPause = std::chrono::seconds(1);
// A batch ends after this time, because the daemon's status is written only after the batch. The next batch then starts
// as late as after a failed read.
constexpr Duration kLongestBatch = std::chrono::seconds(2);
// The first and the longest interval between two reads of a pool's pods. The first read is one second after the pool
// was found unhealthy, because most pods are ready by then and need not be read.
constexpr Duration kFirstReadInterval = std::chrono::seconds(1);
constexpr Duration kMaxReadInterval = std::chrono::minutes(1);
constexpr Duration kFailureBackoff = std::chrono::seconds(30);
constexpr int kPodsPerPage = 100;
constexpr int kPages = 10;

bool IsUnhealthy(const PoolOutcome& pool) {
  if (!pool.workload || pool.outstanding || !pool.failure_reason.empty() || pool.plan->offline) return false;
  const WorkloadState& state = pool.workload->state();
  return state.seen && !state.healthy && state.wanted > 0 && !pool.workload->object->meta().deleting();
}

// Returns a digest of the fields whose change is a reason to read the pods again.
std::uint64_t FingerprintOf(const WorkloadState& state) {
  std::string text = state.rejection;
  for (const std::int64_t value :
       {state.wanted, state.replicas, state.ready_replicas, state.available_replicas,
        std::int64_t{state.observed} | std::int64_t{state.progress_deadline_exceeded} << 1}) {
    text += "," + std::to_string(value);
  }
  return Fnv1a64(text);
}

// Returns the workload's diagnosis in the last status, or nullopt if the status does not have it. If the status does
// not show a problem of the pods, the diagnosis contains only the state, which may depend on the pods.
std::optional<Diagnosis> DiagnosisIn(const PoolStatusIndex& previous, const std::string& pool,
                                     const std::string& workload) {
  const PoolStatusView* entry = previous.Find(pool);
  if (entry == nullptr || entry->workload() != workload || entry->state().empty()) return std::nullopt;
  const PoolPhase phase = entry->phase();
  if (phase != PoolPhase::kUpdating && phase != PoolPhase::kUnhealthy && phase != PoolPhase::kFailed)
    return std::nullopt;
  if (!IsPodProblem(entry->reason())) {
    if (entry->state() == kCreatedState) return std::nullopt;
    return Diagnosis{std::string(entry->state()), "", "", true};
  }
  return Diagnosis{std::string(entry->state()), std::string(entry->reason()), std::string(entry->message()), true};
}

// Returns whether the new message is only the beginning of the earlier message. The kubelet's message is shorter while
// it backs off than directly after an attempt.
bool IsShorterForm(const Diagnosis& now, const std::optional<Diagnosis>& before) {
  return before && !before->restored && now.reason == before->reason && now.message.size() < before->message.size() &&
         before->message.starts_with(now.message);
}

}  // namespace

PodDiagnoser::Findings PodDiagnoser::Examine(const YurtAppDaemon& daemon, const std::vector<PoolOutcome>& pools,
                                             const Json& previous, Memory& memory, std::stop_token stop) {
  Findings findings;
  const std::vector<UnhealthyPool> unhealthy = FindUnhealthy(pools, previous, memory);
  if (unhealthy.empty()) {
    memory.batch.reset();
    return findings;
  }
  DiagnoseDue(unhealthy, daemon.kind, memory, stop);

  const SteadyTime now = clock_.Now();
  SteadyTime next = SteadyTime::max();
  for (const auto& [pool, known] : unhealthy) {
    if (known->diagnosis) findings.diagnoses.emplace(pool->plan->pool, *known->diagnosis);
    next = std::min(next, known->Due() <= now && memory.batch ? memory.batch->at : known->Due());
  }
  findings.again = std::max<Duration>(std::max(next, memory.not_before) - now, kMinPause);
  return findings;
}

std::vector<PodDiagnoser::UnhealthyPool> PodDiagnoser::FindUnhealthy(const std::vector<PoolOutcome>& pools,
                                                                     const Json& previous, Memory& memory) const {
  std::vector<UnhealthyPool> unhealthy;
  std::map<std::string, Memory::Pool> still;
  std::optional<PoolStatusIndex> shown;
  for (const PoolOutcome& pool : pools) {
    if (!IsUnhealthy(pool)) continue;
    const ObjectMeta& meta = pool.workload->object->meta();
    Memory::Pool& known = still[pool.plan->pool];
    if (const auto old = memory.pools.find(pool.plan->pool); old != memory.pools.end() && old->second.uid == meta.uid) {
      known = std::move(old->second);
    } else {
      if (!shown) shown.emplace(StatusView(previous));
      known.uid = meta.uid;
      known.last = clock_.Now();
      known.interval = kFirstReadInterval;
      known.diagnosis = DiagnosisIn(*shown, pool.plan->pool, meta.key.name);
    }
    if (known.print && *known.print != FingerprintOf(pool.workload->state())) known.interval = kFirstReadInterval;
    unhealthy.push_back({&pool, &known});
  }
  memory.pools = std::move(still);
  std::stable_sort(unhealthy.begin(), unhealthy.end(),
                   [](const UnhealthyPool& a, const UnhealthyPool& b) { return a.known->Due() < b.known->Due(); });
  return unhealthy;
}

void PodDiagnoser::DiagnoseDue(const std::vector<UnhealthyPool>& unhealthy, WorkloadKind kind, Memory& memory,
                               std::stop_token stop) {
  const SteadyTime now = clock_.Now();
  const auto reserve = [&](std::ptrdiff_t due) {
    if (memory.batch || due <= 0) return;
    const int pools = static_cast<int>(std::min(due, kPoolsPerBatch));
    memory.batch = Memory::Batch{budget_.Take(pools), pools};
  };
  const auto due = std::count_if(unhealthy.begin(), unhealthy.end(),
                                 [&](const UnhealthyPool& one) { return one.known->Due() <= now; });
  if (now < memory.not_before) return;
  reserve(due);
  if (due == 0 || memory.batch->at > now) return;

  const std::ptrdiff_t most = std::min<std::ptrdiff_t>(due, memory.batch->pools);
  memory.batch.reset();
  for (auto one = unhealthy.begin(); one != unhealthy.begin() + most; ++one) {
    Memory::Pool& known = *one->known;
    auto diagnosis = DiagnosePool(*one->pool, kind, now + kLongestBatch, stop);
    known.last = now;
    if (!diagnosis) {
      known.interval = kMaxReadInterval;
      memory.not_before = now + kFailureBackoff;
      return;
    }
    const bool other = !known.diagnosis || known.diagnosis->reason != diagnosis->reason;
    known.interval = known.print && !other ? std::min(2 * known.interval, kMaxReadInterval) : 2 * kFirstReadInterval;
    known.print = FingerprintOf(one->pool->workload->state());
    if (IsShorterForm(*diagnosis, known.diagnosis)) diagnosis->message = known.diagnosis->message;
    known.diagnosis = *std::move(diagnosis);
    if (const SteadyTime then = clock_.Now(); then >= now + kLongestBatch) {
      memory.not_before = then + kFailureBackoff;
      return;
    }
  }
  reserve(due - most);
}

std::optional<Diagnosis> PodDiagnoser::DiagnosePool(const PoolOutcome& pool, WorkloadKind kind, SteadyTime end,
                                                    std::stop_token stop) {
  const ObjectMeta& meta = pool.workload->object->meta();
  const WorkloadState& state = pool.workload->state();
  const auto selector = SelectorOf(pool.workload->object->Parse());
  if (!selector) return std::nullopt;  // The apiserver rejects an invalid selector.
  const ListOptions options{.ns = meta.key.ns, .label_selector = *selector, .limit = kPodsPerPage};

  const WallTime now = clock_.WallNow();
  std::vector<PodFacts> pods;
  int seen = 0;
  const auto examine = [&](const JsonDocument& document) {
    const Json pod = document.TreeOfObject();
    if (ControlsPod(meta, ParseMeta(pod))) pods.push_back(ExaminePod(pod, now));
    return ++seen % kPodsPerPage != 0 || clock_.Now() < end;
  };
  const auto read = ForEachListed(client_, kPodType, options, stop, examine, kPages);
  pods_log_.Report(read);
  if (!read) return std::nullopt;
  if (*read > 1) budget_.Take(*read - 1);

  // The uid of the pod or the StatefulSet whose Events are read; "" if no Events are needed. Only Events explain why a
  // pod waits for its containers, or why a StatefulSet lacks a pod.
  std::string events_of;
  bool well = true;
  std::int64_t there = 0;
  for (const PodFacts& pod : pods) {
    if (!pod.waiting_uid.empty() && (events_of.empty() || pod.waiting_uid < events_of)) events_of = pod.waiting_uid;
    if (pod.leaving) continue;
    ++there;
    well = well && pod.ready;
  }
  if (events_of.empty() && kind == WorkloadKind::kStatefulSet && well && there < state.wanted) events_of = meta.uid;
  std::optional<PodProblem> problem_in_events;
  if (!events_of.empty()) {
    budget_.Take(1);
    const auto events = ReadEventsAbout(client_, meta.key.ns, events_of, stop);
    events_log_.Report(events);
    if (events) problem_in_events = ProblemOfEvents(*events, now);
    for (PodFacts& pod : pods) {
      if (pod.waiting_uid == events_of) pod.problem = std::exchange(problem_in_events, std::nullopt);
    }
  }
  return Diagnose({state, meta.deleting(), pool.plan->overdue}, pods, problem_in_events);
}

}  // namespace yad
