// A daemon with updateStrategy RollingUpdate and checks in a cluster in memory.
#ifndef TESTS_UNIT_YURTAPPDAEMON_CHECK_ROLLOUT_FIXTURE_H_
#define TESTS_UNIT_YURTAPPDAEMON_CHECK_ROLLOUT_FIXTURE_H_

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/yurtappdaemon/check_scene.h"
#include "tests/unit/yurtappdaemon/rolling_update_fixture.h"

namespace yad::testing {

// One pool is updated at a time, and no pool may fail.
class CheckRolloutTest : public RollingUpdateTest {
 protected:
  void DeployedWithChecks(const std::vector<std::string>& pools, Json checks = Json::array({JobCheckJson()}),
                          Json rolling = Json::object()) {
    rolling["checks"] = std::move(checks);
    Deployed(pools, std::move(rolling));
  }
  // Sets the image, and waits until pool a has been updated, is healthy and has soaked.
  void UpdateA(const std::string& image = "app:2") {
    world_.SetImage(image);
    Step();
    Heal("a");
    Step();
    StartJobs("a");
  }
  std::vector<Json> JobsOf(const std::string& pool) {
    return world_.cluster.List(kJobType, std::string(kPoolNameLabel) + "=" + pool);
  }
  std::string JobOf(const std::string& pool) {
    const std::vector<Json> jobs = JobsOf(pool);
    return jobs.size() == 1 ? StringAt(jobs[0], {"metadata", "name"}) : std::to_string(jobs.size()) + " jobs";
  }
  // Starts the new Jobs of the pool, as their controller does.
  void StartJobs(const std::string& pool) {
    for (const Json& job : JobsOf(pool)) {
      if (job.contains("/status/startTime"_json_pointer)) continue;
      world_.cluster.Edit(kJobType, {kNs, StringAt(job, {"metadata", "name"})},
                          [&](Json& object) { object["status"]["startTime"] = FormatTime(world_.clock.WallNow()); });
    }
  }
  // Ends the Jobs of the pool, as their controller does.
  void EndJobs(const std::string& pool, const char* type, const std::string& message = "") {
    for (const Json& job : JobsOf(pool)) {
      world_.cluster.Edit(kJobType, {kNs, StringAt(job, {"metadata", "name"})}, [&](Json& object) {
        Json status = EndedJob(type, message);
        status["conditions"][0]["lastTransitionTime"] = FormatTime(world_.clock.WallNow());
        object["status"].update(status);
      });
    }
  }
  void DeleteJobs(const std::string& pool) {
    for (const Json& job : JobsOf(pool)) world_.cluster.Delete(kJobType, {kNs, StringAt(job, {"metadata", "name"})});
  }
  void SetCondition(const std::string& pool, const std::string& status) {
    world_.EditWorkload(pool, [&](Json& workload) {
      workload["status"]["conditions"].push_back({{"type", "example.org/Tested"},
                                                  {"status", status},
                                                  {"lastTransitionTime", FormatTime(world_.clock.WallNow())}});
    });
  }
  // Responds to each POST of a Job with `answer`, until world_.cluster.SetFaults(nullptr).
  void AnswerJobs(FakeCluster::Fault answer) {
    world_.cluster.SetFaults(
        [answer = std::move(answer)](const WriteRecord& write, const Json&) -> std::optional<FakeCluster::Fault> {
          if (write.method != "POST" || write.resource != kJobType.resource) return std::nullopt;
          return answer;
        });
  }
  // Returns the number of requests to create a Job since the last ClearWrites.
  std::size_t JobPosts() {
    const std::vector<WriteRecord> writes = world_.cluster.writes();
    return static_cast<std::size_t>(std::count_if(writes.begin(), writes.end(), [](const WriteRecord& write) {
      return write.method == "POST" && write.resource == kJobType.resource;
    }));
  }
  std::vector<std::string> Notes(const std::string& reason) {
    std::vector<std::string> notes;
    for (const RecordedEvent& event : world_.events.Take()) {
      if (event.reason == reason) notes.push_back(event.note);
    }
    return notes;
  }
  std::string CheckOf(const std::string& pool) { return StringAt(PoolStatus(world_.Status(), pool), {"check"}); }
  std::string CheckStarted(const std::string& pool) {
    return StringAt(PoolStatus(world_.Status(), pool), {"checkStartedAt"});
  }
};

}  // namespace yad::testing

#endif  // TESTS_UNIT_YURTAPPDAEMON_CHECK_ROLLOUT_FIXTURE_H_
