// Writes one workload as the plan requires.
#ifndef OPERATOR_YURTAPPDAEMON_APPLY_WORKLOAD_WRITER_H_
#define OPERATOR_YURTAPPDAEMON_APPLY_WORKLOAD_WRITER_H_

#include <optional>
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

// Thread-safe.
class WorkloadWriter {
 public:
  WorkloadWriter(Client& client, Projector projector) : client_(client), projector_(std::move(projector)) {}

  // Creates the pool's workload from the spec `plan.to`. If the pool already has a workload that the caches do not
  // show, uses that workload. `remembered` is the workload's name in status, or "" if status does not list it.
  Result<WrittenWorkload> Create(const YurtAppDaemon& daemon, const PoolPlan& plan, const std::string& remembered,
                                 std::stop_token stop) const;
  // Updates the workload `plan.workload` to the spec `plan.to`. After a Conflict, reads the workload from the server,
  // merges again, and retries.
  Result<WrittenWorkload> Update(const YurtAppDaemon& daemon, const PoolPlan& plan, std::stop_token stop) const;

  // Returns a workload in the form that the Store keeps. For a JsonDocument, only the parts that the projection reads
  // become a Json tree.
  ObjectPtr ToStored(const Json& object) const;
  ObjectPtr ToStored(const JsonDocument& object) const;

 private:
  // Returns the workload on the server if the repair must not write the pod template, and nullopt otherwise. `live` is
  // the workload in the cache, and `repaired` is the object to write.
  //
  // The repair must not write the template if both of these are true:
  // - In the pod template, the repair only replaces values.
  // - managedFields show that no other client has changed this template.
  //
  // An admission webhook has then changed the last write of the operator, or of OpenYurt. The PlanMemo of a new process
  // does not contain this difference. If the webhook no longer changes the write, the repair would restart the pods of
  // all pools.
  Result<std::optional<Json>> FindNotKept(const YurtAppDaemon& daemon, const PoolPlan& plan, const Json& live,
                                          const Json& repaired, std::stop_token stop) const;
  // Returns the existing workload with this name, which the caches might not show because it lacks the label of its
  // pool. Restores the label. Fails with kNotFound if no workload has the name, and with kAlreadyExists if the workload
  // does not belong to the pool of this daemon.
  Result<WrittenWorkload> Reclaim(const YurtAppDaemon& daemon, const PoolPlan& plan, const std::string& name,
                                  std::stop_token stop) const;

  Client& client_;
  const Projector projector_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_APPLY_WORKLOAD_WRITER_H_
