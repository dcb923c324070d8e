// Reads the Services of a daemon.
#ifndef OPERATOR_YURTAPPDAEMON_PLAN_SERVICE_READER_H_
#define OPERATOR_YURTAPPDAEMON_PLAN_SERVICE_READER_H_

#include "operator/runtime/informer.h"
#include "operator/yurtappdaemon/observe/history.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// Sets Snapshot::services if a revision has a Service template, or if status lists a Service. For other daemons, the
// operator needs neither the watch nor the right to read Services. `informer` starts on demand. If it is null, Services
// are not read.
//
// Returns false if the Services are not read yet. The reconcile must then start again. If the read fails, the result
// depends on the revisions in use. If none of them has a Service template, the daemon counts as a daemon without
// Services. If one has a template, the function fails when the read is forbidden.
Result<bool> ReadServices(Informer* informer, const RevisionHistory::State& revisions, const Json& status,
                          Snapshot& snapshot);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_SERVICE_READER_H_
