// Typed view of spec.updateStrategy.rollingUpdate.checks. After the update of a pool, the checks decide whether the new
// revision works there.
#ifndef OPERATOR_API_CHECK_H_
#define OPERATOR_API_CHECK_H_

#include <chrono>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/fields.h"

namespace yad {

inline constexpr std::size_t kMaxChecks = 10;
// The maximum length of a query in bytes.
inline constexpr std::size_t kMaxQuery = 4096;

// A query to Prometheus that is repeated for `duration`. A value outside the limits is a failure.
struct PrometheusCheck {
  std::string query;  // {{nodepool-name}} stands for the pool
  std::optional<double> max, min;
  // The same query for the pools that are not updated yet, the control group. `{{nodepool-name}}` stands for a regular
  // expression that matches their names. "": no comparison.
  std::string control_query;
  double max_ratio = 0;  // the maximum ratio of the pool's value to the control group's value
  std::chrono::seconds interval{30};
  std::chrono::seconds duration{300};
  int failure_limit = 0;  // the number of failures that the check tolerates
};

// One check, of exactly one kind: job_spec, condition or prometheus.
struct Check {
  std::string name;
  Json job_spec;                 // a batch/v1 JobSpec; null: not of this kind
  std::string condition;         // the type of a condition of the workload; "": not of this kind
  std::string condition_status;  // the status with which the condition passes the check
  std::optional<PrometheusCheck> prometheus;
  std::chrono::seconds timeout{600};
  bool dry_run = false;  // the check reports its result, and always passes
};

// Adds a fault for each invalid value.
void ValidateChecks(const JsonField& checks, FieldErrors& errors);
// Reads a list that ValidateChecks accepts.
std::vector<Check> ParseChecks(const Json& checks);

}  // namespace yad

#endif  // OPERATOR_API_CHECK_H_
