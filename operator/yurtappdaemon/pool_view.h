// One pool as status shows it. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_POOL_VIEW_H_
#define OPERATOR_YURTAPPDAEMON_POOL_VIEW_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>

#include "operator/yurtappdaemon/diagnosis.h"
#include "operator/yurtappdaemon/plan.h"
#include "operator/yurtappdaemon/status_lists.h"

namespace yad {

// One selected pool after the plan's writes.
struct PoolResult {
  const PoolPlan* plan = nullptr;
  std::optional<WorkloadRef> workload;  // as the server has it now; nullopt if it could not be created
  bool outstanding = false;             // a planned write has not happened, and is retried
  std::string failure_reason;           // from the plan, or from a server that rejected the write
  std::string failure_message;
  std::string not_kept;      // a JSON pointer to a value that the server did not keep as written
  std::string service = {};  // the name of the pool's Service; "" if the daemon has no Service there
};

struct PoolView : PoolEntry {
  bool healthy = false;          // at its workload's generation, with no write outstanding
  bool soaking = false;          // healthy, but not for minReadySeconds yet
  bool updated = false;          // on updateRevision, healthy and soaked; or Offline and written
  bool settled = false;          // on updateRevision, and finished with its update, whatever its later health
  bool assigned = false;         // it has a workload on updateRevision that no write of this reconcile has changed
  bool excused = false;          // failed, and the revision is not the cause
  bool revision_failed = false;  // failed, and the revision may be the cause
  bool late = false;             // failed, because it was not healthy in time
};

// The entries of a status' `pools` by name. Points into the status.
class OldEntries {
 public:
  explicit OldEntries(const Json& status);
  const Json* Find(std::string_view pool) const;  // nullptr: the status does not list it

 private:
  std::unordered_map<std::string_view, const Json*> entries_;
};

// The data that all pools of a daemon share.
struct ViewContext {
  const Snapshot& snapshot;
  const OldEntries& old;
  const Rollout* rollout = nullptr;  // null: the strategy is not RollingUpdate
  const Diagnoses* diagnoses = nullptr;
};

PoolView MakeView(const PoolResult& result, const ViewContext& context);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_POOL_VIEW_H_
