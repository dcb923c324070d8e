// Runs each scenario several times, and kills the operator after the first write, after the second write, and so on.
// The next process must reach the state that a naive model predicts for a run without a kill.
//
// All runs happen at the same time, each with its own namespace and operator. `make test` tests the first write, the
// last write, and every third write, each scenario for one kind of workload.
//   YAD_ALL=1          all writes, and both kinds
//   YAD_CRASH_AT=3     only the third write; use it with --gtest_filter to replay one failure
#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <mutex>
#include <thread>
#include <tuple>

#include "tests/cluster/crash_cell.h"

namespace yad::testing {
namespace {

constexpr std::size_t kAtOnce = 8;

// ---- the state before a scenario (nullopt: empty), and its change; the pools are a, b and c ----

std::optional<Wanted> Nothing(CrashCell&) { return std::nullopt; }

Wanted Create(CrashCell& cell) { return cell.Create(); }
std::optional<Wanted> OneRevision(CrashCell& cell) { return Create(cell); }

Wanted RollOut(CrashCell& cell) {
  cell.SetImage(kCellDaemon, Image(2));
  return {.pools = cell.ThreePools(), .image = 2, .generation = 2, .revisions = {{1, 1}, {2, 2}}};
}
std::optional<Wanted> TwoRevisions(CrashCell& cell) {
  Create(cell);
  Eventually("all pools have the first revision", [&] {
    return StringAt(cell.GetDaemon(kCellDaemon), {"status", "currentRevision"}) != "";
  });
  return RollOut(cell);
}

Wanted APoolLeaves(CrashCell& cell) {
  cell.ExpectRemovalOf(cell.Pool("c"));
  cell.Unselect(cell.Pool("c"));
  return {.pools = {cell.Pool("a"), cell.Pool("b")}};
}

Wanted OnePoolComesAndOneLeaves(CrashCell& cell) {
  cell.ExpectRemovalOf(cell.Pool("a"));
  cell.AddPool("d");
  cell.Unselect(cell.Pool("a"));
  return {.pools = {cell.Pool("b"), cell.Pool("c"), cell.Pool("d")}};
}

Wanted Undo(CrashCell& cell) {
  cell.SetImage(kCellDaemon, Image(1));
  return {.pools = cell.ThreePools(), .generation = 3, .revisions = {{2, 2}, {3, 1}}};
}

Wanted OrphanAndApplyAgain(CrashCell& cell) {
  cell.Orphan();
  return Create(cell);
}

std::optional<Wanted> TwoContainers(CrashCell& cell) {
  Json daemon = cell.Daemon(kCellDaemon);
  daemon["spec"]["workloadTemplate"][TemplateField(cell.kind())]["spec"]["template"]["spec"]["containers"].push_back(
      {{"name", "second"}, {"image", Image(1)}});
  cell.CreateDaemon(daemon);
  return Wanted{.pools = cell.ThreePools(), .containers = 2};
}
Wanted OrphanAndApplyAnother(CrashCell& cell) {
  cell.Orphan();
  Json daemon = cell.Daemon(kCellDaemon);
  daemon["spec"]["workloadTemplate"][TemplateField(cell.kind())]["spec"]["template"]["spec"]["containers"][0]["image"] =
      Image(2);
  cell.CreateDaemon(daemon);
  return {.pools = cell.ThreePools(), .image = 2, .generation = 2, .revisions = {{1, 1}, {2, 2}}};
}

Wanted TwoWorkloadsForOnePool(CrashCell& cell) {
  cell.AddSecondWorkload(cell.Pool("b"));
  return {.pools = cell.ThreePools()};
}

Wanted RollOutAndPrune(CrashCell& cell) {
  cell.kube().Edit(kYurtAppDaemonType, kCellDaemon, [&](Json& daemon) {
    Json& spec = daemon["spec"];
    spec["revisionHistoryLimit"] = 0;
    spec["workloadTemplate"][TemplateField(cell.kind())]["spec"]["template"]["spec"]["containers"][0]["image"] =
        Image(3);
  });
  return {.pools = cell.ThreePools(), .image = 3, .generation = 3, .revisions = {{3, 3}}};
}

Wanted CreatePoolByPool(CrashCell& cell, Json rolling) {
  Json daemon = cell.Daemon(kCellDaemon);
  rolling["minReadySeconds"] = 1;
  daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}, {"rollingUpdate", std::move(rolling)}};
  cell.CreateDaemon(daemon);
  return {.pools = cell.ThreePools()};
}
std::optional<Wanted> OneRevisionPoolByPool(CrashCell& cell) { return CreatePoolByPool(cell, Json::object()); }
std::optional<Wanted> OneRevisionAndNoPatience(CrashCell& cell) {
  return CreatePoolByPool(cell, {{"progressDeadlineSeconds", 2}, {"onFailure", "Rollback"}});
}
// There are no nodes, so a revision with one replica never becomes ready.
Wanted ABadRevision(CrashCell& cell) {
  cell.PatchTemplate(
      kCellDaemon,
      {{"spec",
        {{"replicas", 1}, {"template", {{"spec", {{"containers", {{{"name", "main"}, {"image", Image(9)}}}}}}}}}}});
  return {.pools = cell.ThreePools(),
          .revisions = {{1, 1}, {2, 9}},
          .generations = {{cell.Pool("a"), 3}},
          .rolled_back = true};
}

