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
// Returns false if the Services are not read yet, or if their read failed and may succeed later. The reconcile must
// then start again. Fails if the read is forbidden. If no revision in use has a Service template, a failed read counts
// as no Services instead.
Result<bool> ReadServices(Informer* informer, const RevisionHistory::State& revisions, const Json& status,
                          Snapshot& snapshot);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_SERVICE_READER_H_
