// Reads the Services of a daemon.
#ifndef OPERATOR_YURTAPPDAEMON_PLAN_SERVICE_READER_H_
#define OPERATOR_YURTAPPDAEMON_PLAN_SERVICE_READER_H_

#include "operator/runtime/informer.h"
#include "operator/yurtappdaemon/observe/history.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// Sets Snapshot::services if the daemon's revisions or its status have a Service. For other daemons, the operator does
// not need the permission to read Services.
//
// Returns:
// - true: the Services were read, or are not needed
// - false: the first list is in progress, or its failure may be temporary. The caller starts the reconcile again.
// - an error: the read is forbidden
//
// `informer` starts on demand. If it is null, Services are not read.
Result<bool> ReadServices(Informer* informer, const RevisionHistory::State& revisions, const Json& status,
                          Snapshot& snapshot);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_SERVICE_READER_H_
