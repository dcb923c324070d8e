#include "operator/yurtappdaemon/wiring.h"

#include <tuple>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/cluster/informers.h"
#include "operator/yurtappdaemon/crd_check.h"
#include "operator/yurtappdaemon/observe/check_jobs.h"
#include "operator/yurtappdaemon/observe/daemon_projection.h"
#include "operator/yurtappdaemon/observe/freeze.h"
#include "operator/yurtappdaemon/observe/maintenance.h"
#include "operator/yurtappdaemon/observe/ownership.h"
#include "operator/yurtappdaemon/observe/prefetches.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {
namespace {

// Returns whether a user has changed the daemon.
bool DaemonChanged(const Event& event) {
  if (!IsSameObject(event)) return true;
  const ObjectMeta& before = event.before->meta();
  const ObjectMeta& after = event.after->meta();
  return before.generation != after.generation || before.deleting() != after.deleting() ||
         ProjectionOf<DaemonProjection>(event.before).annotations_of_ours !=
             ProjectionOf<DaemonProjection>(event.after).annotations_of_ours;
}

// Returns whether the status has changed and another process wrote it. This may be an earlier leader, whose last write
// arrives late.
bool StatusIsNews(const Event& event, const Reconciler& reconciler) {
  return event.before->status_digest() != event.after->status_digest() &&
         !reconciler.HasWrittenStatus(event.after->meta());
}

// Returns whether only the status has changed. The event may then wait, because it may result from a write of this
// process whose response has not arrived yet.
bool OnlyStatusChanged(const Event& event) { return !DaemonChanged(event); }

// Returns whether the change of a pool affects a workload or the status of a daemon. The other fields of a pool's
// status change often, so they are not compared.
bool PoolChanged(const Event& event) {
  if (event.before == nullptr || event.after == nullptr) return true;
  const auto facts = [](const PoolProjection& it) {
    return std::tie(it.fingerprint, it.pool.hold, it.pool.windows, it.pool.offline, it.pool.deleting);
  };
  return facts(PoolProjectionOf(event.before)) != facts(PoolProjectionOf(event.after));
}

// Returns whether more than the status of the object has changed. For example, a load balancer writes the status of a
// Service.
bool ContentChanged(const Event& event) {
  return event.before == nullptr || event.after == nullptr || event.before->digest() != event.after->digest();
}

bool WorkloadChanged(const Event& event) {
  return ContentChanged(event) || ProjectionOf<WorkloadState>(event.before) != ProjectionOf<WorkloadState>(event.after);
}

// Returns whether only the workload's health (its status) has changed. An edit, a deletion or a new owner changes the
// digest, which does not cover the status.
bool OnlyHealthChanged(const Event& event) {
  return IsSameObject(event) && event.before->digest() == event.after->digest();
}

// Returns whether the Job was added or deleted, or its state has changed. Changes of its pod counts are ignored.
bool CheckJobChanged(const Event& event) {
  if (!IsSameObject(event)) return true;
  const auto state = [](const ObjectPtr& object) {
    return std::pair(ProjectionOf<CheckJobState>(object).state, object->meta().deleting());
  };
  return state(event.before) != state(event.after);
}

// Returns whether the DaemonSet was added or deleted, or its counts of nodes have changed.
bool PrefetchChanged(const Event& event) {
  if (!IsSameObject(event)) return true;
  const auto counts = [](const ObjectPtr& object) {
    const auto& state = ProjectionOf<PrefetchState>(object);
    return std::tuple(state.observed, state.desired, state.ready, object->meta().deleting());
  };
  return counts(event.before) != counts(event.after);
}

ReflectorOptions WatchingWorkloads(WorkloadKind kind, const std::string& ns) {
  return {.type = TypeOf(kind),
          .ns = ns,
          .label_selector = kPoolNameLabel,
          .project = ProjectorOf(kind),
          .projected = kProjectedOfWorkloads,
          .keeps_content = MayBeWorkloadOfOurs,
          .keeps_status = false};
}

ReflectorOptions WatchingRevisions(const std::string& ns) {
  return {.type = kControllerRevisionType,
          .ns = ns,
          .label_selector = std::string(kOurRevisionLabel) + "=true",
          .project = ProjectRevision,
          .keeps_content = MayBeOfOurs};
}

ReflectorOptions WatchingServices(const std::string& ns) {
  return {.type = kServiceType,
          .ns = ns,
          .label_selector = kPoolNameLabel,
          .keeps_content = MayBeOfOurs,
          .on_demand = true};
}

std::vector<Request> AllDaemons(const Informer& daemons) {
  std::vector<Request> requests;
  const auto all = daemons.store().List();
  if (!all) return requests;
  for (const ObjectPtr& daemon : *all) requests.push_back(daemon->meta().key);
  return requests;
}

// The start and the end of a freeze affect all daemons.
void WatchFreeze(Controller& controller, Informer& freeze, const Informer& daemons) {
  controller.Watches(freeze, [&daemons](const Event&) { return AllDaemons(daemons); });
  freeze.Demand();
}

// Adds the controller that samples checks (CheckSampler::Sample). Its keys are daemons. `reconciling` is the controller
// that reconciles the daemons.
void AddSamplingController(Manager& manager, Controller& reconciling, const std::shared_ptr<CheckSampler>& sampler) {
  const ControllerOptions options{.name = "yurtappdaemon-checks", .workers = 4, .resync = Duration::zero()};
  Controller& sampling = manager.AddController(std::make_unique<Controller>(
      options, [sampler](const Request& daemon, std::stop_token stop) { return sampler->Sample(daemon, stop); }));
  sampler->Connect([&sampling](const Request& daemon) { sampling.queue().Add(daemon); },
                   [&reconciling](const Request& daemon) { reconciling.queue().Add(daemon); });
}

// When a Node enters or leaves maintenance, queues the daemons that select the pool of the Node. As soon as a daemon
// needs the Nodes, every replica of the operator watches them, so that the cache of a new leader is already filled.
void WatchMaintenance(Controller& controller, Informer& nodes, Informer& daemons, const Informer& pools) {
  AddMaintenanceIndex(nodes.store());
  daemons.AddHandler([&nodes](const Event& event) {
    if (event.after != nullptr && ProjectionOf<DaemonProjection>(event.after).rolling) nodes.Demand();
  });
  controller.Watches(nodes, [&daemons, &pools](const Event& event) {
    return DaemonsOfMaintenance(daemons.store(), pools.store(), event);
  });
}

// Adds the controller that counts misplaced pods (MisplacedPods::CountPods). Its keys are pools. If the count of a pool
// changes, it queues the daemons of the pool in `reconciling`.
void AddMisplacedController(Manager& manager, Controller& reconciling, Informer& pools,
                            const std::vector<Informer*>& workloads, const std::shared_ptr<MisplacedPods>& misplaced) {
  const ControllerOptions options{.name = "yurtappdaemon-misplaced", .workers = 1, .resync = Duration::zero()};
  auto counting = std::make_unique<Controller>(
      options, [misplaced](const Request& pool, std::stop_token stop) { return misplaced->CountPods(pool, stop); });
  counting->Watches(
      pools, [](const Event& event) { return std::vector<Request>{event.after->meta().key}; },
      [misplaced](const Event& event) { return misplaced->RequiresCount(event); });
  for (Informer* informer : workloads)
    counting->Watches(*informer, [misplaced](const Event& event) { return misplaced->PoolOf(event); });
  Controller& added = manager.AddController(std::move(counting));
  misplaced->Connect([&added](const Request& pool) { added.queue().Add(pool); },
                     [&reconciling](const Request& daemon) { reconciling.queue().Add(daemon); });
}

// Adds the check whether the CRD has all fields that the operator uses. The status of each daemon shows the result. If
// the result changes, queues all daemons in `reconciling`.
void AddCrdCheck(Manager& manager, Client& client, EventSink& events, Controller& reconciling, const Informer& daemons,
                 const std::shared_ptr<MissingFields>& missing_fields) {
  auto check = std::make_shared<CrdCheck>(client, events, Clock::Real(), missing_fields, [&reconciling, &daemons] {
    for (const Request& daemon : AllDaemons(daemons)) reconciling.queue().Add(daemon);
  });
  manager.AddLeaderRunnable("crd check", [check](std::stop_token stop) { return check->Run(stop); });
}

}  // namespace

