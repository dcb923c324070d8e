// Which daemons a pool concerns, without asking or parsing anything: their selections, kept as their events come in.
#ifndef OPERATOR_YURTAPPDAEMON_DAEMON_INDEX_H_
#define OPERATOR_YURTAPPDAEMON_DAEMON_INDEX_H_

#include <map>
#include <vector>

#include "operator/api/yurtappdaemon.h"
#include "operator/base/guarded.h"
#include "operator/runtime/controller.h"

namespace yad {

// What the cache keeps of a YurtAppDaemon beside its text.
struct DaemonProjection : Projection {
  PoolSelection pools;
  LabelSelector selector;
  StringMap pod_labels;   // of the template
  bool readable = false;  // false: the spec is invalid, and no pool concerns it; the three above are empty
  std::uint64_t annotations_of_ours = 0;  // a digest
};
std::unique_ptr<const Projection> ProjectDaemon(const Json& object);
// What ProjectDaemon reads.
inline const JsonParts kProjectedOfDaemons = {{"apiVersion"}, {"kind"}, {"metadata"}, {"spec"}};

// The daemons in `daemons` that select the pool as it is now, or as it was before this event.
std::vector<Request> DaemonsSelecting(const Store& daemons, const Event& pool_event);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_DAEMON_INDEX_H_
