// The objects of a cluster, and the status that follows from them.
#ifndef TESTS_UNIT_YURTAPPDAEMON_STATUS_SCENE_H_
#define TESTS_UNIT_YURTAPPDAEMON_STATUS_SCENE_H_

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "operator/yurtappdaemon/report/status.h"
#include "tests/unit/yurtappdaemon/builders.h"

namespace yad::testing {

inline const WallTime kNow = ParseTime("2026-05-01T10:00:00Z");
inline const WallTime kLater = kNow + std::chrono::minutes(5);

// Objects, the results of the writes that their plan requires, and the status that follows.
struct Scene {
  ClusterObjects objects;
  // Changes each pool's result before the status is built.
  std::function<void(PoolOutcome&)> adjust = nullptr;
  std::vector<Json> leaving = {};
  Json previous = nullptr;
  PostponedRemovals postponed = {};
  Diagnoses diagnoses = {};
  std::optional<std::string> missing_fields = std::nullopt;

  Json Status(WallTime now = kNow) const {
    PlanMemo memo;
    Snapshot snapshot = objects.Take();
    snapshot.now = now;
    const Plan plan = MakePlan(snapshot, memo);
    std::vector<PoolOutcome> results;
    for (const PoolPlan& pool : plan.pools) {
      results.push_back({&pool, pool.workload, false, pool.failure_reason, pool.failure_message, {}});
      if (adjust) adjust(results.back());
    }
    std::vector<WorkloadRef> going;
    for (const Json& workload : leaving) going.push_back(MakeWorkload(workload));
    StatusInput input{snapshot, results, going, previous, 0, postponed, plan.rollout, &diagnoses};
    input.missing_fields = missing_fields;
    return BuildStatus(input);
  }
};

// Returns the patch from one status to another, or null.
inline Json PatchOf(const Json& before, const Json& after) { return DaemonStatusPatch(before, after, "u"); }

// Returns a scene in which these pools have the current revision.
inline Scene Deployed(const std::vector<Json>& pools) {
  Scene scene{.objects = {.pools = pools}};
  scene.objects.Deployed();
  return scene;
}

inline void MakeUnhealthy(Json& workload) { workload["status"]["availableReplicas"] = 0; }
inline void ExceedDeadline(Json& workload) {
  MakeUnhealthy(workload);
  workload["status"]["conditions"].push_back({{"type", "Progressing"},
                                              {"status", "False"},
                                              {"reason", "ProgressDeadlineExceeded"},
                                              {"message", "ReplicaSet has timed out progressing"}});
}
inline void Fail(PoolOutcome& result, const char* reason) {
  result.outstanding = true;
  result.failure_reason = reason;
  result.failure_message = "the server's words";
}

}  // namespace yad::testing

#endif  // TESTS_UNIT_YURTAPPDAEMON_STATUS_SCENE_H_
