// Reads the Jobs of a daemon's checks.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_CHECK_JOBS_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_CHECK_JOBS_H_

#include <string>

#include "operator/base/clock.h"
#include "operator/runtime/informer.h"
#include "operator/yurtappdaemon/observe/denial.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// Reads the Jobs with kCheckLabel of namespace `ns` ("": all), without their content, once a daemon needs them.
ReflectorOptions WatchingCheckJobs(const std::string& ns);

// Sets the Jobs of the daemon in the snapshot if one of its checks is a Job, or if the cache of Jobs is already filled.
// If the Jobs can't be read, sets checks_fault. If the cache may be stale, sets jobs_outdated. Returns false while the
// first list is under way. Without checks_fault and the result false, an unfilled cache would look like Jobs that do
// not exist.
Result<bool> ReadCheckJobs(Informer* jobs, Denial& denial, SteadyTime now, Snapshot& snapshot);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_CHECK_JOBS_H_
