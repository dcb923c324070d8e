// What the cluster says of a serviceTemplate, and what looks wrong in it.
#ifndef WEBHOOK_SERVICE_CHECK_H_
#define WEBHOOK_SERVICE_CHECK_H_

#include <string>
#include <vector>

#include "operator/api/yurtappdaemon.h"
#include "operator/client/client.h"
#include "webhook/admission_handler.h"
#include "webhook/deadline.h"
#include "webhook/dry_run.h"

namespace yad {

// Sends the Service of one pool with dryRun=All, where the template is another than `before`'s (null: there is none):
// by PUT onto the one that a pool has, else by POST. As DryRun::Ask judges the answers; a port or an address that is
// taken already is a warning, because another pool's Service may have it. At most three requests. `text`: see
// kDryRunText. Thread-safe.
Findings TryService(const YurtAppDaemon& wanted, const YurtAppDaemon* before, Client& client,
                    const AdmissionStores& stores, Deadline& deadline, ByteBudget& text);

// Asks nobody. Thread-safe.
std::vector<std::string> ServiceTemplateWarnings(const YurtAppDaemon& wanted, const YurtAppDaemon* before);

}  // namespace yad

#endif  // WEBHOOK_SERVICE_CHECK_H_
