// Deletes the workloads that a plan removes.
#ifndef OPERATOR_YURTAPPDAEMON_APPLY_WORKLOAD_REMOVER_H_
#define OPERATOR_YURTAPPDAEMON_APPLY_WORKLOAD_REMOVER_H_

#include <cstddef>
#include <stop_token>
#include <vector>

#include "operator/client/client.h"
#include "operator/runtime/store.h"
#include "operator/yurtappdaemon/apply/live_checks.h"
#include "operator/yurtappdaemon/apply/workload_writer.h"
#include "operator/yurtappdaemon/plan/plan.h"

namespace yad {

// Thread-safe.
class WorkloadRemover {
 public:
  WorkloadRemover(Client& client, Store& store, const WorkloadWriter& writer, std::size_t parallel_writes)
      : client_(client), store_(store), writer_(writer), parallel_writes_(parallel_writes) {}

  // For each removal that needs a token (Removal::mark), writes the token to an annotation of the workload, so that the
  // removal stays allowed after a crash. Replaces the workloads in `removals` with the annotated workloads. If this
  // fails, no workload whose removal needs a token may be removed.
  Status Mark(const YurtAppDaemon& daemon, std::vector<Removal>& removals, std::stop_token stop) const;
  // Deletes one workload. Fails with kNotFound if it is already gone. Before the deletion, live reads confirm:
  // - for a duplicate, that the other workload of the pool still exists and is available
  // - for the workload of an unselected pool, that it may be removed (checks.MayRemove)
  Status Remove(const YurtAppDaemon& daemon, const Removal& removal, LiveChecks& checks, std::stop_token stop) const;

 private:
  Client& client_;
  Store& store_;
  const WorkloadWriter& writer_;
  const std::size_t parallel_writes_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_APPLY_WORKLOAD_REMOVER_H_