Wanted CreateWithServices(CrashCell& cell) {
  Json daemon = cell.Daemon(kCellDaemon);
  daemon["spec"]["serviceTemplate"] = {{"spec", {{"ports", {{{"port", 80}}}}}}};
  cell.CreateDaemon(daemon);
  return {.pools = cell.ThreePools(), .service_port = 80};
}
std::optional<Wanted> OneRevisionWithServices(CrashCell& cell) { return CreateWithServices(cell); }
Wanted ServicesChangeAndAPoolLeaves(CrashCell& cell) {
  cell.ExpectRemovalOf(cell.Pool("c"));
  cell.PatchSpec(kCellDaemon, {{"serviceTemplate", {{"spec", {{"ports", {{{"port", 90}}}}}}}}});
  cell.Unselect(cell.Pool("c"));
  return {.pools = {cell.Pool("a"), cell.Pool("b")}, .revisions = {{1, 1}, {2, 1}}, .service_port = 90};
}
Wanted ServicesAreTakenAway(CrashCell& cell) {
  cell.PatchSpec(kCellDaemon, {{"serviceTemplate", nullptr}});
  return {.pools = cell.ThreePools(), .revisions = {{1, 1}, {2, 1}}};
}

struct Scenario {
  const char* name;
  CrashCell::Prepare prepare;
  CrashCell::Act act;
};
const Scenario kScenarios[] = {
    {"ADaemonIsCreated", Nothing, Create},
    {"ANewImageIsRolledOut", OneRevision, RollOut},
    {"APoolIsUnselected", OneRevision, APoolLeaves},
    {"OnePoolIsAddedAndOneIsUnselected", OneRevision, OnePoolComesAndOneLeaves},
    {"AnOldTemplateIsAppliedAgain", TwoRevisions, Undo},
    {"TheDaemonIsOrphanedAndAppliedAgain", OneRevision, OrphanAndApplyAgain},
    {"TheDaemonIsOrphanedAndAnotherIsApplied", TwoContainers, OrphanAndApplyAnother},
    {"APoolHasTwoWorkloads", OneRevision, TwoWorkloadsForOnePool},
    {"RevisionsArePruned", TwoRevisions, RollOutAndPrune},
    {"ANewImageIsRolledOutPoolByPool", OneRevisionPoolByPool, RollOut},
    {"AFailedRevisionIsRolledBack", OneRevisionAndNoPatience, ABadRevision},
    {"EachPoolGetsAService", Nothing, CreateWithServices},
    {"ServicesChangeAndAPoolIsUnselected", OneRevisionWithServices, ServicesChangeAndAPoolLeaves},
    {"ServicesAreRemoved", OneRevisionWithServices, ServicesAreTakenAway},
};

// ---- runs ----

struct CellRun {
  std::string test;  // "ADaemonIsCreated_Deployment"
  const Scenario* scenario = nullptr;
  WorkloadKind kind = WorkloadKind::kDeployment;
  int at = 0;  // 0: a run without a kill, which counts the writes
};

struct CrashOutcome {
  int at = 0;
  int writes = 0;
  std::string failure;
};

std::string NameOfRun(const Scenario& scenario, WorkloadKind kind) {
  return std::string(scenario.name) + "_" + TypeOf(kind).kind;
}

CrashOutcome Do(const CellRun& run) {
  CrashOutcome outcome;
  outcome.at = run.at;
  outcome.failure = InACell<CrashCell>(
      [&] { return std::make_unique<CrashCell>(run.kind); },
      [&](CrashCell& cell) { outcome.writes = cell.Play(run.scenario->prepare, run.scenario->act, run.at); });
  return outcome;
}

