// Reads a daemon and its pools on the server while a plan is applied, because the caches may be stale
// (docs/decisions/0011-late-caches.md).
#ifndef OPERATOR_YURTAPPDAEMON_APPLY_LIVE_CHECKS_H_
#define OPERATOR_YURTAPPDAEMON_APPLY_LIVE_CHECKS_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/cluster/nodepool_type.h"
#include "operator/yurtappdaemon/observe/shared_response.h"
#include "operator/yurtappdaemon/plan/plan.h"

namespace yad {

// Makes the live reads for the concurrent writes of one plan. The writes share reads of the daemon, and lists of pools
// if the plan needs more than a few pools.
//
// Thread-safe. The constructor's arguments must outlive the object.
class LiveChecks {
 public:
  // `parallel` is the number of concurrent writes.
  LiveChecks(Client& client, Clock& clock, ResourceType pool_type, const YurtAppDaemon& daemon, const Plan& plan,
             std::size_t parallel, std::stop_token stop);

  // Checks that an object of an unselected pool may be deleted. `mark` is the token that allowed the removal, or "" if
  // a token was not required. Fails with kConflict if the pool is selected again, if the daemon has changed since the
  // plan was made, or if the daemon's annotation no longer has the token.
  Status MayRemove(const std::string& pool, const std::string& mark);

  // Fails with kConflict if the pool has changed since the plan was made. Must be called before each update that
  // follows a change of the pool.
  Status InputsAreAsPlanned(const PoolPlan& plan);

 private:
  Result<std::optional<NodePool>> Pool(const std::string& name);

  Client& client_;
  const ResourceType pool_type_;
  const YurtAppDaemon& daemon_;
  const std::stop_token stop_;
  std::set<std::string> names_;  // names of the pools that the checks of this plan need
  bool metadata_only_ = true;    // the checks need only the metadata of these pools
  bool one_by_one_ = true;       // each pool is read separately, because the checks need only a few pools
  SharedResponse<ObjectMeta> daemon_now_;
  SharedResponse<std::shared_ptr<const PoolsByName>> pools_now_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_APPLY_LIVE_CHECKS_H_
