// Finds the revision that a spec requests. Pure.
#ifndef PLUGIN_COMMANDS_REVISION_OF_H_
#define PLUGIN_COMMANDS_REVISION_OF_H_

#include <vector>

#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// Returns the newest revision in `known` that has the content of the daemon's spec. If none has this content, returns
// the revision that the operator would create, with its name.
RevisionPtr RevisionOf(const YurtAppDaemon& daemon, const std::vector<RevisionPtr>& known);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_REVISION_OF_H_
