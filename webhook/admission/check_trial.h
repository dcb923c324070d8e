// Tries the checks of a YurtAppDaemon: creates each Job as a dry run, and lets Prometheus evaluate each query.
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

// Checks a query, as PrometheusClient::CheckQuery does. The function is empty if the operator has no Prometheus.
using QueryCheck = std::function<Status(const std::string& promql, std::stop_token stop)>;

// Tries the checks that are not in `before` (null: a new object). Sends at most two requests for each check.
// Thread-safe.
// - An invalid Job or query is a rejection.
// - A Job that the cluster forbids now is only a warning, and so is a query that Prometheus can't check.
Findings TryChecks(const YurtAppDaemon& wanted, const YurtAppDaemon* before, Client& client,
                   const QueryCheck& check_query, Deadline& deadline);

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_CHECK_TRIAL_H_
