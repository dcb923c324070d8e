// Snapshots of one updated pool with checks.
#ifndef TESTS_UNIT_YURTAPPDAEMON_CHECK_SCENE_H_
#define TESTS_UNIT_YURTAPPDAEMON_CHECK_SCENE_H_

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "operator/workload/check_job.h"
#include "operator/yurtappdaemon/observe/check_jobs.h"
#include "operator/yurtappdaemon/plan/checks.h"
#include "tests/unit/yurtappdaemon/builders.h"

namespace yad::testing {

// Returns a check whose Job has one container.
inline Json JobCheckJson(const std::string& name = "smoke", Json more = Json::object()) {
  Json check = {{"name", name}};
  check["job"]["spec"]["template"]["spec"]["containers"] = {{{"name", "probe"}, {"image", "probe:1"}}};
  check.update(more);
  return check;
}
inline Json ConditionCheckJson(const std::string& name = "tested", Json more = Json::object()) {
  Json check = {{"name", name}, {"condition", {{"type", "example.org/Tested"}}}};
  check.update(more);
  return check;
}

// Returns the status that the Job controller writes when the Job finishes.
inline Json EndedJob(const char* type, const std::string& message = "") {
  return {{"conditions", {{{"type", type}, {"status", "True"}, {"message", message}}}}};
}

inline CheckJobRef MakeCheckJobRef(const Json& job) {
  return {AsWatched(job, WatchingCheckJobs("").projected, ProjectCheckJob)};
}

// Pool a was updated at 03:00 and has soaked. The time is 03:10.
class CheckScene : public ::testing::Test {
 protected:
  CheckScene() {
    health_.state = PoolHealth::State::kHealthy;
    health_.been_healthy = health_.soaked = true;
    record_.at = ParseTime("2026-01-02T03:00:00Z");
    record_.online = true;
  }

  PoolChecks Run() {
    snapshot_ = Take();
    return Checks(snapshot_).Run({pool_, offline_, snapshot_.workloads.front(), has_record_ ? &record_ : nullptr},
                                 health_);
  }
  PoolChecks RunAfter(int delay_seconds) {
    now_ += std::chrono::seconds(delay_seconds);
    return Run();
  }

  Snapshot Take() {
    ClusterObjects objects;
    objects.daemon = DaemonJson();
    objects.daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}, {"rollingUpdate", {{"checks", checks_}}}};
    objects.pools = {PoolJson(pool_)};
    objects.Deployed();
    for (const Json& condition : conditions_) objects.workloads.front()["status"]["conditions"].push_back(condition);
    record_.revision = objects.update()->label;
    Snapshot snapshot = objects.Take();
    snapshot.now = now_;
    for (const auto& [name, job] : jobs_) snapshot.check_jobs.emplace(name, MakeCheckJobRef(job));
    snapshot.rejected_jobs = rejected_;
    snapshot.samples = samples_;
    snapshot.jobs_error = fault_;
    snapshot.queries_error = queries_error_;
    snapshot.jobs_outdated = jobs_outdated_;
    return snapshot;
  }

  // Adds the Job, as the server has it after its creation.
  void AddJob(const std::string& name, Json status = Json::object(), const std::string& check = "smoke",
              const std::string& created = "2026-01-02T03:10:00Z", const std::string& pool = "a") {
    jobs_[name] = {{"apiVersion", "batch/v1"},
                   {"kind", "Job"},
                   {"metadata",
                    {{"name", name},
                     {"namespace", kNs},
                     {"uid", "uid-of-" + name},
                     {"creationTimestamp", created},
                     {"labels", {{kPoolNameLabel, pool}, {kCheckLabel, check}}}}},
                   {"status", std::move(status)}};
  }
  void AddCondition(const std::string& status, const std::string& time, const char* field = "lastTransitionTime") {
    Json condition = {{"type", "example.org/Tested"}, {"status", status}};
    if (!time.empty()) condition[field] = time;
    conditions_.push_back(condition);
  }
  std::string Failure() const { return health_.check ? health_.check->failure : "no check"; }

  Json checks_ = Json::array({JobCheckJson()});
  Json conditions_ = Json::array();
  std::map<std::string, Json> jobs_;
  std::map<std::string, RejectedJob> rejected_;
  std::map<std::string, CheckSamples> samples_;
  std::string fault_;  // of the Jobs
  std::string queries_error_;
  bool jobs_outdated_ = false;
  WallTime now_ = ParseTime("2026-01-02T03:10:00Z");
  bool offline_ = false;
  bool has_record_ = true;
  std::string pool_ = "a";
  UpdateRecord record_;
  PoolHealth health_;
  Snapshot snapshot_;
};

}  // namespace yad::testing

#endif  // TESTS_UNIT_YURTAPPDAEMON_CHECK_SCENE_H_
