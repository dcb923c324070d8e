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

// Returns the options of the watch of Jobs with kCheckLabel in `ns`; "" means all namespaces. The watch starts on
// demand, and the cache keeps no content.
ReflectorOptions WatchingCheckJobs(const std::string& ns);

// Sets Snapshot::check_jobs if a check is a Job, or if the cache of Jobs is already filled. Returns false while the
// first list is under way. Sets also:
// - checks_fault, if the Jobs can't be read
// - jobs_outdated, if the cache may be stale
Result<bool> ReadCheckJobs(Informer* jobs, Denial& denial, SteadyTime now, Snapshot& snapshot);

// Reads the daemon's Jobs from the server into the snapshot, without the watch. Fails as the list does.
Status ListCheckJobs(Client& client, Snapshot& snapshot, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_CHECK_JOBS_H_
