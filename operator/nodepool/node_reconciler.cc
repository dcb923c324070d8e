#include "operator/nodepool/node_reconciler.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/base/log.h"
#include "operator/nodepool/informers.h"
#include "operator/nodepool/nodepool_type.h"

namespace yad {
namespace {

// A new CRD has no pools before somebody brings them back.
constexpr Duration kCrdIsNew = std::chrono::minutes(30);

// Of what a Node is to have. Not of the patch: who undoes it in two steps would make two of them in turn.
std::uint64_t DigestOf(const ObjectMeta& node, const PoolAttributes& wanted) {
  return Fnv1a64(node.uid + ToJson(wanted).dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

Result<bool> NodeReconciler::IsGone(const std::string& pool, std::stop_token stop) const {
  const auto crd = ReadNodePoolCrd(client_, stop);
  if (!crd) return Fail(crd.error());
  if (crd->known && !crd->stays) return false;
  if (crd->known && clock_.WallNow() < ParseTime(crd->created) + kCrdIsNew) return false;
  const auto live = ReadPool(client_, pool_type_(), pool, stop);
  if (!live) return Fail(live.error());
  return !live->has_value();
}

void NodeReconciler::ReportMissingPool(const ObjectMeta& node, const std::string& pool) {
  const bool news = told_.With([&](auto& told) { return std::exchange(told[node.key.name], pool) != pool; });
  if (!news) return;
  log::Warn("a Node's pool does not exist", {{"node", node.key.name}, {"nodepool", pool}});
  events_.Record({kNodeType.ApiVersion(), kNodeType.kind, node.key, node.uid, node.resource_version},
                 EventType::kWarning, "NodePoolMissing", "Sync",
                 "label " + std::string(kNodePoolLabel) + " names NodePool " + pool + ", which does not exist");
}

Result<ReconcileResult> NodeReconciler::Reconcile(const Request& request, std::stop_token stop) {
  const auto stored = nodes_.Get(request);
  if (!stored) {
    if (stored.error().reason != Reason::kNotFound) return Fail(stored.error());
    written_.With([&](auto& written) { written.erase(request.name); });
    told_.With([&](auto& told) { told.erase(request.name); });
    return ReconcileResult::Done();
  }
  const ObjectMeta& meta = (*stored)->meta();
  if (meta.deleting()) return ReconcileResult::Done();
  const std::string& pool = meta.Label(kNodePoolLabel);
  bool missing = false;
  PoolAttributes wanted;
  if (!pool.empty()) {
    const auto found = pools_.Get({"", pool});
    if (!found && found.error().reason != Reason::kNotFound) return Fail(found.error());
    missing = !found;
    if (found) wanted = PoolProjectionOf(*found).attributes;
  }

  const Json patch = AttributesPatch((*stored)->Parse(), wanted);
  const bool reported = missing && told_.With([&](auto& pools) {
    const auto found = pools.find(request.name);
    return found != pools.end() && found->second == pool;
  });
  if (reported && patch.is_null()) return ReconcileResult::Done();
  if (missing) {
    // A late cache must take nothing away, and neither must the end of the CRD, which is that of all pools at once.
    const auto gone = IsGone(pool, stop);
    if (!gone) return Fail(gone.error());
    if (!*gone) return ReconcileResult::RequeueWithBackoff();
    ReportMissingPool(meta, pool);
  } else {
    told_.With([&](auto& told) { told.erase(request.name); });
  }
  if (patch.is_null()) return ReconcileResult::Done();

  const SteadyTime now = clock_.Now();
  const std::uint64_t digest = DigestOf(meta, wanted);
  // The same again: somebody keeps undoing it.
  const bool repair = written_.With([&](auto& written) {
    const auto found = written.find(request.name);
    return found != written.end() && found->second == digest;
  });
  if (repair) {
    const Duration wait = repairs_.With([&](RepairPace& pace) { return pace.Wait(request.name, now); });
    if (wait > Duration::zero()) return ReconcileResult::RequeueAfter(wait);
  }
  const auto patched = client_.Patch(kNodeType, meta.key, PatchType::kMerge, patch, {}, stop);
  if (!patched) {
    if (patched.error().reason == Reason::kNotFound) return ReconcileResult::Done();  // its end is on its way to us
    return Fail(patched.error());
  }
  written_.With([&](auto& written) { written[request.name] = digest; });
  if (repair && repairs_.With([&](RepairPace& pace) { return pace.Repaired(request.name, now); })) {
    log::Warn("somebody else keeps changing what a Node has from its pool; it is put right more seldom from now on",
              {{"node", request.name}, {"nodepool", pool}});
  }
  nodes_.Observe(KeptNode(*patched));
  // A webhook may have taken out what was written: then no event of the Node tells of a difference.
  if (!AttributesPatch(*patched, wanted).is_null()) return ReconcileResult::RequeueNow();
  return ReconcileResult::Done();
}

}  // namespace yad
