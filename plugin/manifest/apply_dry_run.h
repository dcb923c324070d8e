// Computes the result of kubectl apply without a change in the cluster.
#ifndef PLUGIN_MANIFEST_APPLY_DRY_RUN_H_
#define PLUGIN_MANIFEST_APPLY_DRY_RUN_H_

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/client.h"

namespace yad {

// Returns the YurtAppDaemon that `kubectl apply` of this manifest would create or change, with the server's defaults
// and the changes of webhooks. Sends a dry run to the server. The manifest must have a namespace.
Result<Json> ApplyAsDryRun(Client& client, const Json& manifest);

// Returns the YurtAppDaemon that `kubectl apply` of this manifest would create or change, but does not contact a
// server. So the result lacks the server's defaults and the changes of webhooks. `live` is the current YurtAppDaemon;
// null if it does not exist. Pure.
Json ApplyWithoutServer(const Json& live, const Json& manifest);

}  // namespace yad

#endif  // PLUGIN_MANIFEST_APPLY_DRY_RUN_H_
