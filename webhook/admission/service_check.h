// Checks of a serviceTemplate: the result of a dry run in the cluster, and warnings about probable mistakes.
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

// Sends the Service of one pool with dryRun=All, if the template differs from the one of `before` (null: there is
// none). It updates the Service that a pool has (PUT); without one, it creates a Service (POST). The answers are judged
// as by DryRun::Ask, but a port or an address that is already taken is a warning, because another pool's Service may
// have it. Sends at most three requests. `text` is a budget of kDryRunText bytes. Thread-safe.
Findings TryService(const YurtAppDaemon& wanted, const YurtAppDaemon* before, Client& client,
                    const AdmissionStores& stores, Deadline& deadline, ByteBudget& text);

// Warns of fields that only one pool's Service can have, and of StatefulSets whose pods get no DNS names. Sends no
// request. Thread-safe.
std::vector<std::string> ServiceTemplateWarnings(const YurtAppDaemon& wanted, const YurtAppDaemon* before);

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_SERVICE_CHECK_H_
