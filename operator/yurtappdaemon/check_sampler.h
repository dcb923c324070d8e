// Samples the running Prometheus checks. A reconcile reads the samples and never waits for Prometheus.
#ifndef OPERATOR_YURTAPPDAEMON_CHECK_SAMPLER_H_
#define OPERATOR_YURTAPPDAEMON_CHECK_SAMPLER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/api/check.h"
#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/base/synchronized.h"
#include "operator/prometheus/sample_bounds.h"
#include "operator/runtime/controller.h"
#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/plan/plan.h"

namespace yad {

// One check that runs in one pool.
struct RunningCheck {
  std::string pool;
  std::string name;
  WallTime since;             // start of the check
  std::int64_t failures = 0;  // the number of failed samples in status
  PrometheusCheck spec;
  // The pools that are not updated yet, for the control query of the check. Null if the check has no control query. All
  // checks of a plan share one list, because it may have thousands of names.
  std::shared_ptr<const std::vector<std::string>> control;
};

// Returns the Prometheus checks that must run after this reconcile.
std::vector<RunningCheck> RunningChecks(const Snapshot& snapshot, const Plan& plan);

// Thread-safe, but each daemon may have only one call of Sample at a time.
class CheckSampler {
 public:
  using Query = std::function<Result<std::optional<double>>(const std::string& promql, WallTime at, std::stop_token)>;

  explicit CheckSampler(Query query, Clock& clock = Clock::Real()) : query_(std::move(query)), clock_(clock) {}

  // Must be called first. The functions must schedule:
  // - `sample`: a call of Sample for the daemon
  // - `show`: a reconcile of the daemon, because new samples may have changed the result of a check
  void Connect(std::function<void(const Request& daemon)> sample, std::function<void(const Request& daemon)> show);

  // Replaces the list of the daemon's checks. A check that stays in the list keeps its samples. If a user has edited
  // it, its earlier samples can only make it fail, and the next sample is due immediately.
  void SetChecks(const ObjectKey& daemon, std::vector<RunningCheck> checks);
  // Returns the samples of the daemon's checks, by the name of the pool. `checks` are the checks of the current spec.
  // If a user has edited a check, its earlier samples have `conclusive` 0, so they can't make it pass.
  std::map<std::string, CheckSamples> SamplesOf(const ObjectKey& daemon, const std::vector<Check>& checks) const;

  // Queries Prometheus for each due check of the daemon. The result requeues the daemon for the next sample.
  Result<ReconcileResult> Sample(const Request& daemon, std::stop_token stop);

 private:
  struct Sampled {
    RunningCheck check;
    CheckSamples samples;
    SteadyTime due{};
    SteadyTime unanswered_since{};  // valid only if samples.unanswered is not 0
  };
  using ByPool = std::map<std::string, Sampled>;

  // The result of one sample.
  struct Reading {
    SampleResult result = SampleResult::kNoData;
    std::string message;
    // False if Prometheus did not respond. True if it responded, even with an error about the query.
    bool answered = true;
    SteadyTime at{};  // the start of the query
  };
  Reading Read(const RunningCheck& check, std::stop_token stop) const;
  // Adds the readings. Returns whether they may change the result of a check.
  bool Add(const ObjectKey& daemon, const std::vector<RunningCheck>& due, const std::vector<Reading>& readings);

  const Query query_;
  Clock& clock_;
  std::function<void(const Request&)> sample_;
  std::function<void(const Request&)> show_;
  Synchronized<std::map<ObjectKey, ByPool>> checks_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_CHECK_SAMPLER_H_
