// Workloads that lost the label by which the caches hold them, while nobody selected their pool.
#ifndef OPERATOR_YURTAPPDAEMON_UNLABELLED_H_
#define OPERATOR_YURTAPPDAEMON_UNLABELLED_H_

#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/client/client.h"
#include "operator/yurtappdaemon/snapshot.h"

namespace yad {

// Those that status remembers, read live: they have to be removed as well. (Where the pool is selected, it is found
// when the workload would be made anew.) `deleted` holds names of workloads that were deleted since, for which nobody
// has to ask; what status does not remember any more, or what is there again, is taken out of it.
Result<std::vector<WorkloadRef>> FindUnlabelled(Client& client, const Snapshot& snapshot, const Json& status,
                                                std::set<std::string>& deleted, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_UNLABELLED_H_
