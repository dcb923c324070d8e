// A YurtAppDaemon in Events and metrics.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_REGARDING_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_REGARDING_H_

#include "operator/api/object.h"
#include "operator/api/well_known.h"
#include "operator/base/metrics.h"
#include "operator/runtime/event_recorder.h"

namespace yad {

// Returns the reference for an Event.
inline ObjectReference Regarding(const ObjectMeta& meta) { return ReferenceTo(kYurtAppDaemonType, meta); }

inline metrics::Labels DaemonLabels(const ObjectKey& key) { return {{"namespace", key.ns}, {"name", key.name}}; }

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_REGARDING_H_
