// The revision that a spec asks for. Pure.
#ifndef PLUGIN_REVISION_OF_H_
#define PLUGIN_REVISION_OF_H_

#include <vector>

#include "operator/yurtappdaemon/snapshot.h"

namespace yad {

// The newest of `known` that has the daemon's content, else the one that the operator would make, named as it would
// name it.
RevisionPtr RevisionOf(const YurtAppDaemon& daemon, const std::vector<RevisionPtr>& known);

}  // namespace yad

#endif  // PLUGIN_REVISION_OF_H_
