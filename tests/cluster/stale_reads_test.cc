// The operator has old data. There are two kinds of tests:
// - Stale reads: after a restart, it receives an old list of some resources and no later events, as from an apiserver
//   that lags.
// - Unobserved states: for a while, it does not receive events of some resources, and then only the final state.
//
// The old data must not cause a removal, a duplicate, a restart or a rollback. The cluster must reach the state that a
// naive model predicts.
//
// `make test` runs each act with the combinations of resources in `views`. YAD_ALL=1 runs all combinations.
#include <cstdlib>
#include <iostream>

#include "operator/base/parallel.h"
#include "tests/cluster/stale_reads_cell.h"

namespace yad::testing {
namespace {

constexpr std::size_t kScenariosAtOnce = 8;
constexpr char kRing[] = "ring";
const Json kTaint = {{{"key", "shop"}, {"value", "closed"}, {"effect", "NoSchedule"}}};
const Json kToleration = {{{"key", "shop"}, {"operator", "Exists"}, {"effect", "NoSchedule"}}};

// ---- setups ----

Wanted OneRevision(StaleReadsCell& cell) { return cell.Create(); }

Wanted NewImage(StaleReadsCell& cell) {
  cell.SetImage(kCellDaemon, Image(2));
  return {.pools = cell.ThreePools(), .image = 2, .generation = 2, .revisions = {{1, 1}, {2, 2}}};
}
Wanted TwoRevisions(StaleReadsCell& cell) {
  cell.WaitUntil(cell.Create());
  return NewImage(cell);
}

Wanted TwoPools(StaleReadsCell& cell) {
  cell.Unselect(cell.Pool("c"));
  cell.Create();
  return {.pools = {cell.Pool("a"), cell.Pool("b")}};
}

Wanted OneRing(StaleReadsCell& cell) {
  cell.LabelPool(cell.Pool("a"), kRing, "inner");
  cell.LabelPool(cell.Pool("b"), kRing, "inner");
  cell.Create();
  cell.SetPoolSelector({{kRing, "inner"}});
  return {.pools = {cell.Pool("a"), cell.Pool("b")}, .exactly = false};
}

// An operator that starts later reads the taint before it observes the daemon.
Wanted Tainted(StaleReadsCell& cell) {
  cell.KillOperator();
  cell.SetTaints(cell.Pool("b"), kTaint);
  cell.StartOperator();
  cell.Create();
  return {.pools = cell.ThreePools(), .tolerations = {{cell.Pool("b"), kToleration}}};
}

// ---- acts ----

Wanted APoolComes(StaleReadsCell& cell) {
  cell.AddPool("d");
  return {.pools = {cell.Pool("a"), cell.Pool("b"), cell.Pool("c"), cell.Pool("d")}};
}

Wanted APoolIsSelected(StaleReadsCell& cell) {
  cell.Select(cell.Pool("c"));
  return {.pools = cell.ThreePools()};
}

Wanted APoolLeaves(StaleReadsCell& cell) {
  cell.AllowCreateAndDelete(cell.Pool("c"));
  cell.Unselect(cell.Pool("c"));
  return {.pools = {cell.Pool("a"), cell.Pool("b")}};
}

Wanted APoolIsTainted(StaleReadsCell& cell) {
  cell.SetTaints(cell.Pool("b"), kTaint);
  return {
      .pools = cell.ThreePools(), .tolerations = {{cell.Pool("b"), kToleration}}, .generations = {{cell.Pool("b"), 2}}};
}

Wanted APoolLosesItsTaint(StaleReadsCell& cell) {
  cell.SetTaints(cell.Pool("b"), nullptr);
  return {.pools = cell.ThreePools(), .generations = {{cell.Pool("b"), 2}}};
}

Wanted Undo(StaleReadsCell& cell) {
  cell.SetImage(kCellDaemon, Image(1));
  return {.pools = cell.ThreePools(), .generation = 3, .revisions = {{2, 2}, {3, 1}}};
}

Wanted UndoAndPrune(StaleReadsCell& cell) {
  cell.PatchSpec(kCellDaemon, {{"revisionHistoryLimit", 0}});
  cell.SetImage(kCellDaemon, Image(1));
  return {.pools = cell.ThreePools(), .generation = 3, .revisions = {{3, 1}}};
}

// Labels the pools before it changes the selector, so each pool stays selected.
Wanted TheSelectorChangesToALabelThatThePoolsHave(StaleReadsCell& cell) {
  for (const std::string& pool : cell.ThreePools()) cell.LabelPool(pool, "wave", "2");
  cell.kube().Edit(kYurtAppDaemonType, kCellDaemon,
                   [&](Json& daemon) { daemon["spec"]["nodepoolSelector"]["matchLabels"]["wave"] = "2"; });
  return {.pools = cell.ThreePools()};
}

Wanted TheSelectorIsWidened(StaleReadsCell& cell) {
  cell.SetPoolSelector(Json::object());
  return {.pools = cell.ThreePools(), .exactly = false};
}

Wanted AWorkloadIsDeleted(StaleReadsCell& cell) {
  const std::string name = NameOf(cell.WorkloadOf(kCellDaemon, cell.Pool("b")));
  const std::string uid = UidOf(cell.WorkloadOf(kCellDaemon, cell.Pool("b")));
  cell.kube().Delete(cell.type(), name);
  Eventually("the workload is recreated", [&] {
    const auto again = cell.kube().Find(cell.type(), name);
    return again.has_value() && UidOf(*again) != uid;
  });
  return {.pools = cell.ThreePools()};
}

Wanted TheDaemonIsOrphanedAndAppliedAgain(StaleReadsCell& cell) {
  cell.Orphan();
  return cell.Create();
}

Wanted TheDaemonIsRecreated(StaleReadsCell& cell) {
  for (const std::string& pool : cell.ThreePools()) cell.AllowRemoval(pool);
  cell.kube().Delete(kYurtAppDaemonType, kCellDaemon);
  Eventually("the daemon's workloads are gone", [&] {
    return cell.kube().List(cell.type(), std::string("app=") + kCellDaemon + "," + kRevisionLabel).empty();
  });
  Wanted wanted = cell.Create();
  wanted.exactly = false;  // names may collide with revisions of the deleted daemon
  return wanted;
}

// ---- both kinds of test ----

struct StaleReadsScenario {
  const char* name;
  StaleReadsCell::Act before;
  StaleReadsCell::Act act;
  std::vector<Views> views;  // for `make test`
};

// Each workload must stay the same object, unless the act replaces it.
const StaleReadsScenario kStale[] = {
    {"APoolComes", OneRevision, APoolComes, {"p", "pw", "pdwr"}},
    {"APoolIsSelected", TwoPools, APoolIsSelected, {"p", "pd", "w"}},
    {"APoolLeaves", OneRevision, APoolLeaves, {"p", "w", "pdw"}},
    {"APoolIsTainted", OneRevision, APoolIsTainted, {"p", "w", "pw"}},
    {"APoolLosesItsTaint", Tainted, APoolLosesItsTaint, {"p", "pd"}},
    {"ANewImageIsRolledOut", OneRevision, NewImage, {"d", "dr", "dwr", "w", "r", "pdwr"}},
    {"AnOldTemplateIsAppliedAgain", TwoRevisions, Undo, {"d", "dr", "r", "wr"}},
    {"ARevisionIsPruned", TwoRevisions, UndoAndPrune, {"d", "dr", "r"}},
    {"TheSelectorIsWidened", OneRing, TheSelectorIsWidened, {"d", "dw"}},
    {"TheSelectorChangesToALabelThatThePoolsHave", OneRevision, TheSelectorChangesToALabelThatThePoolsHave, {"p", "d"}},
    {"AWorkloadIsDeletedAndRecreated", OneRevision, AWorkloadIsDeleted, {"w", "dw"}},
    {"TheDaemonIsOrphanedAndAppliedAgain", OneRevision, TheDaemonIsOrphanedAndAppliedAgain, {"d", "w", "dw", "wr"}},
    {"TheDaemonIsRecreated", OneRevision, TheDaemonIsRecreated, {"d", "w", "dwr"}},
};

// ---- acts that the operator does not observe ----

Wanted APoolLeavesAndReturns(StaleReadsCell& cell) {
  cell.Unselect(cell.Pool("c"));
  cell.Select(cell.Pool("c"));
  return {.pools = cell.ThreePools()};
}

Wanted APoolIsMadeAnew(StaleReadsCell& cell) {
  const Json pool = cell.kube().Get(kNodePoolType, cell.Pool("c"));
  cell.DeletePool(cell.Pool("c"));
  cell.kube().Create(kNodePoolType, {{"metadata", {{"name", NameOf(pool)}, {"labels", At(pool, "/metadata/labels")}}},
                                     {"spec", At(pool, "/spec")}});
  return {.pools = cell.ThreePools()};
}

Wanted ATaintComesAndGoes(StaleReadsCell& cell) {
  cell.SetTaints(cell.Pool("b"), kTaint);
  cell.SetTaints(cell.Pool("b"), nullptr);
  return {.pools = cell.ThreePools()};
}

Wanted TheTemplateComesBack(StaleReadsCell& cell) {
  cell.SetImage(kCellDaemon, Image(2));
  cell.SetImage(kCellDaemon, Image(1));
  return {.pools = cell.ThreePools()};
}

Wanted ThePauseIsOver(StaleReadsCell& cell) {
  cell.PatchSpec(kCellDaemon, {{"paused", true}});
  cell.SetImage(kCellDaemon, Image(2));
  cell.PatchSpec(kCellDaemon, {{"paused", false}});
  return {.pools = cell.ThreePools(), .image = 2, .generation = 2, .revisions = {{1, 1}, {2, 2}}};
}

Wanted AWorkloadIsMadeAnewByHand(StaleReadsCell& cell) {
  Json workload = cell.WorkloadOf(kCellDaemon, cell.Pool("b"));
  cell.AllowRemoval(cell.Pool("b"));
  cell.kube().Delete(cell.type(), NameOf(workload));
  workload.erase("status");
  for (const char* field : {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"}) {
    workload["metadata"].erase(field);
  }
  cell.kube().Create(cell.type(), workload);
  return {.pools = cell.ThreePools()};
}

Wanted AnEditIsUndoneByHand(StaleReadsCell& cell) {
  const std::string name = NameOf(cell.WorkloadOf(kCellDaemon, cell.Pool("b")));
  for (const int image : {7, 1}) {
    cell.kube().Edit(cell.type(), name, [&](Json& workload) {
      workload["spec"]["template"]["spec"]["containers"][0]["image"] = Image(image);
    });
  }
  return {.pools = cell.ThreePools(), .generations = {{cell.Pool("b"), 3}}};
}

Wanted ALabelIsTakenAndPutBack(StaleReadsCell& cell) {
  const std::string name = NameOf(cell.WorkloadOf(kCellDaemon, cell.Pool("b")));
  for (const Json& value : {Json(), Json(cell.Pool("b"))}) {
    cell.kube().MergePatch(cell.type(), name, {{"metadata", {{"labels", {{kPoolNameLabel, value}}}}}});
  }
  return {.pools = cell.ThreePools()};
}

Wanted TheDaemonIsOrphanedAndAnotherIsApplied(StaleReadsCell& cell) {
  cell.Orphan();
  cell.Create();
  cell.SetImage(kCellDaemon, Image(2));
  return {.pools = cell.ThreePools(), .image = 2, .exactly = false};
}

Wanted AllOfIt(StaleReadsCell& cell) {
  APoolLeavesAndReturns(cell);
  ATaintComesAndGoes(cell);
  TheTemplateComesBack(cell);
  AWorkloadIsMadeAnewByHand(cell);
  cell.Orphan();
  return cell.Create();
}

const StaleReadsScenario kUnobserved[] = {
    {"APoolLeavesAndReturns", OneRevision, APoolLeavesAndReturns, {"pdwr", "p"}},
    {"APoolIsMadeAnew", OneRevision, APoolIsMadeAnew, {"pdwr", "p"}},
    {"ATaintComesAndGoes", OneRevision, ATaintComesAndGoes, {"pdwr"}},
    {"TheTemplateComesBack", OneRevision, TheTemplateComesBack, {"pdwr", "d"}},
    {"ThePauseIsOver", OneRevision, ThePauseIsOver, {"pdwr", "d"}},
    {"TheSelectorChangesToALabelThatThePoolsHave",
     OneRevision,
     TheSelectorChangesToALabelThatThePoolsHave,
     {"pdwr", "p", "d"}},
    {"AWorkloadIsMadeAnewByHand", OneRevision, AWorkloadIsMadeAnewByHand, {"pdwr", "w"}},
    {"AnEditIsUndoneByHand", OneRevision, AnEditIsUndoneByHand, {"pdwr", "w"}},
    {"ALabelIsTakenAndPutBack", OneRevision, ALabelIsTakenAndPutBack, {"pdwr", "w"}},
    {"TheDaemonIsOrphanedAndAppliedAgain", OneRevision, TheDaemonIsOrphanedAndAppliedAgain, {"pdwr", "w", "dr"}},
    {"TheDaemonIsOrphanedAndAnotherIsApplied", OneRevision, TheDaemonIsOrphanedAndAnotherIsApplied, {"pdwr", "w"}},
    {"TheDaemonIsRecreated", OneRevision, TheDaemonIsRecreated, {"pdwr", "w"}},
    {"AllOfIt", OneRevision, AllOfIt, {"pdwr"}},
};

using Play = void (StaleReadsCell::*)(StaleReadsCell::Act, StaleReadsCell::Act, const Views&);

struct Run {
  const StaleReadsScenario* scenario;
  WorkloadKind kind;
  Views views;
  std::string failure = {};
};

// YAD_STALE_READS="ANewImageIsRolledOut Deployment dr" selects only this run.
template <std::size_t kCount>
std::vector<Run> RunsOf(const StaleReadsScenario (&scenarios)[kCount]) {
  const bool all = RunsEverything();
  const char* only = std::getenv("YAD_STALE_READS");
  const std::vector<Views> combinations = {"p",  "d",  "w",   "r",   "pd",  "pw",  "pr",  "dw",
                                           "dr", "wr", "pdw", "pdr", "pwr", "dwr", "pdwr"};
  std::vector<Run> runs;
  int number = 0;
  for (const StaleReadsScenario& scenario : scenarios) {
    for (const Views& views : all || only != nullptr ? combinations : scenario.views) {
      ++number;
      for (const WorkloadKind kind : {WorkloadKind::kDeployment, WorkloadKind::kStatefulSet}) {
        const std::string name = std::string(scenario.name) + " " + TypeOf(kind).kind + " " + views;
        const bool turn = (number % 2 == 0) == (kind == WorkloadKind::kStatefulSet);
        if (only != nullptr ? name == only : all || turn) runs.push_back({&scenario, kind, views});
      }
    }
  }
  return runs;
}

void PlayAll(std::vector<Run> runs, Play play) {
  if (SharedControlPlane() == nullptr) return;
  ParallelFor(runs.size(), kScenariosAtOnce, [&](std::size_t i) {
    Run& run = runs[i];
    run.failure = InACell<StaleReadsCell>(
        [&] { return std::make_unique<StaleReadsCell>(run.kind); },
        [&](StaleReadsCell& cell) { (cell.*play)(run.scenario->before, run.scenario->act, run.views); });
  });
  for (const Run& run : runs) {
    EXPECT_EQ(run.failure, "") << "repeat with YAD_STALE_READS=\"" << run.scenario->name << " " << TypeOf(run.kind).kind
                               << " " << run.views << "\"";
  }
  std::cout << "[     runs ] " << runs.size() << "\n";
}

TEST(StaleReadsTest, StaleListsAfterTheStartCauseNoWrongWrites) { PlayAll(RunsOf(kStale), &StaleReadsCell::PlayStale); }

TEST(StaleReadsTest, OperatorReachesTheExpectedStateAfterUnobservedChanges) {
  PlayAll(RunsOf(kUnobserved), &StaleReadsCell::PlayUnobserved);
}

}  // namespace
}  // namespace yad::testing
