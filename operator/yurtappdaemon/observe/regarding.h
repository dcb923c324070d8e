// Returns the reference to a YurtAppDaemon for an Event.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_REGARDING_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_REGARDING_H_

#include "operator/api/object.h"
#include "operator/api/well_known.h"
#include "operator/runtime/event_recorder.h"

namespace yad {

inline ObjectReference Regarding(const ObjectMeta& meta) {
  return {kYurtAppDaemonType.ApiVersion(), kYurtAppDaemonType.kind, meta.key, meta.uid, meta.resource_version};
}

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_REGARDING_H_
