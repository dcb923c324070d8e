// Tries the checks (check_trial.cc) and the serviceTemplate (service_check.cc) of a YurtAppDaemon in the cluster.
#ifndef WEBHOOK_ADMISSION_TRIALS_H_
#define WEBHOOK_ADMISSION_TRIALS_H_

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/api/yurtappdaemon.h"
#include "operator/client/client.h"
#include "webhook/admission/admission_stores.h"
#include "webhook/admission/deadline.h"
#include "webhook/admission/dry_run.h"

namespace yad {

// Checks a query, as PrometheusClient::CheckQuery does. The function is empty if the operator has no Prometheus.
using QueryCheck = std::function<Status(const std::string& promql, std::stop_token stop)>;

// Creates the Jobs of the checks that are not in `before` (null: a new object) as dry runs, and lets Prometheus
// evaluate their queries. Sends at most two requests for each check. Thread-safe.
// - An invalid Job or query is a rejection.
// - A Job that the cluster forbids now is only a warning, and so is a query that Prometheus can't check.
Findings TryChecks(const YurtAppDaemon& wanted, const YurtAppDaemon* before, Client& client,
                   const QueryCheck& check_query, Deadline& deadline);

// Sends the Service of one pool with dryRun=All: by PUT if the Service exists, otherwise by POST. Sends at most three
// requests. `text` is a budget of kDryRunText bytes. Thread-safe.
// - Sends nothing if `before` (null: a new object) has the same template.
// - Handles responses as DryRun::Try does, with one exception: a port or an address that is already in use is only a
//   warning, because another pool's Service may use it.
Findings TryService(const YurtAppDaemon& wanted, const YurtAppDaemon* before, Client& client,
                    const AdmissionStores& stores, Deadline& deadline, ByteBudget& text);

// Warns of values that only one Service in the cluster can have, such as a nodePort, and of StatefulSets whose pods
// have no DNS names. Does not send requests. Thread-safe.
std::vector<std::string> ServiceTemplateWarnings(const YurtAppDaemon& wanted, const YurtAppDaemon* before);

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_TRIALS_H_
