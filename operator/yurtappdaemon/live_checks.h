// What the server says of a daemon and its pools while a plan is carried out: no cache is believed (confirm.h).
#ifndef OPERATOR_YURTAPPDAEMON_LIVE_CHECKS_H_
#define OPERATOR_YURTAPPDAEMON_LIVE_CHECKS_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/nodepool/nodepool_type.h"
#include "operator/yurtappdaemon/plan.h"
#include "operator/yurtappdaemon/shared_answer.h"

namespace yad {

// Writes that run side by side share one read of the daemon. Where a plan needs more than a few pools, its writes share
// lists of them. Thread-safe. Not to outlive its arguments.
class LiveChecks {
 public:
  // `parallel` writes are under way at once.
  LiveChecks(Client& client, Clock& clock, ResourceType pool_type, const YurtAppDaemon& daemon, const Plan& plan,
             std::size_t parallel, std::stop_token stop);

  // Before something of a pool that is selected no longer is deleted. Conflict: the pool is selected, the daemon is not
  // what the plan was made for, or its annotation allows the removal no longer. `mark`: what allowed it, "" where
  // nothing had to.
  Status MayRemove(const std::string& pool, const std::string& mark);

  // Before a workload is written because its pool is another. Conflict: the pool is not what the plan was made for.
  Status InputsAreAsPlanned(const PoolPlan& plan);

 private:
  Result<std::optional<NodePool>> Pool(const std::string& name);

  Client& client_;
  const ResourceType pool_type_;
  const YurtAppDaemon& daemon_;
  const std::stop_token stop_;
  std::set<std::string> names_;  // of pools that the plan needs
  bool metadata_only_ = true;    // the plan needs no more of these pools
  bool one_by_one_ = true;       // these pools are few
  SharedAnswer<ObjectMeta> daemon_now_;
  SharedAnswer<std::shared_ptr<const PoolsByName>> pools_now_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_LIVE_CHECKS_H_
