// A fixture for tests of the executor of plans, with a cluster in memory.
#ifndef TESTS_UNIT_YURTAPPDAEMON_APPLY_FIXTURE_H_
#define TESTS_UNIT_YURTAPPDAEMON_APPLY_FIXTURE_H_

#include <gtest/gtest.h>

#include <atomic>

#include "operator/yurtappdaemon/apply/executor.h"
#include "tests/unit/yurtappdaemon/world.h"

namespace yad::testing {

// Plans and applies changes in the cluster without the reconciler.
class PlanExecutorTest : public ::testing::Test {
 protected:
  PlanExecutorTest() { world_.CreateDaemon(); }

  // Returns the snapshot of a pool "a" with a second workload that has no available pods.
  Snapshot TakeWithADuplicate() {
    Deployed({"a"});
    Json second = world_.Workload("a");
    second["metadata"]["name"] = "web-a-zzzzz";
    second["status"]["availableReplicas"] = 0;
    world_.cluster.Create(kDeploymentType, second);
    return Take();
  }

  // Returns the snapshot of the cluster as it is now.
  Snapshot Take() {
    world_.Sync();
    Snapshot snapshot;
    snapshot.daemon = *ParseYurtAppDaemon(world_.Daemon());
    snapshot.update = MakeRevision(world_.Daemon());
    snapshot.revisions = {snapshot.update, MakeRevision(DaemonJson("app:1"))};
    for (const Json& pool : world_.cluster.List(kNodePoolType)) snapshot.pools.push_back(MakePool(pool));
    Store& store = world_.stores().deployments;
    const auto add = [](const std::vector<ObjectPtr>& objects, std::vector<WorkloadRef>& list) {
      for (const ObjectPtr& object : objects) list.push_back(MakeWorkloadRef(object));
    };
    add(*store.ByIndex(Controller::kControllerUidIndex, world_.uid), snapshot.workloads);
    add(*store.ByIndex(kOrphansByNamespace, kNs), snapshot.orphans);
    return snapshot;
  }
  // Calls `act` once, after the first request with this method.
  void After(const std::string& method, const std::function<void()>& act) {
    world_.cluster.SetAfterwards([=, done = std::make_shared<std::atomic<bool>>(false)](const WriteRecord& request) {
      if (request.method == method && !done->exchange(true)) act();
    });
  }
  Outcome Apply() { return ApplyTo(Take()); }
  Outcome ApplyTo(const Snapshot& snapshot) {
    plan_ = MakePlan(snapshot, memo_);
    return executor_.Apply(snapshot.daemon, plan_, memo_, {});
  }
  // Applies the writes one after the other.
  Outcome ApplyInTurn() { return ApplyInTurn(Take()); }
  Outcome ApplyInTurn(const Snapshot& snapshot, std::stop_token stop = {}) {
    plan_ = MakePlan(snapshot, memo_);
    const PlanExecutor in_turn(world_.client, world_.caches(), Clock::Real(), {.parallel_writes = 1});
    return in_turn.Apply(snapshot.daemon, plan_, memo_, std::move(stop));
  }
  void Deployed(const std::vector<std::string>& pools) {
    world_.AddPools(pools);
    Apply();
    world_.RunWorkloadControllers();
    world_.cluster.ClearWrites();
  }
  void FailOnce(const std::string& method, Result<HttpResponse> answer, bool after = false) {
    world_.cluster.SetFaults([=, done = std::make_shared<std::atomic<bool>>(false)](
                                 const WriteRecord& r, const Json&) -> std::optional<FakeCluster::Fault> {
      if (r.method != method || done->exchange(true)) return std::nullopt;
      return FakeCluster::Fault{answer, after};
    });
  }

  World world_;
  PlanExecutor executor_{world_.client, world_.caches(), Clock::Real(), {}};
  PlanMemo memo_;
  Plan plan_;
};

}  // namespace yad::testing

#endif  // TESTS_UNIT_YURTAPPDAEMON_APPLY_FIXTURE_H_
