// The YurtAppDaemon controller on a cluster in memory. The tests run it step by step.
#ifndef TESTS_UNIT_YURTAPPDAEMON_WORLD_H_
#define TESTS_UNIT_YURTAPPDAEMON_WORLD_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "operator/yurtappdaemon/observe/check_jobs.h"
#include "operator/yurtappdaemon/observe/daemon_projection.h"
#include "operator/yurtappdaemon/observe/freeze.h"
#include "operator/yurtappdaemon/observe/maintenance.h"
#include "operator/yurtappdaemon/observe/ownership.h"
#include "operator/yurtappdaemon/observe/prefetches.h"
#include "operator/yurtappdaemon/reconciler.h"
#include "tests/support/fake_apiserver.h"
#include "tests/support/fake_clock.h"
#include "tests/unit/yurtappdaemon/builders.h"

namespace yad::testing {

// The result of a reconcile after which no further reconcile is needed.
inline constexpr auto kReconcileDone = ReconcileResult::Next::kDone;

struct RecordedEvent {
  std::string reason;
  std::string note;
};

class RecordingEvents : public EventSink {
 public:
  void Record(const ObjectReference&, EventType, const std::string& reason, const std::string&,
              const std::string& note) override {
    std::lock_guard lock(mutex_);
    events_.push_back({reason, note});
  }
  std::vector<RecordedEvent> Take() {
    std::lock_guard lock(mutex_);
    return std::exchange(events_, {});
  }
  std::vector<std::string> TakeReasons() {
    std::vector<std::string> reasons;
    for (const RecordedEvent& event : Take()) reasons.push_back(event.reason);
    return reasons;
  }

 private:
  std::mutex mutex_;
  std::vector<RecordedEvent> events_;
};

inline constexpr char kFreezeNs[] = "sys";  // the operator's namespace

// A cluster in memory with the daemon ns/web. Sync brings its state into the caches, as a watch would. Reconcile calls
// Sync.
class World {
 public:
  World() {
    cluster.Create(kCrdType, {{"metadata", {{"name", "nodepools.apps.openyurt.io"}}}});
    Restart();
  }

  // Starts a new process, which has only the state in the cluster.
  void Restart() {
    reconciler_.reset();
    stores_ = std::make_unique<Stores>();
    ReflectorOptions watch_services;
    watch_services.type = kServiceType;
    watch_services.on_demand = true;
    stores_->services = std::make_unique<Informer>(client, watch_services);
    Controller::AddControllerUidIndex(stores_->services->store());
    stores_->jobs = std::make_unique<Informer>(client, WatchingCheckJobs(""), clock);
    Controller::AddControllerUidIndex(stores_->jobs->store());
    if (watches_freeze) stores_->freeze = std::make_unique<Informer>(client, WatchingFreeze(kFreezeNs), clock);
    if (watches_nodes) {
      stores_->nodes = std::make_unique<Informer>(client, WatchingMaintenance(), clock);
      AddMaintenanceIndex(stores_->nodes->store());
    }
    stores_->prefetches = std::make_unique<Informer>(client, WatchingPrefetches(""), clock);
    Controller::AddControllerUidIndex(stores_->prefetches->store());
    for (Store* store : {&stores_->deployments, &stores_->stateful_sets, &stores_->revisions}) AddIndexes(*store);
    looks.clear();
    shown.clear();
    misplaced_ = std::make_shared<MisplacedPods>(client, caches(), events, "", clock);
    misplaced_->Connect([this](const Request& pool) { looks.push_back(pool); },
                        [this](const Request& daemon) { shown.push_back(daemon); });
    sampler_ = prometheus == nullptr ? nullptr : std::make_shared<CheckSampler>(prometheus, clock);
    if (sampler_ != nullptr) sampler_->Connect([](const Request&) {}, [](const Request&) {});
    reconciler_ = std::make_unique<Reconciler>(client, caches(), events, clock,
                                               Reconciler::Options{.max_removals = limit,
                                                                   .apply = {.parallel_writes = parallel_writes},
                                                                   .misplaced = misplaced_,
                                                                   .sampler = sampler_});
  }

