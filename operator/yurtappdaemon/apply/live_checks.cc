#include "operator/yurtappdaemon/apply/live_checks.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/yurtappdaemon/observe/live_daemon.h"

namespace yad {
namespace {

// Each pool is read separately if there are at most kReadOneByOne pools, or at most one in kShareReadOneByOne of the
// daemon's pools. For more pools, one list of all pools causes less load on the server.
constexpr std::size_t kReadOneByOne = 8;
constexpr std::size_t kShareReadOneByOne = 64;
// One list of all pools is used for at most this number of writes of each parallel writer. The next write reads the
// list again.
constexpr std::size_t kRoundsOfOneList = 8;

}  // namespace

LiveChecks::LiveChecks(Client& client, Clock& clock, ResourceType pool_type, const YurtAppDaemon& daemon,
                       const Plan& plan, std::size_t parallel, std::stop_token stop)
    : client_(client),
      pool_type_(std::move(pool_type)),
      daemon_(daemon),
      stop_(std::move(stop)),
      metadata_only_(daemon.pools.type.empty()),
      daemon_now_(clock, parallel, [this] { return ConfirmDaemon(client_, daemon_.meta, stop_); }),
      pools_now_(clock, parallel * kRoundsOfOneList, [this]() -> Result<std::shared_ptr<const PoolsByName>> {
        YAD_TRY(auto pools, ReadPools(client_, pool_type_, names_, metadata_only_, stop_));
        return std::make_shared<const PoolsByName>(std::move(pools));
      }) {
  for (const PoolPlan& pool : plan.pools) {
    if (!ChangesRenderInputs(pool) || pool.deferred) continue;
    names_.insert(pool.pool);
    metadata_only_ = false;  // Taints are not in the metadata.
  }
  for (const Removal& removal : plan.removals) {
    if (!removal.kept) names_.insert(removal.workload.pool);
  }
  for (const ServiceRemoval& removal : plan.service_removals) {
    if (!removal.pool) names_.insert(removal.service.pool);
  }
  one_by_one_ = names_.size() <= std::max(kReadOneByOne, plan.pools.size() / kShareReadOneByOne);
}

Result<std::optional<NodePool>> LiveChecks::Pool(const std::string& name) {
  if (one_by_one_) return ReadPool(client_, pool_type_, name, stop_);
  YAD_TRY(const auto pools, pools_now_.Get());
  const auto pool = pools->find(name);
  return pool == pools->end() ? std::nullopt : std::optional(pool->second);
}

Status LiveChecks::MayRemove(const std::string& name, const std::string& mark) {
  YAD_TRY(const auto pool, Pool(name));
  if (pool && daemon_.pools.Selects(*pool)) return Fail(Reason::kConflict, "pool " + name + " is selected again");
  // The daemon is read again during the removals. Thousands of removals take a while, and a user may correct the
  // selector or revoke the permission during this time.
  YAD_TRY(const auto now, daemon_now_.Get());
  if (!mark.empty() && now.Annotation(kAllowRemovalAnnotation) != mark)
    return Fail(Reason::kConflict,
                std::string("annotation ") + kAllowRemovalAnnotation + " has changed since it was read");
  return {};
}

Status LiveChecks::InputsAreAsPlanned(const PoolPlan& plan) {
  YAD_TRY(const auto pool, Pool(plan.pool));
  if (pool) {
    const RenderInputs now = InputsFor(plan.to.revision->content, *pool);
    // If the plan keeps the workload's tolerations, the pool's taints are not compared. The workload may have its
    // tolerations in another order, or may still tolerate removed taints.
    const bool tolerates =
        plan.to.inputs.tolerations == plan.from.inputs.tolerations || now.tolerations == plan.to.inputs.tolerations;
    if (tolerates && now.overrides == plan.to.inputs.overrides) return {};
  }
  return Fail(Reason::kConflict, "pool " + plan.pool + " was changed or recreated after it was read");
}

}  // namespace yad
