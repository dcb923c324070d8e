// Which Services a daemon has.
#ifndef OPERATOR_YURTAPPDAEMON_SERVICE_READER_H_
#define OPERATOR_YURTAPPDAEMON_SERVICE_READER_H_

#include "operator/runtime/informer.h"
#include "operator/yurtappdaemon/history.h"
#include "operator/yurtappdaemon/snapshot.h"

namespace yad {

// Fills in Snapshot::services, for those only who have a Service template in one of their revisions, or Services in
// their status: nobody else pays for the watch, nor needs the right to it. `informer` is on demand; null: there are no
// Services at all. False: they are being read, and all is to be looked at again. An Error: they are needed, and can't
// be read.
Result<bool> ReadServices(Informer* informer, const RevisionHistory::State& revisions, const Json& status,
                          Snapshot& snapshot);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_SERVICE_READER_H_