  void Sync() {
    SyncAllButDeployments();
    SyncOne(stores_->deployments, kDeploymentType, kPoolNameLabel, ProjectDeployment, kProjectedOfWorkloads);
  }
  void SyncAllButDeployments() {
    SyncOne(stores_->daemons, kYurtAppDaemonType, "", ProjectDaemon, kProjectedOfDaemons);
    if (pools_readable) SyncOne(stores_->pools, kNodePoolType, "", ProjectPool, kProjectedOfPools);
    SyncOne(stores_->stateful_sets, kStatefulSetType, kPoolNameLabel, ProjectStatefulSet, kProjectedOfWorkloads);
    if (services_readable) SyncOne(stores_->services->store(), kServiceType, kPoolNameLabel, nullptr);
    if (jobs_readable)
      SyncOne(stores_->jobs->store(), kJobType, kCheckLabel, ProjectCheckJob, WatchingCheckJobs("").projected);
    if (stores_->freeze != nullptr && freeze_readable)
      SyncOne(stores_->freeze->store(), kConfigMapType, "", ProjectFreeze);
    if (stores_->nodes != nullptr && nodes_readable)
      SyncOne(stores_->nodes->store(), kNodeType, kNodePoolLabel, ProjectMaintenance);
    if (prefetches_readable) {
      SyncOne(stores_->prefetches->store(), kDaemonSetType, kPrefetchLabel, ProjectPrefetch,
              WatchingPrefetches("").projected);
    }
    if (revisions_readable)
      SyncOne(stores_->revisions, kControllerRevisionType, std::string(kOurRevisionLabel) + "=true", ProjectRevision);
  }

  Result<ReconcileResult> Reconcile() {
    Sync();
    return ReconcileWithOldCaches();
  }
  Result<ReconcileResult> ReconcileWithOldCaches() { return reconciler_->Reconcile({kNs, "web"}, {}); }

  // Reconciles another daemon of the namespace, and makes all workloads healthy.
  void ConvergeOther(const std::string& daemon) {
    for (int round = 0; round < 5; ++round) {
      Sync();
      ASSERT_TRUE(reconciler_->Reconcile({kNs, daemon}, {}));
      RunWorkloadControllers();
      clock.Advance(std::chrono::seconds(1));
    }
  }

  Duration HealthPace() const { return reconciler_->HealthPaceOf({kNs, "web"}); }

  // Advances the clock, and reconciles as often as the results request it.
  void Wait(std::chrono::seconds time) {
    const SteadyTime end = clock.Now() + time;
    for (;;) {
      const auto result = Reconcile();
      ASSERT_TRUE(result);
      Duration next = end - clock.Now();
      if (result->next == ReconcileResult::Next::kAfter) next = std::min(next, result->after);
      if (result->next == ReconcileResult::Next::kNow) next = Duration(0);
      if (result->next == ReconcileResult::Next::kBackoff) next = std::min<Duration>(next, std::chrono::seconds(1));
      if (clock.Now() + next >= end) {
        if (result->next == ReconcileResult::Next::kNow) continue;
        clock.Advance(end - clock.Now());
        return;
      }
      clock.Advance(next);
    }
  }

  // Reconciles once a second until nothing is written, at most `rounds` times. The workloads' controllers run after
  // each round. Returns the number of rounds, or `rounds` + 1 if the writes continue.
  int Converge(int rounds = 10) {
    for (int round = 1; round <= rounds; ++round) {
      cluster.ClearWrites();
      const auto result = Reconcile();
      const bool quiet = result && result->next == ReconcileResult::Next::kDone && cluster.writes().empty();
      RunWorkloadControllers();
      clock.Advance(std::chrono::seconds(1));
      if (quiet && Reconcile() && cluster.writes().empty()) return round;
    }
    return rounds + 1;
  }

