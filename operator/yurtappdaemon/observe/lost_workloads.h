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

// Returns the workloads of unselected pools that status lists and the server has, but no cache shows. The operator has
// to remove them.
//
// `deleted` contains the names of workloads that the operator has deleted. They are not read again. A name is removed
// from `deleted` if status no longer lists the workload, or if a cache shows it again.
Result<std::vector<WorkloadRef>> FindLostWorkloads(Client& client, const Snapshot& snapshot, const Json& status,
                                                   std::set<std::string>& deleted, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_LOST_WORKLOADS_H_
