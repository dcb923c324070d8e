// Reads the Jobs of a daemon's checks.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_CHECK_JOBS_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_CHECK_JOBS_H_

#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "operator/runtime/informer.h"
#include "operator/yurtappdaemon/observe/denial.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// Returns the options of the watch of Jobs with kCheckLabel. `ns` is their namespace, or "" for all namespaces. The
// watch starts when a daemon needs it. The cache does not keep the content of the Jobs.
ReflectorOptions WatchingCheckJobs(const std::string& ns);

// Sets the daemon's Jobs in the snapshot if one of its checks is a Job, or if the cache of Jobs is already filled. If
// the Jobs can't be read, sets checks_fault. If the cache may be stale, sets jobs_outdated. Returns false while the
// first list is under way, because an unfilled cache would look as if no Job existed.
Result<bool> ReadCheckJobs(Informer* jobs, Denial& denial, SteadyTime now, Snapshot& snapshot);

// Reads the daemon's Jobs from the server into the snapshot, without the watch. Fails as the list does.
Status ListCheckJobs(Client& client, Snapshot& snapshot, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_CHECK_JOBS_H_