  // Makes every workload healthy, as the controllers of Deployments and StatefulSets do.
  void RunWorkloadControllers() {
    for (const ResourceType& type : {kDeploymentType, kStatefulSetType}) {
      std::vector<ObjectKey> ill;
      cluster.ForEach(type, [&](const ObjectKey& key, const Json& workload) {
        const Json* status = Find(workload, {"status"});
        if (status == nullptr || *status != HealthyStatus(workload)) ill.push_back(key);
      });
      for (const ObjectKey& key : ill) {
        cluster.Edit(type, key, [](Json& object) { object["status"] = HealthyStatus(object); });
      }
    }
  }

  // Makes one list of the ConfigMap, Nodes or Jobs fail with this response, on its own thread, as in an informer.
  void FailToReadFreeze(const HttpResponse& answer) { FailToRead(*stores_->freeze, answer); }
  void FailToReadNodes(const HttpResponse& answer) { FailToRead(*stores_->nodes, answer); }
  void FailToReadJobs(const HttpResponse& answer) { FailToRead(*stores_->jobs, answer); }
  void FailToReadPrefetches(const HttpResponse& answer) { FailToRead(*stores_->prefetches, answer); }
  void FailToRead(Informer& informer, const HttpResponse& answer) {
    const std::string resource = informer.options().type.resource;
    cluster.SetFaults([answer, resource](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
      if (request.resource != resource) return std::nullopt;
      return FakeCluster::Fault{answer, false};
    });
    informer.Demand();
    std::jthread thread([&](const std::stop_token& stop) { (void)informer.Run(stop); });
    while (informer.last_error().empty()) clock.AwaitWaiters(1);  // Then it backs off.
    thread.request_stop();
    thread.join();
    cluster.SetFaults(nullptr);
  }

  // ---- actions of users ----
  void CreateDaemon(Json daemon = DaemonJson()) {
    kind = daemon["spec"]["workloadTemplate"].contains("statefulSetTemplate") ? WorkloadKind::kStatefulSet
                                                                              : WorkloadKind::kDeployment;
    uid = StringAt(cluster.Create(kYurtAppDaemonType, std::move(daemon)), {"metadata", "uid"});
  }
  // Deletes the daemon and keeps its objects, as kubectl delete --cascade=orphan does.
  void DeleteOrphaning() {
    cluster.Delete(kYurtAppDaemonType, {kNs, "web"});
    for (const ResourceType& type : {kDeploymentType, kControllerRevisionType}) {
      for (const Json& object : cluster.List(type)) {
        cluster.Edit(type, {kNs, StringAt(object, {"metadata", "name"})},
                     [](Json& o) { o["metadata"].erase("ownerReferences"); });
      }
    }
    Reconcile();
  }
  void EditDaemon(const std::function<void(Json&)>& edit) { cluster.Edit(kYurtAppDaemonType, {kNs, "web"}, edit); }
  void SetImage(const std::string& image) {
    EditDaemon([&](Json& daemon) { PodSpecOf(TemplateOf(daemon))["containers"][0]["image"] = image; });
  }
  void AddPool(const std::string& name, const std::vector<std::string>& taints = {}) {
    cluster.Create(kNodePoolType, PoolJson(name, taints));
  }
  void AddPools(const std::vector<std::string>& names) {
    for (const std::string& name : names) AddPool(name);
  }
  void RemovePool(const std::string& name) { cluster.Delete(kNodePoolType, {"", name}); }
  void EditWorkload(const std::string& pool, const std::function<void(Json&)>& edit) {
    cluster.Edit(type(), {kNs, NameOf(pool)}, edit);
  }

  // ---- objects ----
  const ResourceType& type() const { return TypeOf(kind); }
  Json Daemon() const { return cluster.Get(kYurtAppDaemonType, {kNs, "web"}).value_or(Json()); }
  Json Status() const { return Daemon().value("status", Json()); }
  std::string NameOf(const std::string& pool) const { return WorkloadName("web", uid, pool, kind); }
  Json Workload(const std::string& pool) const { return cluster.Get(type(), {kNs, NameOf(pool)}).value_or(Json()); }
  std::vector<Json> Workloads() const { return cluster.List(type()); }
  std::vector<Json> Revisions() const { return cluster.List(kControllerRevisionType); }
  // Returns the writes as WriteRecord::ToString prints them.
  std::vector<std::string> Writes() const {
    std::vector<std::string> texts;
    for (const WriteRecord& write : cluster.writes()) texts.push_back(write.ToString());
    return texts;
  }

