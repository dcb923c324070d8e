// Writes one workload as the plan requires. Thread-safe.
#ifndef OPERATOR_YURTAPPDAEMON_APPLY_WORKLOAD_WRITER_H_
#define OPERATOR_YURTAPPDAEMON_APPLY_WORKLOAD_WRITER_H_

#include <stop_token>
#include <string>

#include "operator/client/client.h"
#include "operator/runtime/store.h"
#include "operator/yurtappdaemon/plan/plan.h"

namespace yad {

// A workload after its write.
struct WrittenWorkload {
  ObjectPtr object;  // the server's response
  // The write that was made. It differs from the planned action if the write was not needed, or if `reclaimed` is set.
  WorkloadAction written = WorkloadAction::kNone;
  // True if the workload already existed, although the caches did not show it. Its spec was not written. The next plan
  // decides whether it is updated.
  bool reclaimed = false;
};

// Creates the pool's workload from the spec `plan.to`. If the pool already has a workload that the caches do not show,
// uses that workload. `remembered` is the workload's name in status, or "" if status does not list it.
Result<WrittenWorkload> CreateWorkload(Client& client, const YurtAppDaemon& daemon, const PoolPlan& plan,
                                       const std::string& remembered, std::stop_token stop);
// Updates the workload `plan.workload` to the spec `plan.to`. After a Conflict, reads the workload from the server,
// merges again, and retries.
Result<WrittenWorkload> UpdateWorkload(Client& client, const YurtAppDaemon& daemon, const PoolPlan& plan,
                                       std::stop_token stop);

// Returns a workload in the form that the Store keeps. For a JsonDocument, only the parts that the projection reads
// become a Json tree.
ObjectPtr StoredWorkload(WorkloadKind kind, const Json& object);
ObjectPtr StoredWorkload(WorkloadKind kind, const JsonDocument& object);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_APPLY_WORKLOAD_WRITER_H_
