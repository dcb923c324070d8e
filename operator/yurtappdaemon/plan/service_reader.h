// Reads the Services of a daemon.
#ifndef OPERATOR_YURTAPPDAEMON_PLAN_SERVICE_READER_H_
#define OPERATOR_YURTAPPDAEMON_PLAN_SERVICE_READER_H_

#include "operator/runtime/informer.h"
#include "operator/yurtappdaemon/observe/history.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// Sets Snapshot::services, if a revision has a Service template or status lists a Service. Other daemons need neither
// the watch nor the permission for it. `informer` is on demand; null: there are no Services. Returns false if the
// Services are not read yet, and the reconcile has to start again. Fails if a revision in use needs them and the read
// is forbidden. If none needs them, a failed read counts as none.
Result<bool> ReadServices(Informer* informer, const RevisionHistory::State& revisions, const Json& status,
                          Snapshot& snapshot);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_SERVICE_READER_H_