ReconcilerStores AddYurtAppDaemonController(Manager& manager, Client& client, EventSink& events,
                                            const YurtAppDaemonOptions& options) {
  Informer& daemons = manager.InformerFor(
      {.type = kYurtAppDaemonType, .ns = options.ns, .project = ProjectDaemon, .projected = kProjectedOfDaemons});
  Informer& pools = manager.InformerFor(WatchNodePools(client, events));
  Informer& deployments = manager.InformerFor(WatchingWorkloads(WorkloadKind::kDeployment, options.ns));
  Informer& stateful_sets = manager.InformerFor(WatchingWorkloads(WorkloadKind::kStatefulSet, options.ns));
  Informer& revisions = manager.InformerFor(WatchingRevisions(options.ns));
  Informer& services = manager.InformerFor(WatchingServices(options.ns));
  for (Informer* informer : {&deployments, &stateful_sets, &revisions}) AddIndexes(informer->store());

  Informer* const freeze =
      options.freeze_ns.empty() ? nullptr : &manager.InformerFor(WatchingFreeze(options.freeze_ns));
  Informer& jobs = manager.InformerFor(WatchingCheckJobs(options.ns));
  Informer& prefetches = manager.InformerFor(WatchingPrefetches(options.ns));
  for (Informer* informer : {&jobs, &prefetches}) Controller::AddControllerUidIndex(informer->store());
  Informer& nodes = manager.InformerFor(WatchingMaintenance());
  const ReconcilerStores stores{
      daemons.store(), pools.store(), deployments.store(), stateful_sets.store(), revisions.store(), &services, freeze,
      &jobs,           &nodes,        &prefetches};
  std::shared_ptr<CheckSampler> sampler;
  if (PrometheusClient* const prometheus = options.prometheus)
    sampler = std::make_shared<CheckSampler>([prometheus](const std::string& query, WallTime at, std::stop_token stop) {
      return prometheus->Query(query, at, stop);
    });
  auto misplaced = std::make_shared<MisplacedPods>(client, stores, events, options.ns);
  const auto missing_fields = std::make_shared<MissingFields>();
  auto reconciler =
      std::make_shared<Reconciler>(manager.leader_client(), stores, events, Clock::Real(),
                                   Reconciler::Options{.max_removals = options.max_removals,
                                                       .apply = {.pool_type = [&pools] { return pools.type(); }},
                                                       .misplaced = misplaced,
                                                       .sampler = sampler,
                                                       .prefetch_image = options.prefetch_image,
                                                       .listeners = options.listeners,
                                                       .missing_fields = missing_fields});
  const ControllerOptions controller_options{
      .name = "yurtappdaemon", .workers = options.workers, .pace = [reconciler](const Request& daemon) {
        return reconciler->HealthPaceOf(daemon);
      }};
  auto controller = std::make_unique<Controller>(
      controller_options,
      [reconciler](const Request& request, std::stop_token stop) { return reconciler->Reconcile(request, stop); });

  controller
      ->For(
          daemons,
          [reconciler](const Event& event) { return DaemonChanged(event) || StatusIsNews(event, *reconciler); },
          OnlyStatusChanged)
      .Owns(deployments, WorkloadChanged, OnlyHealthChanged)
      .Owns(stateful_sets, WorkloadChanged, OnlyHealthChanged)
      .Owns(revisions)
      .Owns(services, ContentChanged)
      .Owns(jobs, CheckJobChanged)
      .Owns(prefetches, PrefetchChanged, IsSameObject)
      .Watches(
          pools, [&daemons](const Event& event) { return DaemonsSelecting(daemons.store(), event); }, PoolChanged);
  if (freeze != nullptr) WatchFreeze(*controller, *freeze, daemons);
  WatchMaintenance(*controller, nodes, daemons, pools);
  Controller& reconciling = manager.AddController(std::move(controller));
  AddCrdCheck(manager, client, events, reconciling, daemons, missing_fields);
  AddMisplacedController(manager, reconciling, pools, {&deployments, &stateful_sets}, misplaced);
  if (sampler != nullptr) AddSamplingController(manager, reconciling, sampler);
  return stores;
}

}  // namespace yad
