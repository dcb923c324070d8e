// The result of applying a manifest.
#ifndef PLUGIN_MANIFEST_APPLY_DRY_RUN_H_
#define PLUGIN_MANIFEST_APPLY_DRY_RUN_H_

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/client.h"

namespace yad {

// Returns the YurtAppDaemon that would result from `kubectl apply` of this manifest. A dry run on the server adds
// defaults and calls the webhooks. The manifest must have a namespace.
Result<Json> ApplyAsDryRun(Client& client, const Json& manifest);

// Returns the YurtAppDaemon that would result from `kubectl apply` of this manifest, without the defaults and webhooks
// of a server. `live` is null if there is none. Pure.
Json ApplyWithoutServer(const Json& live, const Json& manifest);

}  // namespace yad

#endif  // PLUGIN_MANIFEST_APPLY_DRY_RUN_H_
