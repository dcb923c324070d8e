#include <algorithm>
#include <string>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/prometheus/pool_query.h"
#include "operator/workload/check_job.h"
#include "webhook/admission/rendered_workloads.h"
#include "webhook/admission/trials.h"

namespace yad {
namespace {

// Returns whether the old object has a check with the same Job and the same queries as `check`.
bool IsKnown(const Check& check, const YurtAppDaemon* before) {
  if (before == nullptr) return false;
  const std::vector<Check>& known = before->strategy.rolling.checks;
  return std::any_of(known.begin(), known.end(), [&](const Check& other) {
    if (check.job_spec != other.job_spec || check.prometheus.has_value() != other.prometheus.has_value()) return false;
    return !check.prometheus || (check.prometheus->query == other.prometheus->query &&
                                 check.prometheus->control_query == other.prometheus->control_query);
  });
}

class CheckTrial {
 public:
  CheckTrial(const YurtAppDaemon& daemon, Client& client, const QueryCheck& check_query, Deadline& deadline)
      : daemon_(daemon), client_(client), check_query_(check_query), deadline_(deadline) {}

  void Try(const Check& check, const std::string& path) {
    if (!check.job_spec.is_null()) TryJob(check, path + ".job");
    if (!check.prometheus) return;
    const std::string at = path + ".prometheus";
    WarnOfBarePool(check.prometheus->query, at + ".query");
    WarnOfBarePool(check.prometheus->control_query, at + ".compare.query");
    if (!check_query_) {
      Warn(at, std::string("the operator has no --prometheus-url (value checks.prometheus.url of the chart): ") +
                   (check.dry_run ? "the check never passes, and each updated pool waits for its timeout"
                                  : "no update starts"));
      return;
    }
    TryQuery(WithPool(check.prometheus->query, kAnyPool), at + ".query");
    if (!check.prometheus->control_query.empty())
      TryQuery(WithPools(check.prometheus->control_query, {kAnyPool}), at + ".compare.query");
  }
  Findings Take() { return std::move(findings_); }

 private:
  void Warn(const std::string& path, const std::string& text) { findings_.warnings.push_back(path + ": " + text); }
  void Reject(const std::string& path, const std::string& text) {
    findings_.rejections.push_back({path, "FieldValueInvalid", "Invalid value: " + text});
  }

  // Warns if the query contains the variable for the pool's name outside of a string literal. The query could then be
  // valid with the name of one pool and invalid with the name of another pool.
  void WarnOfBarePool(const std::string& query, const std::string& path) {
    if (PoolIsInLiteral(query)) return;
    const std::string variable(kPoolVariable);
    Warn(path, variable + " must be inside a string literal, as in {pool=\"" + variable + "\"}");
  }

  void TryJob(const Check& check, const std::string& path) {
    if (deadline_.Passed()) return;
    NodePool pool;
    pool.name = kAnyPool;
    const auto job =
        MakeCheckJob(daemon_, check, pool, kAnyPool, CheckJobName(daemon_, check, 0, {kAnyPool, kAnyPool, WallTime()}));
    if (!job) {
      Reject(path, job.error().message);
      return;
    }
    std::vector<std::string> warnings;
    const WriteOptions options{.dry_run = true, .warnings = &warnings};
    const auto tried = client_.Create(kJobType, *job, options, deadline_.Token());
    for (const std::string& warning : warnings) Warn(path, warning);
    if (tried) return;
    const Error& error = tried.error();
    if (error.http_status == 422 && !error.causes.empty()) {
      for (const Cause& cause : error.causes)
        findings_.rejections.push_back({path + "." + cause.field, cause.reason, cause.message});
    } else if (error.http_status == 422 || error.http_status == 400) {
      Reject(path, error.message);
    } else if (error.http_status == 403) {
      Warn(path, "the cluster forbids this Job now: " + error.message +
                     " (value checks.jobs of the chart grants the operator the permissions)");
    }
  }

  void TryQuery(const std::string& query, const std::string& path) {
    if (deadline_.Passed()) return;
    const Status checked = check_query_(query, deadline_.Token());
    if (checked) return;
    if (checked.error().reason == Reason::kInvalid) {
      Reject(path, checked.error().message);
    } else if (checked.error().reason != Reason::kBadRequest) {
      Warn(path, "Prometheus could not check the query: " + checked.error().message);
    }
  }

  const YurtAppDaemon& daemon_;
  Client& client_;
  const QueryCheck& check_query_;
  Deadline& deadline_;
  Findings findings_;
};

}  // namespace

Findings TryChecks(const YurtAppDaemon& wanted, const YurtAppDaemon* before, Client& client,
                   const QueryCheck& check_query, Deadline& deadline) {
  CheckTrial trial(wanted, client, check_query, deadline);
  const std::vector<Check>& checks = wanted.strategy.rolling.checks;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (IsKnown(checks[i], before)) continue;
    trial.Try(checks[i], "spec.updateStrategy.rollingUpdate.checks[" + std::to_string(i) + "]");
  }
  return trial.Take();
}

}  // namespace yad
