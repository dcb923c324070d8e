// What a manifest would be once it is applied.
#ifndef PLUGIN_APPLIED_H_
#define PLUGIN_APPLIED_H_

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/client.h"

namespace yad {

// The YurtAppDaemon that `kubectl apply` of this manifest would leave, as the server says in a dry run: defaulted, and
// checked by its webhooks. The manifest has a namespace.
Result<Json> AsApplied(Client& client, const Json& manifest);

// The merge patch that kubectl apply makes for types that it does not know: what `manifest` says and `live` does not,
// and what `last` said (the last applied manifest) and `manifest` no longer says. Pure.
Json ManifestPatch(const Json& last, const Json& manifest, const Json& live);

}  // namespace yad

#endif  // PLUGIN_APPLIED_H_
