// What the operator would look at, read from the server at once.
#ifndef PLUGIN_WORLD_H_
#define PLUGIN_WORLD_H_

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/client.h"
#include "operator/yurtappdaemon/snapshot.h"

namespace yad {

// Of `daemon` as it is or might be: its spec need not be the server's. As if nothing held pools back: spec.paused and
// updateStrategy are left out, so that a plan of this snapshot leads to what the spec asks for in the end.
Result<Snapshot> ReadWorld(Client& client, const Json& daemon, WallTime now);

}  // namespace yad

#endif  // PLUGIN_WORLD_H_