std::vector<int> PointsOf(int writes) {
  const bool all = RunsEverything();
  std::vector<int> points;
  for (int k = 1; k <= writes; ++k) {
    if (all || k % 3 == 1 || k == writes) points.push_back(k);
  }
  return points;
}

// Performs the runs in the queue. A run without a kill counts the writes, and then adds the runs with a kill.
std::map<std::string, std::vector<CrashOutcome>> DoAll(std::deque<CellRun> queue) {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t under_way = 0;
  std::map<std::string, std::vector<CrashOutcome>> outcomes;
  const auto work = [&] {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return !queue.empty() || under_way == 0; });
      if (queue.empty()) return;
      const CellRun run = queue.front();
      queue.pop_front();
      ++under_way;
      lock.unlock();
      const CrashOutcome outcome = Do(run);
      lock.lock();
      --under_way;
      outcomes[run.test].push_back(outcome);
      if (run.at == 0 && outcome.failure.empty()) {
        for (const int at : PointsOf(outcome.writes)) {
          queue.push_back(run);
          queue.back().at = at;
        }
      }
      changed.notify_all();
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < kAtOnce; ++i) threads.emplace_back(work);
  threads.clear();
  return outcomes;
}

class CrashTest : public ::testing::TestWithParam<std::tuple<const Scenario*, WorkloadKind>> {
 protected:
  void SetUp() override {
    if (SharedControlPlane() == nullptr) return;
    static const auto all = DoAll(Selected());
    const auto& [scenario, kind] = GetParam();
    outcomes_ = all.at(NameOfRun(*scenario, kind));
    std::sort(outcomes_.begin(), outcomes_.end(),
              [](const CrashOutcome& a, const CrashOutcome& b) { return a.at < b.at; });
  }

  std::vector<CrashOutcome> outcomes_;

 private:
  // Returns the tests that --gtest_filter selects.
  static std::deque<CellRun> Selected() {
    const char* at = std::getenv("YAD_CRASH_AT");
    std::deque<CellRun> runs;
    const auto* suite = ::testing::UnitTest::GetInstance()->current_test_suite();
    for (const Scenario& scenario : kScenarios) {
      for (const WorkloadKind kind : {WorkloadKind::kDeployment, WorkloadKind::kStatefulSet}) {
        const std::string name = NameOfRun(scenario, kind);
        for (int i = 0; i < suite->total_test_count(); ++i) {
          const auto* test = suite->GetTestInfo(i);
          if (!test->should_run() || !std::string(test->name()).ends_with("/" + name)) continue;
          runs.push_back({name, &scenario, kind, at == nullptr ? 0 : std::atoi(at)});
        }
      }
    }
    return runs;
  }
};

// The writes of a scenario do not depend on the kind, so `make test` runs every other scenario with StatefulSets.
std::vector<std::tuple<const Scenario*, WorkloadKind>> ScenariosToRun() {
  std::vector<std::tuple<const Scenario*, WorkloadKind>> all;
  WorkloadKind usual = WorkloadKind::kDeployment;
  for (const Scenario& scenario : kScenarios) {
    for (const WorkloadKind kind : KindsToRun(usual)) all.emplace_back(&scenario, kind);
    usual = usual == WorkloadKind::kDeployment ? WorkloadKind::kStatefulSet : WorkloadKind::kDeployment;
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Scenarios, CrashTest, ::testing::ValuesIn(ScenariosToRun()),
                         [](const auto& test) { return NameOfRun(*std::get<0>(test.param), std::get<1>(test.param)); });

TEST_P(CrashTest, RestartAfterAKillAtAnyWriteReachesTheSameState) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string points;
  for (const CrashOutcome& outcome : outcomes_) {
    const std::string at = std::to_string(outcome.at);
    if (!outcome.failure.empty()) {
      ADD_FAILURE() << (outcome.at == 0 ? "never killed" : "killed after write " + at)
                    << "; repeat it with: YAD_CRASH_AT=" << at << " build/release/bin/cluster_test --gtest_filter='"
                    << test->test_suite_name() << "." << test->name() << "'\n  " << outcome.failure;
    } else if (outcome.at == 0) {
      EXPECT_GT(outcome.writes, 0) << "the scenario writes nothing";
      points = std::to_string(outcome.writes) + " writes; killed after number";
    } else {
      // The number of status writes varies by one, so a run may finish before its kill.
      points += " " + at + (outcome.writes < outcome.at ? " (not reached)" : "");
    }
  }
  std::cout << "[   points ] " << points << "\n";
}

}  // namespace
}  // namespace yad::testing
