// The fixture of property_test.cc: one daemon for each property, and the checks of the cluster after each step.
#ifndef TESTS_CLUSTER_PROPERTY_FIXTURE_H_
#define TESTS_CLUSTER_PROPERTY_FIXTURE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/cluster/fixture.h"
#include "tests/cluster/live_view.h"
#include "tests/cluster/property_space.h"
#include "tests/support/webhook_setup.h"

namespace yad::testing {

// The parameter: whether the webhook reviews the daemons. Several threads may call the methods, each with its own Cell.
class PropertyTest : public ClusterTest, public ::testing::WithParamInterface<bool> {
 protected:
  struct Task {
    WorkloadKind kind = WorkloadKind::kDeployment;
    Property property;
    bool as_server = false;  // the apiserver decides whether a value is good
    std::string Name() const { return std::string(TypeOf(kind).kind) + " " + property.path; }
  };
  // The numbers of values, over all tasks of a test.
  struct Tally {
    std::atomic<int> steps = 0, applied = 0, rejected = 0, reported = 0;
  };
  struct Known {
    std::string uid;
    std::string name;
    std::int64_t generation = 0;
  };
  // One daemon and the last observation of it.
  struct Cell {
    const Task& task;
    std::string name;  // of the daemon; also the value of its label
    Json base;         // the spec to restore after each value
    std::string uid;
    std::map<std::string, Known> workloads;      // by pool, as last observed
    std::map<std::string, std::string> names;    // of the workloads, by pool; they must not change
    std::map<std::string, Json> base_workloads;  // the specs of the workloads for `base`, by pool
  };
  enum class Outcome { kApplied, kRejected, kReported };

  void SetUp() override;
  void TearDown() override;

  bool reviewed() const { return GetParam(); }
  const PropertySpace& space() const { return *space_; }
  const Json& spec_schema() const { return spec_schema_; }
  static Json AppsSchema(WorkloadKind kind);

  // Returns the tasks of this run: a sample of one in `share`, all tasks (YAD_ALL), or the task to replay
  // (YAD_PROPERTY).
  static std::vector<Task> Sample(std::vector<Task> tasks, std::uint64_t share);
  // Plays the tasks on many threads, and adds their failures to the test.
  void Run(const std::vector<Task>& tasks);

 private:
  // ---- the environment
  void AddPools();
  void ReadSchemas();

  // ---- one property
  // Tries all values of one property. Returns the failures.
  std::vector<std::string> Play(const Task& task, Tally& tally) const;
  // Writes the spec, and checks the result. `empty`: the operator may treat the value as absent.
  Outcome Step(Cell& cell, const Json& spec, Sense sense, bool empty = false) const;
  // Creates the daemon, or writes its spec. Retries on a conflict.
  Result<Json> Write(Cell& cell, const Json& spec) const;
  // Blocks until the cluster matches `expected` or, if `may_tell` is true, the status reports an error.
  Outcome Await(const Cell& cell, const Json& generation, const std::optional<std::map<std::string, Json>>& expected,
                bool may_tell) const;
  void RememberWorkloads(Cell& cell) const;
  void RememberBase(Cell& cell) const;
  void RestoreRevision(Cell& cell, bool applied) const;

  // ---- checks
  Json BaseSpec(const Cell& cell) const;
  const LiveView& workloads(WorkloadKind kind) const {
    return kind == WorkloadKind::kDeployment ? *deployments_ : *stateful_sets_;
  }
  // Returns `naive` as the apiserver would store it (from a dry run), or the error.
  Result<Json> AsTheServerHasIt(const Cell& cell, const Json& naive, const std::string& pool) const;
  // Returns the expected workloads by pool, or nullopt for a spec that cannot be applied.
  std::optional<std::map<std::string, Json>> Expected(const Cell& cell, const Json& spec) const;
  // Returns "" if the daemon has exactly these workloads, its status reports them, and no workload has been recreated.
  std::string WhyNotApplied(const Cell& cell, const Json& daemon, const std::map<std::string, Json>& expected) const;
  static std::string WhyNotReported(const Json& daemon, const std::map<std::string, Json>& expected);
  static std::string DifferenceFrom(const Json& live, const Json& wanted);
  // Returns whether the status reports an invalid spec or a failed pool for the current generation.
  static bool ReportsFailure(const Json& daemon);
  // Throws TestFailure unless the rejection is correct and the running workloads are unchanged.
  void ExpectRejection(const Cell& cell, const Json& spec, Sense sense, const Error& rejection) const;
  // Throws TestFailure unless the running workloads are unchanged.
  void ExpectUntouched(const Cell& cell) const;

  static std::string ReplaceAll(std::string text, const std::string& what, const std::string& by);
  static std::string Short(const Json& value);
  // Removes nulls and empty objects at any depth, because the operator treats them as absent (docs/api.md).
  static Json WithoutEmpty(const Json& value);

  std::vector<Json> pool_objects_;
  std::unique_ptr<WebhookSetup> webhooks_;
  std::unique_ptr<LiveView> daemons_, deployments_, stateful_sets_;
  Json spec_schema_, whole_schema_;
  std::unique_ptr<PropertySpace> space_;
};

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_PROPERTY_FIXTURE_H_
