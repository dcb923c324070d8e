// Tries the checks of a YurtAppDaemon: a dry run of each Job, and the queries of Prometheus.
#ifndef WEBHOOK_ADMISSION_CHECK_TRIAL_H_
#define WEBHOOK_ADMISSION_CHECK_TRIAL_H_

#include <functional>
#include <stop_token>
#include <string>

#include "operator/api/yurtappdaemon.h"
#include "operator/client/client.h"
#include "webhook/admission/deadline.h"
#include "webhook/admission/dry_run.h"

namespace yad {

// Asks Prometheus whether a query is valid, as PrometheusClient::CheckQuery does. Empty: the operator has no
// Prometheus.
using QueryCheck = std::function<Status(const std::string& promql, std::stop_token stop)>;

// Tries the checks that `before` (null: a new object) does not have. A Job or a query that is invalid is a refusal. If
// the apiserver or Prometheus gives another error or no answer, that is a warning. Sends at most two requests for each
// check. Thread-safe.
Findings TryChecks(const YurtAppDaemon& wanted, const YurtAppDaemon* before, Client& client,
                   const QueryCheck& check_query, Deadline& deadline);

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_CHECK_TRIAL_H_
