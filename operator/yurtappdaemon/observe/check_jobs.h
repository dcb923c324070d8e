// Reads the Jobs of a daemon's checks.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_CHECK_JOBS_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_CHECK_JOBS_H_

#include <string>

#include "operator/runtime/informer.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// Reads the Jobs with kCheckLabel of namespace `ns` ("": all), without their content, once a daemon needs them.
ReflectorOptions WatchingCheckJobs(const std::string& ns);

// Sets the Jobs of the daemon in the snapshot if one of its checks is a Job; if they can't be read, sets checks_fault.
// Returns false while the first list is under way. Otherwise, a failed read would look like a Job that does not exist.
Result<bool> ReadCheckJobs(Informer* jobs, Snapshot& snapshot);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_CHECK_JOBS_H_
