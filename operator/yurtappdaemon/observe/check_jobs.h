// Reads the Jobs of a daemon's checks.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_CHECK_JOBS_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_CHECK_JOBS_H_

#include <functional>
#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "operator/runtime/informer.h"
#include "operator/yurtappdaemon/observe/forbidden_reads.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// Returns the options of the watch of Jobs with label kCheckLabel in namespace `ns`; "" means all namespaces. The watch
// starts on demand. The cache keeps the metadata and the state of each Job, but not its spec.
ReflectorOptions WatchingCheckJobs(const std::string& ns);

// Returns the Job in the form that the cache keeps.
ObjectPtr StoredCheckJob(const Json& job);

// Reads the daemon's Jobs from the cache into Snapshot::check_jobs. Does nothing if no check of the daemon is of type
// Job and the cache is empty. Returns false while the first list is in progress. Also sets these members of the
// snapshot:
// - jobs_error, if the Jobs can't be read
// - jobs_outdated, if the cache may be stale
Result<bool> ReadCheckJobs(Informer* jobs, ForbiddenReads& forbidden_reads, SteadyTime now, Snapshot& snapshot);

// Reads the daemon's Jobs from the server, without the watch, and calls `take` with each of them in the form that the
// cache keeps. Fails if the list fails.
Status ListCheckJobs(Client& client, const ObjectMeta& daemon, std::stop_token stop,
                     const std::function<void(const ObjectPtr& job)>& take);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_CHECK_JOBS_H_
