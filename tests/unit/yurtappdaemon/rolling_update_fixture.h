// A daemon with updateStrategy RollingUpdate in a cluster in memory, for both kinds of workloads.
#ifndef TESTS_UNIT_YURTAPPDAEMON_ROLLING_UPDATE_FIXTURE_H_
#define TESTS_UNIT_YURTAPPDAEMON_ROLLING_UPDATE_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/yurtappdaemon/world.h"

namespace yad::testing {

using std::chrono::seconds;

class RollingUpdateTest : public ::testing::TestWithParam<WorkloadKind> {
 protected:
  // Creates a daemon whose pools are all healthy on app:1.
  void Deployed(const std::vector<std::string>& pools, Json rolling = Json::object()) {
    world_.AddPools(pools);
    Json daemon = DaemonJson("app:1", GetParam());
    daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}, {"rollingUpdate", std::move(rolling)}};
    world_.CreateDaemon(daemon);
    world_.Converge();
    Wait(seconds(1000));
    world_.cluster.ClearWrites();
    world_.events.Take();
  }
  // Runs `body` with one leader, and again with a new leader at each step.
  template <typename Body>
  void Play(const Body& body) {
    for (const bool restarts : {false, true}) {
      SCOPED_TRACE(restarts ? "a new leader at each step" : "one leader");
      StartOver();
      restarts_ = restarts;
      body();
    }
  }
  void Step(int time = 2) {
    if (restarts_) world_.Restart();
    Wait(seconds(time));
  }
  // Reconciles a few times. While the server rejects writes, a reconcile fails.
  void StepDespiteErrors() {
    if (restarts_) world_.Restart();
    for (int i = 0; i < 4; ++i) {
      static_cast<void>(world_.Reconcile());
      world_.clock.Advance(seconds(2));
    }
  }
  void AnnotatePool(const std::string& pool, const std::string& key, const std::string& value) {
    world_.cluster.Edit(kNodePoolType, {"", pool},
                        [&](Json& object) { object["metadata"]["annotations"][key] = value; });
  }
  void Taint(const std::string& pool, const std::string& key) {
    world_.cluster.Edit(kNodePoolType, {"", pool}, [&](Json& object) {
      object["spec"]["taints"].push_back({{"key", key}, {"effect", "NoSchedule"}});
    });
  }
  bool Tolerates(const std::string& pool) {
    return world_.Workload(pool).contains("/spec/template/spec/tolerations"_json_pointer);
  }
  void Strategy(const std::string& field, Json value) {
    world_.EditDaemon(
        [&](Json& daemon) { daemon["spec"]["updateStrategy"]["rollingUpdate"][field] = std::move(value); });
  }
  void Pause(bool paused) {
    world_.EditDaemon([&](Json& daemon) { daemon["spec"]["paused"] = paused; });
  }
  void Annotate(const std::string& key, const std::string& value) {
    world_.EditDaemon([&](Json& daemon) { daemon["metadata"]["annotations"][key] = value; });
  }
  // Makes the pool's workload healthy, as its controller does.
  void Heal(const std::string& pool) {
    world_.EditWorkload(pool, [](Json& workload) { workload["status"] = HealthyStatus(workload); });
  }
  void DeleteWorkload(const std::string& pool) { world_.cluster.Delete(world_.type(), {kNs, world_.NameOf(pool)}); }
  void Break(const std::string& pool) {
    world_.EditWorkload(pool, [](Json& workload) { workload["status"]["availableReplicas"] = 0; });
  }
  // Scales the workload as an HPA does. Its controller has not observed the change yet.
  void Scale(const std::string& pool, int replicas) {
    world_.EditWorkload(pool, [&](Json& workload) {
      workload["spec"]["replicas"] = replicas;
      workload["metadata"]["generation"] = IntAt(workload, {"metadata", "generation"}) + 1;
    });
  }
  void HandOverReplicas() {
    world_.EditDaemon([](Json& daemon) { TemplateOf(daemon)["spec"].erase("replicas"); });
  }
  // Rejects each PUT of the pool's workload, until world_.cluster.SetFaults(nullptr).
  void RejectUpdatesOf(const std::string& pool,
                       const HttpResponse& answer = StatusResponse(422, "Invalid", "spec.template: Invalid")) {
    world_.cluster.SetFaults([name = world_.NameOf(pool), answer](const WriteRecord& write,
                                                                  const Json&) -> std::optional<FakeCluster::Fault> {
      if (write.method != "PUT" || write.key.name != name) return std::nullopt;
      return FakeCluster::Fault{answer, false};
    });
  }
  void Wait(std::chrono::seconds time) { world_.Wait(time); }
  // Waits until the clock shows this time, such as "2026-01-02T06:00:00Z". To save time, the operator reconciles only
  // in the last 300 s.
  void WaitUntil(const std::string& time) {
    const auto left = std::chrono::duration_cast<seconds>(ParseTime(time) - world_.clock.WallNow());
    ASSERT_GT(left.count(), 0) << time;
    const seconds asleep = std::max(left - seconds(300), seconds(0));
    world_.clock.Advance(asleep);
    Wait(left - asleep);
  }
  void Look() { Wait(seconds(2)); }
  std::string Images() {
    std::string images;
    for (const Json& workload : world_.Workloads()) {
      images += (images.empty() ? "" : " ") + StringAt(workload, {"metadata", "annotations", kRefNodePoolAnnotation}) +
                "=" + ImageOf(workload).substr(4);
    }
    return images;
  }
  std::string Phase(const std::string& pool) {
    const Json entry = PoolStatus(world_.Status(), pool);
    return StringAt(entry, {"phase"}) + (entry.contains("reason") ? " " + StringAt(entry, {"reason"}) : "");
  }
  std::string WaitingFor(const std::string& pool) {
    return StringAt(PoolStatus(world_.Status(), pool), {"waitingFor"});
  }
  std::string MessageOf(const std::string& pool) { return StringAt(PoolStatus(world_.Status(), pool), {"message"}); }
  std::string Progressing() { return ConditionReason(world_.Status(), "Progressing"); }
  std::string Message() { return StringAt(ConditionOf(world_.Status(), "Progressing"), {"message"}); }
  std::string Ready() { return ConditionReason(world_.Status(), "Ready"); }
  std::string Current() { return StringAt(world_.Status(), {"currentRevision"}); }
  void StartOver() {
    std::destroy_at(&world_);
    std::construct_at(&world_);
  }
  void GoOffline(const std::string& pool) { SetNodes(pool, 0); }
  void Return(const std::string& pool) { SetNodes(pool, 2); }
  void SetNodes(const std::string& pool, int ready) {
    world_.cluster.Edit(kNodePoolType, {"", pool}, [&](Json& object) {
      object["status"] = {{"readyNodeNum", ready}, {"unreadyNodeNum", 0}};
    });
  }
  void Override(const std::string& pool, const std::string& image) {
    world_.EditDaemon([&](Json& daemon) {
      daemon["spec"]["overrides"] = {{{"pools", {pool}}, {"images", {{{"name", "main"}, {"image", image}}}}}};
    });
  }
  std::string Complete() { return ConditionReason(world_.Status(), "Complete"); }
  bool IsMarkedFailed() {
    for (const Json& revision : world_.Revisions()) {
      if (revision["metadata"].contains("annotations") &&
          revision["metadata"]["annotations"].contains(kFailedAnnotation))
        return true;
    }
    return false;
  }

  World world_;
  bool restarts_ = false;
};

// Rollouts that are disturbed by an edit, a restart, an outage or a stale cache.
class RolloutEdgeCasesTest : public RollingUpdateTest {};

}  // namespace yad::testing

#endif  // TESTS_UNIT_YURTAPPDAEMON_ROLLING_UPDATE_FIXTURE_H_
