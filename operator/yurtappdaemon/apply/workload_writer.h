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

// The result of one write of a workload.
struct WorkloadAttempt {
  Result<ObjectPtr> object = nullptr;  // the server's response; null: no write was tried
  WorkloadAction written = WorkloadAction::kNone;
  // True if the workload existed already. The next plan decides whether it is updated.
  bool reclaimed = false;
};

// Thread-safe.
class WorkloadWriter {
 public:
  WorkloadWriter(Client& client, Projector projector) : client_(client), projector_(std::move(projector)) {}

  // Creates the workload of plan.to. `remembered` is the name of the workload in status, or "" if status does not list
  // it.
  WorkloadAttempt Create(const YurtAppDaemon& daemon, const PoolPlan& plan, const std::string& remembered,
                         std::stop_token stop) const;
  // Updates plan.workload to plan.to. After a Conflict, merges into the server's present object and tries again.
  WorkloadAttempt Update(const YurtAppDaemon& daemon, const PoolPlan& plan, std::stop_token stop) const;

  // Returns a workload in the form that the Store keeps. For a JsonDocument, only the parts that the projection reads
  // become a Json tree.
  ObjectPtr ToStored(const Json& object) const;
  ObjectPtr ToStored(const JsonDocument& object) const;

 private:
  // Returns the workload on the server if a repair must not write its pod template, and otherwise nullopt. `live` is
  // the workload in the cache, and `repaired` is the object to write.
  // A repair must not write the template if both are true. An admission webhook has then changed the last write of the
  // operator, or of OpenYurt:
  // - In the pod template, the repair only replaces values.
  // - managedFields show that no other client has changed this template.
  // The PlanMemo of a new process does not contain this difference. If the webhook is down, the repair would restart
  // the pods of all pools.
  Result<std::optional<Json>> FindNotKept(const YurtAppDaemon& daemon, const PoolPlan& plan, const Json& live,
                                          const Json& repaired, std::stop_token stop) const;
  // Finds a workload of the daemon that the caches do not show, and restores its label. Returns nullopt if no workload
  // has that name.
  std::optional<WorkloadAttempt> Reclaim(const YurtAppDaemon& daemon, const PoolPlan& plan, const std::string& name,
                                         std::stop_token stop) const;

  Client& client_;
  const Projector projector_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_APPLY_WORKLOAD_WRITER_H_
