#include "operator/yurtappdaemon/reporter.h"

#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "operator/api/well_known.h"
#include "operator/base/log.h"
#include "operator/base/metrics.h"
#include "operator/yurtappdaemon/observe/daemon_projection.h"
#include "operator/yurtappdaemon/observe/regarding.h"

namespace yad {
namespace {

constexpr char kWaitingPools[] = "yurtappdaemon_waiting_pools";
constexpr const char* kPoolCounters[] = {"desired", "updated", "ready", "failed", "offline"};

metrics::Labels LabelsWith(const ObjectKey& key, const char* name, std::string_view value) {
  metrics::Labels labels = DaemonLabels(key);
  labels[name] = value;
  return labels;
}

// Sets the metric that counts waiting pools by reason. The time series of a reason is created when a pool first waits
// for this reason, because most daemons have no waiting pools. `shown` contains the reasons that have a time series.
void ShowWaiting(const ObjectKey& key, const std::vector<PoolOutcome>& pools, std::set<std::string_view>& shown) {
  std::map<std::string_view, std::size_t> counts;
  for (const PoolOutcome& pool : pools) {
    if (pool.workload) ++counts[ToString(pool.plan->waiting_for)];
  }
  for (const std::string_view reason : WaitingForValues()) {
    const std::size_t count = counts[reason];
    if (count > 0) shown.insert(reason);
    if (!shown.contains(reason)) continue;
    metrics::GetGauge(kWaitingPools, "Pools of a YurtAppDaemon that wait for their update, by reason.",
                      LabelsWith(key, "reason", reason))
        .Set(static_cast<double>(count));
  }
}

// The first status of a daemon without pools is written at this age. The NodePools are often created together with the
// daemon, and their events may arrive later. A status without pools would report success. The creationTimestamp has
// whole seconds, so the real delay is between 1 s and 2 s.
constexpr Duration kAgeWithoutPools = std::chrono::seconds(2);

// Returns the time until the status `after` may be written, or zero if it may be written now. If the clocks of this
// process and the server differ, the age of the daemon may be negative. The result is then zero.
Duration WaitForPools(const ObjectMeta& meta, const Json& before, const Json& after, WallTime now) {
  const Duration age = now - ParseTime(meta.creation_timestamp);
  const bool waits = IntAt(before, {"observedGeneration"}) == 0 && IntAt(after, {"desiredPools"}, -1) == 0;
  return waits && age >= Duration::zero() && age < kAgeWithoutPools ? kAgeWithoutPools - age : Duration::zero();
}

}  // namespace

void Reporter::ShowPools(const ObjectKey& key, const Json& status, const std::vector<PoolOutcome>& pools,
                         std::set<std::string_view>& waits_shown) {
  for (const char* state : kPoolCounters) {
    metrics::GetGauge("yurtappdaemon_pools", "Pools of a YurtAppDaemon, as its status counts them.",
                      LabelsWith(key, "state", state))
        .Set(static_cast<double>(IntAt(status, {std::string(state) + "Pools"})));
  }
  ShowWaiting(key, pools, waits_shown);
}

void Reporter::Forget(const ObjectKey& key) {
  written_.Forget(key);
  for (const char* state : kPoolCounters) metrics::Remove("yurtappdaemon_pools", LabelsWith(key, "state", state));
  for (const std::string_view reason : WaitingForValues())
    metrics::Remove(kWaitingPools, LabelsWith(key, "reason", reason));
}

Result<Duration> Reporter::ReportBlocked(const StoredObject& stored, const Blocked& blocked, DaemonState& state,
                                         std::stop_token stop) {
  const std::string& reason = blocked.reason;
  const Error& error = blocked.error;
  const Json object = stored.Parse();
  const Json before = object.value("status", Json());
  if (state.reported != error.message && !ShowsBlocked(before, reason, error)) {
    log::Warn("YurtAppDaemon is not reconciled",
              {{"yurtappdaemon", stored.meta().key.ToString()}, {"reason", reason}, {"error", error}});
    events_.Record(Regarding(stored.meta()), EventType::kWarning, reason, "Validate", error.message);
  }
  state.reported = error.message;
  const Json status = BuildBlockedStatus(stored.meta(), object, reason, error, clock_.WallNow());
  return WriteStatus(stored.meta(), before, status, state, stop);
}

Result<Duration> Reporter::WriteStatus(const ObjectMeta& meta, const Json& before, const Json& after,
                                       DaemonState& state, std::stop_token stop) {
  Json patch = DaemonStatusPatch(before, after, meta.uid);
  if (patch.is_null()) return Duration::zero();
  if (!state.written_status.is_null() && DaemonStatusPatch(state.written_status, after, meta.uid).is_null()) {
    return Duration::zero();
  }
  const SteadyTime now = clock_.Now();
  if (const Duration wait = WaitForPools(meta, before, after, clock_.WallNow()); wait > Duration::zero()) return wait;
  if (state.last_status_write && now < *state.last_status_write + kStatusInterval) {
    return *state.last_status_write + kStatusInterval - now;
  }
  // If the daemon has changed, the apiserver rejects the write.
  patch["metadata"]["resourceVersion"] = meta.resource_version;
  // CrdCheck reports once which fields the CRD lacks, so the warnings of each write are discarded.
  std::vector<std::string> discarded;
  const WriteOptions options{.subresource = "status", .warnings = &discarded};
  auto written = client_.Patch(kYurtAppDaemonType, meta.key, PatchType::kMerge, patch, options, stop);
  if (!written) {
    if (written.error().reason == Reason::kNotFound) return Duration::zero();  // The watch reports the deletion.
    return Fail(written.error());
  }
  state.last_status_write = now;
  written_.Set(meta.key, ParseMeta(*written).resource_version);
  const bool kept = DaemonStatusPatch(written->value("status", Json::object()), after, meta.uid).is_null();
  state.written_status = kept ? Json() : after;
  daemons_.Observe(std::make_shared<StoredObject>(*written, ProjectDaemon));
  return Duration::zero();
}

}  // namespace yad
