// Finds workloads that lost their label kPoolNameLabel while their pool was not selected. No cache shows them, because
// the watches select by this label.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_LOST_WORKLOADS_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_LOST_WORKLOADS_H_

#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/client/client.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// Returns the workloads that the operator has to remove although no cache shows them: status lists them, they exist on
// the server, and their pools are not selected.
//
// `deleted` contains the names of workloads that the operator has already deleted. These workloads are not read again.
// Removes a name from `deleted` if status no longer lists the workload, or if a cache shows the workload again.
Result<std::vector<WorkloadRef>> FindLostWorkloads(Client& client, const Snapshot& snapshot, const Json& status,
                                                   std::set<std::string>& deleted, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_LOST_WORKLOADS_H_
