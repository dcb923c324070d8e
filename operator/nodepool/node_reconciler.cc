#include "operator/nodepool/node_reconciler.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/base/log.h"
#include "operator/cluster/informers.h"
#include "operator/cluster/nodepool_type.h"

namespace yad {
namespace {

// A recreated CRD has no pools until a user restores them. For this time after the creation of the CRD, a missing pool
// that this process has never seen may still be restored.
constexpr Duration kCrdIsNew = std::chrono::minutes(30);

// After the reconciler has read a pool from the server, it does not read the pool again for this time. So a change of a
// pool causes about one read per second, instead of one read for each of its Nodes.
//
// If a Node has changed after the read, the pool is read again for this Node. A user may have changed the pool and then
// moved the Node into it. If a read shows that the CRD is gone, the CRD is also not read again for this time.
constexpr Duration kConfirmed = std::chrono::seconds(1);

// The shortest wait before the server is read again to find out why a pool is missing. If the pool returns to the
// cache, its Nodes are reconciled immediately.
constexpr Duration kReadAgain = std::chrono::seconds(10);

// Returns a digest of the attributes that the Node should have. If it equals the digest of the last write, another
// client has reverted that write. A digest of the patch would not show this: if the client reverts the attributes in
// two steps, each patch is different.
std::uint64_t DigestOf(const ObjectMeta& node, const PoolAttributes& wanted) {
  return Fnv1a64(node.uid + DumpJson(ToJson(wanted)));
}

// Returns whether the pool must be read from the server before the write. If the cached pool is outdated, the write
// could remove attributes of the new pool, or evict pods for a taint that no longer exists.
bool NeedsLivePool(const Json& node, const PoolAttributes& wanted) {
  const auto annotated = [&](const char* name) { return !StringAt(node, {"metadata", "annotations", name}).empty(); };
  const bool takes = annotated(kPreviousAttributesAnnotation) || annotated(kLeaseAnnotation);
  const bool evicts = std::any_of(wanted.taints.begin(), wanted.taints.end(),
                                  [](const NodeTaint& taint) { return taint.effect == "NoExecute"; });
  return takes || evicts;
}

}  // namespace

Result<NodeReconciler::Absence> NodeReconciler::AbsenceOf(const std::string& pool, const ObjectMeta& node,
                                                          std::stop_token stop) {
  const SteadyTime now = clock_.Now();
  // All Nodes share the result that the CRD is gone, but not the result that it exists, because an existing CRD may be
  // deleted at any time.
  if (crd_gone_until_.With([&](const SteadyTime& until) { return now < until; })) return Absence::kUnknown;
  YAD_TRY(const auto crd, ReadNodePoolCrd(client_, stop));
  if (crd.known && !crd.exists) {
    crd_gone_until_.With([&](SteadyTime& until) { until = now + kConfirmed; });
    return Absence::kUnknown;
  }
  if (Confirmation absent{"", "", now}; !IsConfirmed(pool, absent, node)) {
    YAD_TRY(const auto live, ReadPoolObject(client_, pool_type_(), pool, stop, &absent.resource_version));
    if (live.has_value()) return Absence::kUnknown;
    Remember(pool, std::move(absent));
  }
  if (!crd.known) return Absence::kGone;
  const std::string created = created_.With([&](const auto& pools) {
    const auto found = pools.find(pool);
    return found == pools.end() ? "" : found->second;
  });
  // If this process has never seen the pool, the creation time of the Node is used instead of that of the pool. A Node
  // that is newer than the CRD can't have attributes from a pool that was deleted with an older CRD.
  const bool deleted_with_crd = created.empty() ? crd.DeletedPoolsBefore(node.creation_timestamp) &&
                                                      clock_.WallNow() < ParseTime(crd.created) + kCrdIsNew
                                                : crd.DeletedPoolsBefore(created);
  return deleted_with_crd ? Absence::kMayComeBack : Absence::kGone;
}

bool NodeReconciler::IsConfirmed(const std::string& pool, const Confirmation& next, const ObjectMeta& node) const {
  return confirmed_.With([&](const auto& confirmed) {
    const auto found = confirmed.find(pool);
    if (found == confirmed.end() || found->second.pool != next.pool) return false;
    return next.at - found->second.at < kConfirmed &&
           CompareResourceVersions(node.resource_version, found->second.resource_version).value_or(1) <= 0;
  });
}

void NodeReconciler::Remember(const std::string& pool, Confirmation next) {
  confirmed_.With([&](auto& confirmed) {
    // Removes old entries, because the labels of Nodes may contain any number of pools that do not exist.
    std::erase_if(confirmed, [&](const auto& entry) { return next.at - entry.second.at >= kConfirmed; });
    confirmed[pool] = std::move(next);
  });
}

Status NodeReconciler::ConfirmPool(const ObjectMeta& pool, const ObjectMeta& node, std::stop_token stop) {
  Confirmation next{pool.uid + "/" + std::to_string(pool.generation), "", clock_.Now()};
  if (IsConfirmed(pool.key.name, next, node)) return {};
  YAD_TRY(const auto live, ReadPoolObject(client_, pool_type_(), pool.key.name, stop, &next.resource_version));
  const ObjectMeta now = live.has_value() ? ParseMeta(*live) : ObjectMeta();
  if (now.uid != pool.uid || now.generation != pool.generation)
    return Fail(Reason::kConflict, "NodePool " + pool.key.name + " was changed or recreated after it was read");
  Remember(pool.key.name, std::move(next));
  return {};
}

void NodeReconciler::ReportMissingPool(const ObjectMeta& node, const std::string& pool) {
  const bool news = missing_pools_.With([&](auto& pools) { return std::exchange(pools[node.key.name], pool) != pool; });
  if (!news) return;
  log::Warn("a Node's pool does not exist", {{"node", node.key.name}, {"nodepool", pool}});
  events_.Record(ReferenceTo(kNodeType, node), EventType::kWarning, "NodePoolMissing", "Sync",
                 "label " + std::string(kNodePoolLabel) + " names NodePool " + pool + ", which does not exist");
}

Result<ReconcileResult> NodeReconciler::WriteAttributes(const ObjectMeta& node, const PoolAttributes& wanted,
                                                        const Json& patch, std::stop_token stop) {
  const SteadyTime now = clock_.Now();
  const std::uint64_t digest = DigestOf(node, wanted);
  // If the last write had the same digest, another client has reverted it.
  const bool repair = written_.With([&](auto& written) { return HasValue(written, node.key.name, digest); });
  if (repair) {
    const Duration wait = repairs_.With([&](RetryPace& pace) { return pace.Wait(node.key.name, now); });
    if (wait > Duration::zero()) return ReconcileResult::RequeueAfter(wait);
  }
  const auto patched = client_.Patch(kNodeType, node.key, PatchType::kMerge, patch, {}, stop);
  if (!patched) {
    if (patched.error().reason == Reason::kNotFound) return ReconcileResult::Done();  // the watch reports the deletion
    return Fail(patched.error());
  }
  written_.With([&](auto& written) { written[node.key.name] = digest; });
  if (repair && repairs_.With([&](RetryPace& pace) { return pace.Tried(node.key.name, now); })) {
    log::Warn(
        "another client keeps changing the attributes that a Node has from its pool; the operator backs off and "
        "restores them less often",
        {{"node", node.key.name}, {"nodepool", node.Label(kNodePoolLabel)}});
  }
  nodes_.Observe(KeptNode(*patched));
  // An admission webhook may have removed a part of the write. No event reports this, so the reconcile runs again now.
  if (!AttributesPatch(*patched, wanted).is_null()) return ReconcileResult::RequeueNow();
  return ReconcileResult::Done();
}

Result<ReconcileResult> NodeReconciler::Reconcile(const Request& request, std::stop_token stop) {
  YAD_TRY(const auto stored, IfFound(nodes_.Get(request)));
  if (!stored) {
    written_.With([&](auto& written) { written.erase(request.name); });
    missing_pools_.With([&](auto& pools) { pools.erase(request.name); });
    return ReconcileResult::Done();
  }
  const ObjectMeta& meta = (*stored)->meta();
  if (meta.deleting()) return ReconcileResult::Done();
  const std::string& pool = meta.Label(kNodePoolLabel);
  bool missing = false;
  PoolAttributes wanted;
  std::optional<ObjectMeta> read;  // the pool in the cache
  if (!pool.empty()) {
    YAD_TRY(const auto found, IfFound(pools_.Get({"", pool})));
    missing = !found;
    if (found) {
      wanted = PoolProjectionOf(*found).attributes;
      read = (*found)->meta();
      created_.With([&](auto& pools) { pools[pool] = read->creation_timestamp; });
    }
  }

  const Json node = (*stored)->Parse();
  const Json patch = AttributesPatch(node, wanted);
  const bool reported =
      missing && missing_pools_.With([&](auto& pools) { return HasValue(pools, request.name, pool); });
  if (reported && patch.is_null()) return ReconcileResult::Done();
  if (missing) {
    // A pool that is not in the cache may still exist or come back: the cache may be stale, or the pool was deleted
    // with its CRD. The attributes of the Node must then stay.
    YAD_TRY(const auto absence, AbsenceOf(pool, meta, stop));
    const ReconcileResult later = ReconcileResult::RequeueWithBackoff(Duration::max(), kReadAgain);
    if (absence == Absence::kUnknown) return later;
    ReportMissingPool(meta, pool);
    if (absence == Absence::kMayComeBack && !patch.is_null()) return later;
  } else {
    missing_pools_.With([&](auto& pools) { pools.erase(request.name); });
  }
  if (patch.is_null()) return ReconcileResult::Done();
  if (read && NeedsLivePool(node, wanted)) YAD_TRY_VOID(ConfirmPool(*read, meta, stop));
  return WriteAttributes(meta, wanted, patch, stop);
}

}  // namespace yad
