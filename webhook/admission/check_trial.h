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

// Lets Prometheus check a query, as PrometheusClient::CheckQuery does. An empty function: the operator has no
// Prometheus.
using QueryCheck = std::function<Status(const std::string& promql, std::stop_token stop)>;

// Tries the checks that `before` (null: a new object) does not have. An invalid Job or query is a refusal. A Job that
// is forbidden now, and a query that Prometheus could not check, are warnings. Sends at most two requests for each
// check. Thread-safe.
Findings TryChecks(const YurtAppDaemon& wanted, const YurtAppDaemon* before, Client& client,
                   const QueryCheck& check_query, Deadline& deadline);

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_CHECK_TRIAL_H_
