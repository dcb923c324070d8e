// Deletes the workloads that a plan removes. Thread-safe.
#ifndef OPERATOR_YURTAPPDAEMON_APPLY_WORKLOAD_REMOVER_H_
#define OPERATOR_YURTAPPDAEMON_APPLY_WORKLOAD_REMOVER_H_

#include <cstddef>
#include <stop_token>
#include <vector>

#include "operator/client/client.h"
#include "operator/runtime/store.h"
#include "operator/yurtappdaemon/apply/live_checks.h"
#include "operator/yurtappdaemon/plan/plan.h"

namespace yad {

// For each removal that needs a token (Removal::mark), writes the token to an annotation of the workload, so that the
// removal stays allowed after a crash. Puts the annotated workloads into `workloads` and into `removals`. If this
// fails, no workload whose removal needs a token may be removed.
Status MarkRemovals(Client& client, Store& workloads, const YurtAppDaemon& daemon, std::vector<Removal>& removals,
                    std::size_t parallel_writes, std::stop_token stop);
// Deletes one workload. Fails with kNotFound if it is already gone. Before the deletion, live reads confirm:
// - for a duplicate, that the other workload of the pool still exists and is available
// - for the workload of an unselected pool, that it may be removed (checks.MayRemove)
Status RemoveWorkload(Client& client, const YurtAppDaemon& daemon, const Removal& removal, LiveChecks& checks,
                      std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_APPLY_WORKLOAD_REMOVER_H_
