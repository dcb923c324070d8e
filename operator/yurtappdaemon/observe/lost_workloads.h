// Workloads that lost the label by which the caches select them, while their pool was not selected.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_LOST_WORKLOADS_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_LOST_WORKLOADS_H_

#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/client/client.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// Reads those workloads live that status lists, and returns the ones that exist, because they have to be removed as
// well. (A selected pool needs no such read: a workload without its label is found when the operator tries to recreate
// it.) `deleted` contains the names of workloads that were deleted since; these are not read. Names that status no
// longer lists, or that exist again, are removed from `deleted`.
Result<std::vector<WorkloadRef>> FindLostWorkloads(Client& client, const Snapshot& snapshot, const Json& status,
                                                   std::set<std::string>& deleted, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_LOST_WORKLOADS_H_
