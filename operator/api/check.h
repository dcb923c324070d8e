// Typed view of spec.updateStrategy.rollingUpdate.checks. The checks run in a pool after its update, and decide whether
// the new revision works there.
#ifndef OPERATOR_API_CHECK_H_
#define OPERATOR_API_CHECK_H_

#include <chrono>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/fields.h"

namespace yad {

inline constexpr std::size_t kMaxChecks = 10;
// The maximum length of a Prometheus query, in bytes.
inline constexpr std::size_t kMaxQuery = 4096;

// A Prometheus query that is repeated every `interval` for `duration`. A result above `max` or below `min` counts as a
// failure.
struct PrometheusCheck {
  std::string query;  // {{nodepool-name}} is replaced with the name of the pool
  std::optional<double> max, min;
  // The query for the control group, which is the pools that are not updated yet. {{nodepool-name}} is replaced with a
  // regular expression for the names of these pools. If the query is "", no comparison takes place.
  std::string control_query;
  double max_ratio = 0;  // maximum ratio of the pool's result to the control group's result
  std::chrono::seconds interval{30};
  std::chrono::seconds duration{300};
  int failure_limit = 0;  // the check fails if there are more failures than this

  bool operator==(const PrometheusCheck&) const = default;
};

// One check. Exactly one of job_spec, condition and prometheus is set.
struct Check {
  std::string name;
  Json job_spec;                          // a batch/v1 JobSpec; null: not set
  std::string condition;                  // the type of a condition of the workload; "": not set
  std::string condition_status = "True";  // the status that the condition must have
  std::optional<PrometheusCheck> prometheus;
  std::chrono::seconds timeout{600};
  bool dry_run = false;  // the result is only reported, and the check always passes
};

// Returns whether Kubernetes' controllers set this type of condition in the status of workloads. The operator ignores
// these conditions, so a check of them never passes. The webhook rejects new checks of them. ReadChecks accepts the
// checks, because stored objects may have them.
bool IsConditionOfControllers(std::string_view type);

// Reads a list of checks, and adds an error for each invalid value. The result is usable only if no error was added.
std::vector<Check> ReadChecks(const JsonField& checks, FieldErrors& errors);

}  // namespace yad

#endif  // OPERATOR_API_CHECK_H_