  FakeClock clock;
  FakeCluster cluster;
  std::vector<std::string> warnings;  // warnings of the apiserver, which the operator would log
  Client client{cluster.transport(), [this] {
                  ClientOptions options;
                  options.on_warning = [this](const std::string& text) { warnings.push_back(text); };
                  return options;
                }()};
  RecordingEvents events;
  WorkloadKind kind = WorkloadKind::kDeployment;
  std::optional<IntOrPercent> limit;  // of removals, after the next Restart
  std::size_t parallel_writes = 16;   // after the next Restart
  bool services_readable = true;      // false: their cache never fills
  bool pools_readable = true;         // false: the cache of NodePools does not change
  bool watches_freeze = false;        // true: the operator reads the freeze's ConfigMap, after the next Restart
  bool prefetches_readable = true;    // false: the cache of their DaemonSets never fills
  bool freeze_readable = true;        // false: its cache does not change
  bool watches_nodes = false;         // true: the operator reads the conditions of Nodes, after the next Restart
  bool nodes_readable = true;         // false: their cache does not change
  bool jobs_readable = true;          // false: the cache of Jobs does not change
  bool revisions_readable = true;     // false: the cache of ControllerRevisions does not change
  CheckSampler::Query prometheus;     // null: the operator has no Prometheus, after the next Restart
  std::string uid;
  CheckSampler& sampler() { return *sampler_; }
  MisplacedPods& misplaced() { return *misplaced_; }
  std::vector<Request> looks;  // requests of MisplacedPods to look at a pool
  std::vector<Request> shown;  // requests of MisplacedPods to reconcile a daemon

  struct Stores {
    Store daemons, pools, deployments, stateful_sets, revisions;
    std::unique_ptr<Informer> services;
    std::unique_ptr<Informer> prefetches;
    std::unique_ptr<Informer> freeze;  // null: the operator does not read the freeze
    std::unique_ptr<Informer> nodes;   // null: the operator does not read Nodes
    std::unique_ptr<Informer> jobs;
  };
  Stores& stores() { return *stores_; }
  // Returns the same caches as the reconciler reads.
  ReconcilerStores caches() {
    Stores& s = *stores_;
    return {s.daemons,        s.pools,        s.deployments, s.stateful_sets, s.revisions,
            s.services.get(), s.freeze.get(), s.jobs.get(),  s.nodes.get(),   s.prefetches.get()};
  }

 private:
  void SyncOne(Store& store, const ResourceType& type, const std::string& selector, const Projector& project,
               const JsonParts& projected = {}) {
    std::vector<ObjectPtr> objects;
    const bool workload = type == kDeploymentType || type == kStatefulSetType;
    cluster.ForEach(type, [&](const ObjectKey& key, const Json& object) {
      // As from a watch, an object that has not changed is not parsed again. It still matches the selector.
      const auto known = store.Get(key);
      if (known && (*known)->meta().resource_version == StringAt(object, {"metadata", "resourceVersion"})) {
        objects.push_back(*known);
        return;
      }
      if (!MatchesSelectorText(selector, StringMapAt(object, {"metadata", "labels"}))) return;
      const ObjectMeta meta = ParseMeta(object);
      const bool kept = workload ? MayBeWorkloadOfOurs(meta) : MayBeOfOurs(meta);
      objects.push_back(kept ? AsWatched(object, projected, project)
                             : StoredObject::WithoutContent(StoredObject(object, project)));
    });
    store.Replace(std::move(objects), cluster.resource_version());
  }

  std::unique_ptr<Stores> stores_;
  std::shared_ptr<MisplacedPods> misplaced_;
  std::shared_ptr<CheckSampler> sampler_;
  std::unique_ptr<Reconciler> reconciler_;
};

}  // namespace yad::testing

#endif  // TESTS_UNIT_YURTAPPDAEMON_WORLD_H_
