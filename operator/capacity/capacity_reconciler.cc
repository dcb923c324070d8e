#include "operator/capacity/capacity_reconciler.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/api/merge_patch.h"
#include "operator/api/well_known.h"
#include "operator/capacity/capacity_plan.h"
#include "operator/capacity/releases.h"
#include "operator/capacity/survey.h"
#include "operator/client/status_error.h"
#include "operator/cluster/informers.h"
#include "operator/cluster/nodepool_type.h"

namespace yad {
namespace {

constexpr Duration kBetweenPasses = std::chrono::seconds(1);
constexpr char kInvalidSpec[] = "InvalidSpec";
constexpr char kPoolTaken[] = "PoolTaken";
constexpr char kHostNetwork[] = "HostNetwork";

WallTime WholeSeconds(WallTime time) { return std::chrono::floor<std::chrono::seconds>(time); }

// Returns whether the server would reject the write again, because permissions or an admission rule forbid it.
bool IsRejected(const Error& error) {
  switch (error.reason) {
    case Reason::kForbidden:
    case Reason::kInvalid:
    case Reason::kBadRequest:
      return true;
    default:
      return IsDenialOfWebhook(error);
  }
}

std::string ReadyReason(const Json& status) {
  const Json* ready = FindConditionIn(status, "Ready");
  return ready == nullptr ? "" : StringAt(*ready, {"reason"});
}

}  // namespace

void AddPodsByWantedPool(Store& pods) {
  pods.AddIndex(kPodsByWantedPool, [](const StoredObject& object) -> std::vector<std::string> {
    const Pod& pod = static_cast<const PodProjection*>(object.projection())->pod;
    if (!pod.node.empty() || pod.placement == nullptr) return {};
    const auto aim = pod.placement->node_selector.find(kNodePoolLabel);
    if (aim == pod.placement->node_selector.end()) return {};
    return {aim->second};
  });
}

CapacityReconciler::CapacityReconciler(Client& client, const Stores& stores, EventSink& events, Options options,
                                       Clock& clock)
    : client_(client),
      stores_(stores),
      events_(events),
      options_(std::move(options)),
      clock_(clock),
      release_(client, clock) {}

const Request& CapacityReconciler::Key() {
  static const Request key{"", "capacity"};
  return key;
}

Json CapacityReconciler::Describe() const {
  return described_.With([](const auto& described) { return Json(described); });
}

Status CapacityReconciler::Survey(Pass& pass) {
  YAD_TRY(const auto nodes, stores_.nodes.List());
  std::set<std::string> invalid_leases;
  for (const ObjectPtr& object : nodes) {
    const Node& node = NodeOf(object);
    pass.nodes.push_back(&node);
    std::string pool;  // the pool in the lease
    if (const auto annotation = node.meta.annotations.find(kLeaseAnnotation);
        annotation != node.meta.annotations.end()) {
      const auto lease = ParseLease(annotation->second);
      if (!lease) {
        if (!invalid_leases_.contains(node.meta.uid)) events_.ReportInvalidLease(node, lease.error().message);
        invalid_leases.insert(node.meta.uid);
        continue;
      }
      pool = lease->pool;
    }
    if (!pool.empty() && node.pool() == pool) {
      pass.leased[pool].push_back(&node);
    } else if (HasReleasingTaint(node)) {
      pass.with_stale_taint.push_back(&node);
    }
  }
  pass.alive = nodes;
  invalid_leases_ = std::move(invalid_leases);
  return {};
}

void CapacityReconciler::UntaintKeptNodes(Pass& pass, std::stop_token stop) {
  const NodePoolAutoscaler none;
  for (const Node* node : pass.with_stale_taint) {
    pass.taken.insert(node);
    if (!RejectionsOf(none).Has(node->meta.uid))
      HandleWriteResult(none, *node, WriteNode(*node, UntaintPatch(*node), stop), pass);
  }
}

Status CapacityReconciler::ReportInvalid(const StoredObject& object, const Error& fault, Pass& pass,
                                         std::stop_token stop) {
  const Json status = object.Parse().value("status", Json::object());
  const Json after = BuildCapacityStatus(object.meta(), status, nullptr, {kInvalidSpec, fault.message}, pass.now);
  return WriteStatus(object.meta(), status, after, pass, stop);
}

Result<ReconcileResult> CapacityReconciler::Reconcile(std::stop_token stop) {
  // Events often come in bursts. One pass per interval handles all of them.
  const SteadyTime begun = clock_.Now();
  const Duration rest = last_pass_ ? *last_pass_ + kBetweenPasses - begun : Duration::zero();
  // RequeueAfter would reset the backoff if the last pass has failed.
  if (rest > Duration::zero()) return ReconcileResult::RequeueWithBackoff(rest, rest);
  Pass pass;
  pass.now = WholeSeconds(clock_.WallNow());
  YAD_TRY_VOID(Survey(pass));
  for (auto& [key, rejections] : rejections_) rejections.Expire(begun);
  std::erase_if(rejections_, [](const auto& entry) { return entry.second.empty(); });
  UntaintKeptNodes(pass, stop);

  YAD_TRY(const auto listed, stores_.autoscalers.List());
  std::vector<NodePoolAutoscaler> autoscalers;
  std::vector<std::string> of_invalid;
  for (const ObjectPtr& object : listed) {
    if (object->meta().deleting()) continue;
    const Json json = object->Parse();
    if (auto parsed = ParseNodePoolAutoscaler(json)) {
      autoscalers.push_back(*std::move(parsed));
      continue;
    } else if (const Status reported = ReportInvalid(*object, parsed.error(), pass, stop); !reported) {
      pass.failed = reported.error();
    }
    of_invalid.push_back(StringAt(json, {"spec", "nodePool"}));
  }
  std::sort(autoscalers.begin(), autoscalers.end(), [](const auto& a, const auto& b) {
    return std::tie(a.meta.creation_timestamp, a.meta.key) < std::tie(b.meta.creation_timestamp, b.meta.key);
  });
  for (const NodePoolAutoscaler& autoscaler : autoscalers) pass.of_pool.emplace(autoscaler.node_pool, &autoscaler);
  for (const std::string& pool : of_invalid) {
    if (!pass.of_pool.emplace(pool, nullptr).second) continue;
    NodePoolAutoscaler invalid;
    invalid.node_pool = pool;
    UndoReleases(invalid, pass, stop);
  }

  std::set<std::string> names;
  for (const NodePoolAutoscaler& autoscaler : autoscalers) {
    names.insert(autoscaler.meta.key.name);
    if (const Status run = RunOne(autoscaler, pass, stop); !run)
      pass.failed = run.error();  // the other autoscalers still run
  }
  described_.With([&](auto& described) {
    std::erase_if(described, [&](const auto& entry) {
      if (names.contains(entry.first)) return false;
      CapacityEvents::Forget(entry.first);
      return true;
    });
  });
  if (const Status drained = DrainForgotten(pass, stop); !drained) pass.failed = drained.error();

  release_.Keep(pass.releasing);
  last_pass_ = begun;
  // A Node with a stale taint needs another pass, because its patch may have failed.
  if (!pass.failed && autoscalers.empty() && pass.leased.empty() && pass.with_stale_taint.empty())
    return ReconcileResult::Done();
  return AfterPass(pass);
}

ReconcileResult CapacityReconciler::AfterPass(const Pass& pass) const {
  Duration next = options_.resync;
  if (pass.wake) next = std::min<Duration>(next, *pass.wake - clock_.WallNow());
  if (const auto due = release_.Due()) next = std::min(next, *due);
  next = std::max(next, kBetweenPasses);
  // Other pools may need the next pass at this time, so the backoff of a failed pass is not longer.
  if (pass.failed) return ReconcileResult::RequeueAfterError(*pass.failed, next);
  return ReconcileResult::RequeueAfter(next);
}

Result<CapacityReconciler::PoolView> CapacityReconciler::ViewOf(const std::string& pool, const Pass& pass,
                                                                std::stop_token stop) const {
  YAD_TRY(const auto cached, IfFound(stores_.pools.Get({"", pool})));
  const std::vector<const Node*>& leased = pass.LeasedBy(pool);
  std::optional<Json> object;
  if (cached) {
    object = (*cached)->Parse();
  } else if (!leased.empty()) {
    // Without leased nodes, a stale cache can't cause a wrong release, so the pool is not read from the server.
    YAD_TRY(object, IfFound(client_.Get(options_.pool_type(), {"", pool}, stop)));
  }
  if (!object && !leased.empty()) {
    YAD_TRY(const auto crd, ReadNodePoolCrd(client_, stop));
    const bool lost = std::any_of(leased.begin(), leased.end(), [&](const Node* node) {
      const auto lease = ParseLease(node->meta.annotations.at(kLeaseAnnotation));
      return lease && crd.DeletedPoolsBefore(FormatTime(lease->since)) &&
             crd.DeletedPoolsBefore(node->meta.creation_timestamp);
    });
    if (lost) return Fail(Reason::kServiceUnavailable, "the NodePool was deleted with its CRD: restore both");
  }
  PoolView view;
  if (object) view.meta = ParseMeta(*object);
  view.gone = !object || view.meta.deleting();
  if (!object) return view;
  view.attributes = AttributesOf(*object);
  view.host_network = BoolAt(*object, {"spec", "hostNetwork"});
  return view;
}

Result<CapacityPlan> CapacityReconciler::Plan(const NodePoolAutoscaler& autoscaler, const PoolView& pool, bool stopped,
                                              Pass& pass) {
  CapacityInput input{autoscaler, pool.attributes, pool.gone, stopped, {}, {}, pass.now};
  const auto add = [&](const Result<std::vector<ObjectPtr>>& pods) -> Status {
    if (!pods) return Fail(pods.error());
    for (const ObjectPtr& pod : *pods) {
      input.pods.push_back(&PodProjectionOf(pod).pod);
      pass.alive.push_back(pod);
    }
    return {};
  };
  YAD_TRY_VOID(add(stores_.pods.ByIndex(kPodsByWantedPool, autoscaler.node_pool)));
  const bool has_leased = !pass.LeasedBy(autoscaler.node_pool).empty();
  const NodeRejections& rejections = RejectionsOf(autoscaler);
  for (const Node* node : pass.nodes) {
    if (pass.taken.contains(node)) continue;
    const bool free = IsFree(*node, autoscaler);
    const bool ours = has_leased && node->pool() == autoscaler.node_pool;
    const bool quarantined = node->meta.annotations.contains(kQuarantineAnnotation);
    if (!free && !ours && !quarantined) continue;
    input.nodes.push_back(node);
    if (rejections.Has(node->meta.uid)) input.rejected.insert(node);
    if (!free && !ours) continue;  // a quarantined node is only counted, so the plan does not need its pods
    YAD_TRY_VOID(add(stores_.pods.ByIndex(kPodsByNode, node->meta.key.name)));
  }
  CapacityPlan plan = PlanCapacity(input);
  if (plan.wake) pass.wake = pass.wake ? std::min(*pass.wake, *plan.wake) : *plan.wake;
  return plan;
}

NodeRejections& CapacityReconciler::RejectionsOf(const NodePoolAutoscaler& autoscaler) {
  // DrainForgotten, UntaintKeptNodes and UndoReleases may pass a placeholder autoscaler without a uid. Its rejections
  // are stored under the name of the pool.
  const std::string& uid = autoscaler.meta.uid;
  NodeRejections& rejections = rejections_[uid.empty() ? "pool/" + autoscaler.node_pool : uid];
  rejections.SetGeneration(autoscaler.meta.generation);
  return rejections;
}

Rejection CapacityReconciler::WhyStopped(const NodePoolAutoscaler& autoscaler, const Pass& pass) {
  const NodeRejections& rejections = RejectionsOf(autoscaler);
  const auto* last = rejections.Last();
  if (last == nullptr) return {};
  const auto accepts = [&](const Node* node) { return !rejections.Has(node->meta.uid); };
  const std::vector<const Node*>& leased = pass.LeasedBy(autoscaler.node_pool);
  const bool others = std::any_of(leased.begin(), leased.end(), accepts) ||
                      (autoscaler.mode != CapacityMode::kDrain &&
                       std::any_of(pass.nodes.begin(), pass.nodes.end(), [&](const Node* node) {
                         return accepts(node) && !pass.taken.contains(node) && IsFree(*node, autoscaler);
                       }));
  if (others && !rejections.AreMany()) return {};
  return {kLabelChangeRefused, last->message};
}

Status CapacityReconciler::RunOne(const NodePoolAutoscaler& autoscaler, Pass& pass, std::stop_token stop) {
  const Json previous = autoscaler.status.is_object() ? autoscaler.status : Json::object();
  Rejection rejection;
  std::optional<CapacityPlan> plan;
  if (const NodePoolAutoscaler* other = pass.of_pool.at(autoscaler.node_pool); other != &autoscaler) {
    rejection = {kPoolTaken, "NodePoolAutoscaler " + other->meta.key.name + " already leases nodes for NodePool " +
                                 autoscaler.node_pool + ": delete one of the two NodePoolAutoscalers"};
  } else {
    YAD_TRY(const auto pool, ViewOf(autoscaler.node_pool, pass, stop));
    if (pool.host_network && autoscaler.mode == CapacityMode::kAuto) {
      rejection = {kHostNetwork, "NodePool " + autoscaler.node_pool +
                                     " has spec.hostNetwork, and a node can't leave such a pool: set mode Manual"};
    } else {
      rejection = WhyStopped(autoscaler, pass);
    }
    YAD_TRY(plan, Plan(autoscaler, pool, !rejection.reason.empty(), pass));
    if (rejection.reason == kHostNetwork) {
      UndoReleases(autoscaler, pass, stop);
    } else {
      Apply(autoscaler, pool, *plan, pass, stop);
    }
    if (rejection.reason.empty()) rejection = WhyStopped(autoscaler, pass);
    events_.Short(autoscaler, *plan);
    CapacityEvents::Show(autoscaler.meta.key.name, *plan);
    described_.With([&](auto& described) {
      described[autoscaler.meta.key.name] = {{"time", FormatTime(pass.now)}, {"plan", ToJson(*plan)}};
    });
  }
  // HandleWriteResult has already reported LabelChangeRefused.
  if (!rejection.reason.empty() && rejection.reason != kLabelChangeRefused && ReadyReason(previous) != rejection.reason)
    events_.Rejected(autoscaler, rejection.reason, rejection.message);
  const Json status = BuildCapacityStatus(autoscaler.meta, previous, plan ? &*plan : nullptr, rejection, pass.now);
  return WriteStatus(autoscaler.meta, previous, status, pass, stop);
}

void CapacityReconciler::UndoReleases(const NodePoolAutoscaler& autoscaler, Pass& pass, std::stop_token stop) {
  for (const Node* node : pass.LeasedBy(autoscaler.node_pool)) {
    auto lease = ParseLease(node->meta.annotations.at(kLeaseAnnotation));
    if (!lease || lease->phase != LeasePhase::kReleasing) continue;
    if (!RejectionsOf(autoscaler).MayComplete(node->meta.uid, clock_.Now())) continue;
    lease->phase = LeasePhase::kIdle;
    lease->for_pod.clear();
    lease->since = pass.now;
    HandleWriteResult(autoscaler, *node, WriteNode(*node, PhasePatch(*node, *lease), stop), pass);
  }
}

Status CapacityReconciler::DrainForgotten(Pass& pass, std::stop_token stop) {
  std::optional<std::set<std::string>> live;  // pools that have an autoscaler on the server
  bool crd_is_missing = false;
  for (const auto& [name, nodes] : pass.leased) {
    if (pass.of_pool.contains(name)) continue;
    NodePoolAutoscaler draining;
    draining.node_pool = name;
    draining.mode = CapacityMode::kDrain;
    const bool stopped = !WhyStopped(draining, pass).reason.empty();
    YAD_TRY(const auto plan, Plan(draining, {}, stopped, pass));
    if (!plan.releases.empty() && !live && !crd_is_missing) {
      const auto page = client_.List(kNodePoolAutoscalerType, {}, stop);
      if (page) {
        live.emplace();
        for (const Json& item : page->items) {
          if (!ParseMeta(item).deleting()) live->insert(StringAt(item, {"spec", "nodePool"}));
        }
      } else if (page.error().reason == Reason::kNotFound) {
        crd_is_missing = true;
      } else {
        return Fail(page.error());
      }
    }
    if (crd_is_missing) {
      UndoReleases(draining, pass, stop);  // The deletion of the CRD may be a mistake, so the pool keeps its nodes.
      continue;
    }
    if (live && live->contains(name)) continue;  // the cache does not have the autoscaler yet
    Apply(draining, {}, plan, pass, stop);
  }
  return {};
}

void CapacityReconciler::Apply(const NodePoolAutoscaler& autoscaler, const PoolView& pool, const CapacityPlan& plan,
                               Pass& pass, std::stop_token stop) {
  NodeRejections& rejections = RejectionsOf(autoscaler);
  for (const CapacityPlan::Change& change : plan.changes) {
    if (!rejections.MayComplete(change.node->meta.uid, clock_.Now())) continue;
    const Status written = WriteNode(*change.node, PhasePatch(*change.node, change.after), stop);
    if (HandleWriteResult(autoscaler, *change.node, written, pass) && change.pod != nullptr)
      events_.Expected(*change.pod, *change.node);
  }
  for (const CapacityPlan::Release& release : plan.releases) {
    if (rejections.MayComplete(release.node->meta.uid, clock_.Now()))
      HandleWriteResult(autoscaler, *release.node, Release(autoscaler, release, pass, stop), pass);
  }
  bool confirmed = false;
  for (const CapacityPlan::Lease& lease : plan.leases) {
    if (lease.node == nullptr || stop.stop_requested() || !WhyStopped(autoscaler, pass).reason.empty()) continue;
    if (!confirmed && !ConfirmPool(autoscaler.node_pool, pool, pass, stop)) break;
    confirmed = true;
    const std::string for_pod = lease.pods.empty() ? "" : lease.pods.front()->uid;
    const NodeLease terms{autoscaler.node_pool, LeasePhase::kJoining, for_pod, pass.now, {}};
    pass.taken.insert(lease.node);
    if (!HandleWriteResult(autoscaler, *lease.node, Lease(*lease.node, terms, pool.attributes, stop), pass)) continue;
    rejections.Accept();
    events_.Leased(autoscaler, lease);
  }
}

bool CapacityReconciler::HandleWriteResult(const NodePoolAutoscaler& autoscaler, const Node& node,
                                           const Status& written, Pass& pass) {
  if (written) return true;
  const Error& error = written.error();
  if (error.reason == Reason::kConflict || error.reason == Reason::kNotFound) {
    pass.wake = pass.now;  // the cache is stale, so the next pass plans again
  } else if (IsRejected(error)) {
    const std::string message = "Node " + node.meta.key.name + ": " + error.message;
    if (RejectionsOf(autoscaler).Add(node.meta.uid, clock_.Now(), message)) events_.NodeRejected(autoscaler, message);
  } else {
    pass.failed = error;
  }
  return false;
}

bool CapacityReconciler::ConfirmPool(const std::string& name, const PoolView& pool, Pass& pass,
                                     std::stop_token stop) const {
  const auto live = ReadPoolObject(client_, options_.pool_type(), name, stop);
  if (live) {
    const ObjectMeta meta = *live ? ParseMeta(**live) : ObjectMeta();
    if (meta.uid == pool.meta.uid && meta.generation == pool.meta.generation && !meta.deleting()) return true;
  }
  if (live || live.error().reason == Reason::kConflict) {
    pass.wake = pass.now;
  } else {
    pass.failed = live.error();
  }
  return false;
}

Status CapacityReconciler::Lease(const Node& node, const NodeLease& lease, const PoolAttributes& pool,
                                 std::stop_token stop) {
  if (Evicts(pool, node)) {
    // The cache might not have a new pod yet.
    YAD_TRY(const bool in_use, RunsPods(client_, node.meta.key.name, stop));
    if (in_use) return Fail(Reason::kConflict, "a taint of the NodePool would evict the pods of the Node");
  }
  return WriteNode(node, LeasePatch(node, lease, pool), stop);
}

Status CapacityReconciler::Release(const NodePoolAutoscaler& autoscaler, const CapacityPlan::Release& release,
                                   Pass& pass, std::stop_token stop) {
  const Node& node = *release.node;
  NodeLease lease = release.lease;
  lease.since = pass.now;
  if (!release.begun || !HasReleasingTaint(node)) {
    lease.phase = LeasePhase::kReleasing;
    return WriteNode(node, PhasePatch(node, lease), stop);
  }
  YAD_TRY(const auto verdict, release_.Check(node.meta.key.name, node.meta.uid, stop));
  switch (verdict) {
    case NodeRelease::Verdict::kWaiting:
      pass.releasing.insert(node.meta.uid);
      return {};
    case NodeRelease::Verdict::kInUse:
      lease.phase = LeasePhase::kInUse;
      lease.for_pod.clear();
      return WriteNode(node, PhasePatch(node, lease), stop);
    case NodeRelease::Verdict::kEmpty:
      break;
  }
  const std::string quarantine = QuarantineReason(autoscaler, node, release.lease, pass.now);
  const Status written = WriteNode(node, ReleasePatch(node, release.lease, quarantine), stop);
  if (written) {
    RejectionsOf(autoscaler).Accept();
    events_.Released(autoscaler, node, quarantine);
  } else if (IsRejected(written.error())) {
    // The server rejected the release, so the node stays in the pool. The patch for phase Idle removes the releasing
    // taint. Pods can then use the node again.
    lease.phase = LeasePhase::kIdle;
    (void)WriteNode(node, PhasePatch(node, lease), stop);
  }
  return written;
}

Status CapacityReconciler::WriteNode(const Node& node, const Json& patch, std::stop_token stop) {
  YAD_TRY(const auto written, client_.Patch(kNodeType, node.meta.key, PatchType::kMerge, patch, {}, stop));
  stores_.nodes.Observe(KeptNode(written));
  return {};
}

Status CapacityReconciler::WriteStatus(const ObjectMeta& meta, const Json& before, const Json& after, Pass& pass,
                                       std::stop_token stop) {
  Json patch = StatusPatch(before, after, meta.uid);
  if (patch.is_null()) return {};
  // The shortages in status are the only memory of earlier plans. An earlier leader may have written shortages that the
  // cache does not show yet.
  patch["metadata"]["resourceVersion"] = meta.resource_version;
  const WriteOptions options{.subresource = "status"};
  const auto written = client_.Patch(kNodePoolAutoscalerType, meta.key, PatchType::kMerge, patch, options, stop);
  if (!written) {
    if (written.error().reason == Reason::kNotFound) return {};  // the watch reports the deletion
    if (written.error().reason != Reason::kConflict) return Fail(written.error());
    pass.wake = pass.now;
    return {};
  }
  stores_.autoscalers.Observe(std::make_shared<StoredObject>(*written, nullptr));
  return {};
}

}  // namespace yad
