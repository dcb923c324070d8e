// Samples the Prometheus checks that run. A reconcile reads the samples and never waits for Prometheus.
#ifndef OPERATOR_YURTAPPDAEMON_CHECK_SAMPLER_H_
#define OPERATOR_YURTAPPDAEMON_CHECK_SAMPLER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/api/check.h"
#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/base/synchronized.h"
#include "operator/runtime/controller.h"
#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/plan/plan.h"

namespace yad {

// One check that runs in one pool.
struct RunningCheck {
  std::string pool;
  std::string name;
  WallTime since;             // the time at which it began
  std::int64_t failures = 0;  // so far, from status
  PrometheusCheck spec;
  std::vector<std::string> control;  // the pools that are not updated yet; only for a check that compares
};

// Returns the Prometheus checks that run after this plan.
std::vector<RunningCheck> RunningChecks(const Snapshot& snapshot, const Plan& plan);

// Thread-safe. Only one Sample may run at a time for one daemon.
class CheckSampler {
 public:
  using Query = std::function<Result<std::optional<double>>(const std::string& promql, WallTime at, std::stop_token)>;

  explicit CheckSampler(Query query, Clock& clock = Clock::Real()) : query_(std::move(query)), clock_(clock) {}

  // Must be called first. `sample` requests a call of Sample. `show` is called for a daemon whose samples have changed
  // a check.
  void Connect(std::function<void(const Request& daemon)> sample, std::function<void(const Request& daemon)> show);

  // Sets the checks of the daemon that are sampled from now on. A check that is sampled already keeps its samples.
  void SetChecks(const ObjectKey& daemon, std::vector<RunningCheck> checks);
  // Returns the samples by pool.
  std::map<std::string, CheckSamples> SamplesOf(const ObjectKey& daemon) const;

  // Queries Prometheus for the checks of the daemon that are due. The result requeues the daemon for its next check.
  Result<ReconcileResult> Sample(const Request& daemon, std::stop_token stop);

 private:
  struct Sampled {
    RunningCheck check;
    CheckSamples samples;
    SteadyTime due;
  };
  using ByPool = std::map<std::string, Sampled>;

  // The result of one query.
  struct Reading {
    enum class Kind { kGood, kBad, kNone } kind = Kind::kNone;
    std::string message;
    bool answered = true;  // Prometheus answered, perhaps with an error about the query
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
