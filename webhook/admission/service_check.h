// The checks of a serviceTemplate: a dry run in the cluster, and warnings about probable mistakes.
#ifndef WEBHOOK_ADMISSION_SERVICE_CHECK_H_
#define WEBHOOK_ADMISSION_SERVICE_CHECK_H_

#include <string>
#include <vector>

#include "operator/api/yurtappdaemon.h"
#include "operator/client/client.h"
#include "webhook/admission/admission_stores.h"
#include "webhook/admission/deadline.h"
#include "webhook/admission/dry_run.h"

namespace yad {

// Sends the Service of one pool with dryRun=All: by PUT if the Service exists, otherwise by POST. Sends at most three
// requests. `text` is a budget of kDryRunText bytes. Thread-safe.
// - Sends nothing if `before` (null: a new object) has the same template.
// - Handles responses as DryRun::Ask does, with one exception: a port or an address that is already in use is only a
//   warning, because another pool's Service may use it.
Findings TryService(const YurtAppDaemon& wanted, const YurtAppDaemon* before, Client& client,
                    const AdmissionStores& stores, Deadline& deadline, ByteBudget& text);

// Warns of values that only one Service in the cluster can have, such as a nodePort, and of StatefulSets whose pods
// have no DNS names. Does not send requests. Thread-safe.
std::vector<std::string> ServiceTemplateWarnings(const YurtAppDaemon& wanted, const YurtAppDaemon* before);

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_SERVICE_CHECK_H_
