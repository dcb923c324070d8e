#include "operator/yurtappdaemon/check_sampler.h"

#include <algorithm>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/base/parallel.h"
#include "operator/prometheus/pool_query.h"

namespace yad {
namespace {

constexpr std::size_t kParallelQueries = 4;
constexpr std::size_t kMaxSampleMessage = 256;

// Returns whether the query failed because of Prometheus' response: an error, or a result that is not one number.
bool IsResponse(const Error& error) {
  return error.reason == Reason::kInvalid || error.reason == Reason::kBadRequest || error.reason == Reason::kTooLarge;
}

}  // namespace

std::vector<RunningCheck> RunningChecks(const Snapshot& snapshot, const Plan& plan) {
  std::vector<RunningCheck> running;
  const auto control = std::make_shared<std::vector<std::string>>();
  for (const PoolPlan& pool : plan.pools) {
    if (pool.workload && !pool.on_update && !pool.offline) control->push_back(pool.pool);
  }
  for (const PoolPlan& pool : plan.pools) {
    const auto& progress = pool.health.check;
    if (!pool.checks.verifying || !pool.health.soaked || pool.offline || !progress || !progress->failure.empty())
      continue;
    const Check& check = snapshot.daemon.strategy.rolling.checks[pool.checks.index];
    if (!check.prometheus || progress->since == WallTime()) continue;
    running.push_back({pool.pool, check.name, progress->since, progress->failures, *check.prometheus, {}});
    if (!check.prometheus->control_query.empty()) running.back().control = control;
  }
  return running;
}

void CheckSampler::Connect(std::function<void(const Request&)> sample, std::function<void(const Request&)> show) {
  sample_ = std::move(sample);
  show_ = std::move(show);
}

void CheckSampler::SetChecks(const ObjectKey& daemon, std::vector<RunningCheck> checks) {
  const bool has_new = checks_.With([&](auto& all) {
    if (checks.empty()) {
      all.erase(daemon);
      return false;
    }
    ByPool& before = all[daemon];
    ByPool now;
    bool any_new = false;
    for (RunningCheck& check : checks) {
      Sampled& sampled = now[check.pool];
      const auto known = before.find(check.pool);
      const bool is_known =
          known != before.end() && known->second.check.name == check.name && known->second.check.since == check.since;
      if (is_known) {
        sampled = std::move(known->second);
      } else {
        sampled.samples.check = check.name;
        sampled.samples.since = check.since;
        sampled.samples.failures = check.failures;
        sampled.samples.message = "waits for the first sample of Prometheus";
      }
      const bool is_edited = is_known && sampled.check.spec != check.spec;
      // The samples of the old query or limits do not show that the pool passes the edited check.
      if (is_edited) sampled.samples.conclusive = 0;
      if (!is_known || is_edited) {
        sampled.due = clock_.Now();
        any_new = true;
      }
      sampled.check = std::move(check);
    }
    before = std::move(now);
    return any_new;
  });
  if (has_new) sample_(daemon);
}

std::map<std::string, CheckSamples> CheckSampler::SamplesOf(const ObjectKey& daemon,
                                                            const std::vector<Check>& checks) const {
  return checks_.With([&](const auto& all) {
    std::map<std::string, CheckSamples> samples;
    const auto known = all.find(daemon);
    if (known == all.end()) return samples;
    for (const auto& [pool, sampled] : known->second) {
      CheckSamples& copy = samples.emplace(pool, sampled.samples).first->second;
      const bool is_edited = std::any_of(checks.begin(), checks.end(), [&running = sampled.check](const Check& check) {
        return check.name == running.name && check.prometheus != running.spec;
      });
      if (is_edited) copy.conclusive = 0;
    }
    return samples;
  });
}

CheckSampler::Reading CheckSampler::Read(const RunningCheck& check, std::stop_token stop) const {
  const PrometheusCheck& spec = check.spec;
  const WallTime now = clock_.WallNow();  // Prometheus evaluates both queries at this time.
  const auto none = [](const Error& error) {
    return Reading{SampleResult::kNoData, Cut("no sample: " + error.message, kMaxSampleMessage), IsResponse(error)};
  };
  const auto value = query_(WithPool(spec.query, check.pool), now, stop);
  if (!value) return none(value.error());
  Bounds bounds{spec.max, spec.min, std::nullopt};
  std::optional<double> control;
  if (!spec.control_query.empty() && check.control != nullptr && !check.control->empty()) {
    const auto control_value = query_(WithPools(spec.control_query, *check.control), now, stop);
    if (!control_value) return none(control_value.error());
    control = *control_value;
    bounds.max_ratio = spec.max_ratio;
  }
  const SampleVerdict verdict = EvaluateSample(bounds, *value, control);
  if (verdict.result == SampleResult::kGood) return {verdict.result, "the last sample is within the limits"};
  const char* const prefix = verdict.result == SampleResult::kNoData ? "no sample: " : "";
  return {verdict.result, Cut(prefix + verdict.message, kMaxSampleMessage)};
}

bool CheckSampler::Add(const ObjectKey& daemon, const std::vector<RunningCheck>& due,
                       const std::vector<Reading>& readings) {
  return checks_.With([&](auto& all) {
    bool changed = false;
    const auto known = all.find(daemon);
    if (known == all.end()) return false;
    for (std::size_t i = 0; i < due.size(); ++i) {
      const auto found = known->second.find(due[i].pool);
      if (found == known->second.end()) continue;
      Sampled& sampled = found->second;
      if (sampled.check.name != due[i].name || sampled.check.since != due[i].since) continue;
      if (sampled.check.spec != due[i].spec) continue;  // The check was edited during the query.
      sampled.due = clock_.Now() + due[i].spec.interval;
      const bool bad = readings[i].result == SampleResult::kBad;
      sampled.samples.failures += bad;
      sampled.samples.conclusive = readings[i].result == SampleResult::kNoData ? 0 : sampled.samples.conclusive + 1;
      changed = changed || bad || sampled.samples.conclusive == 1 || sampled.samples.message != readings[i].message;
      sampled.samples.message = readings[i].message;
      if (!readings[i].answered) {
        if (sampled.samples.unanswered == 0) sampled.unanswered_since = readings[i].at;
        changed = ++sampled.samples.unanswered == kUnansweredQueries || changed;
        continue;
      }
      // `first` is true for the first response since the start of the check. If earlier queries had no response, the
      // outage then counts from the start of the check.
      const bool first = sampled.samples.began == WallTime();
      if (sampled.samples.unanswered > 0)
        sampled.samples.outage += first ? clock_.WallNow() - due[i].since : readings[i].at - sampled.unanswered_since;
      if (std::exchange(sampled.samples.unanswered, 0) > 0 || first) {
        sampled.samples.began = clock_.WallNow();
        changed = true;
      }
    }
    return changed;
  });
}

Result<ReconcileResult> CheckSampler::Sample(const Request& daemon, std::stop_token stop) {
  std::vector<RunningCheck> due;
  const auto for_each = [&](const auto& visit) {
    checks_.With([&](const auto& all) {
      const auto known = all.find(daemon);
      if (known == all.end()) return;
      for (const auto& [pool, sampled] : known->second) visit(sampled);
    });
  };
  for_each([&](const Sampled& sampled) {
    if (sampled.due <= clock_.Now()) due.push_back(sampled.check);
  });
  std::vector<Reading> readings(due.size());
  ParallelFor(due.size(), kParallelQueries, [&](std::size_t i) {
    const SteadyTime at = clock_.Now();
    readings[i] = Read(due[i], stop);
    readings[i].at = at;
  });
  if (stop.stop_requested()) return Fail(Reason::kCancelled, "the sampling was stopped");
  if (Add(daemon, due, readings)) show_(daemon);
  std::optional<SteadyTime> next;
  for_each([&](const Sampled& sampled) { next = next ? std::min(*next, sampled.due) : sampled.due; });
  if (!next) return ReconcileResult::Done();
  return ReconcileResult::RequeueAfter(std::max<Duration>(*next - clock_.Now(), std::chrono::milliseconds(100)));
}

}  // namespace yad
