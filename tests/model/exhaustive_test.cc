// Explores all states of a small cluster. With YAD_ALL=1, also explores larger clusters.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <utility>

#include "operator/base/log.h"
#include "tests/model/explorer.h"
#include "tests/support/test_run.h"

namespace yad::model {
namespace {

constexpr int kThreads = 2;
using Kinds = std::vector<Move::Type>;

Kinds EveryKind() {
  Kinds kinds;
  for (int kind = Move::kPoolRemoved; kind <= Move::kSecondWorkload; ++kind)
    kinds.push_back(static_cast<Move::Type>(kind));
  return kinds;
}

void Explore(const Bounds& bounds) {
  log::Configure(log::Level::kError, log::Format::kText);
  Explorer explorer(bounds);
  const auto begin = std::chrono::steady_clock::now();
  const std::optional<std::string> story = explorer.Run(kThreads);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const Figures& figures = explorer.figures();
  std::string levels;
  for (const std::size_t states : figures.levels) levels += (levels.empty() ? "" : " + ") + std::to_string(states);
  std::printf(
      "%d pools (%s), %d daemons, %d revisions, %d moves of users (of %zu kinds%s), caches up to %d behind, "
      "writes in plan order, a crash after any: %zu states (%s by moves), %zu transitions, %zu different reconciles, "
      "%zu states at rest, %.1f s\n",
      bounds.pools, bounds.gates ? "with gates" : "symmetric", bounds.daemons, bounds.revisions, bounds.moves,
      bounds.kinds.size(), bounds.meanwhile ? ", between two writes too" : "", bounds.lag, figures.states,
      levels.c_str(), figures.transitions, figures.reconciles, figures.resting_states, seconds);
  std::fflush(stdout);
  EXPECT_FALSE(story) << *story;
}

void ExploreIfAll(const Bounds& bounds) {
  if (!testing::RunsEverything()) GTEST_SKIP() << "takes long; set YAD_ALL=1";
  Explore(bounds);
}

// Bounds: {pools, daemons, revisions, moves, lag, kinds, meanwhile}
TEST(ExhaustiveTest, InvariantsHoldForTwoPoolsAndOneChangeAtAnyTime) { Explore({2, 1, 3, 1, 1, EveryKind(), true}); }
TEST(ExhaustiveTest, InvariantsHoldForTwoPoolsAndTwoChanges) { Explore({2, 1, 3, 2, 0, EveryKind()}); }
TEST(ExhaustiveTest, InvariantsHoldForOnePoolTwoChangesAndStaleCaches) { Explore({1, 1, 3, 2, 1, EveryKind()}); }
// These tests have more moves, and stale caches. Each test has only a few kinds of moves, to limit the number of
// states.
TEST(ExhaustiveTest, InvariantsHoldForTwoRelabelledPools) { Explore({2, 1, 1, 2, 1, {Move::kPoolRelabelled}}); }
TEST(ExhaustiveTest, InvariantsHoldForADaemonThatIsOrphanedAndRecreated) {
  Explore({2, 1, 1, 2, 1, {Move::kDaemonOrphaned, Move::kDaemonCreated}});
}
TEST(ExhaustiveTest, InvariantsHoldForDuplicatesThatLoseTheirLabels) {
  Explore({2, 1, 1, 2, 1, {Move::kSecondWorkload, Move::kLabelStripped}});
}
TEST(ExhaustiveTest, InvariantsHoldForAWorkloadThatIsReplaced) {
  Explore({1, 1, 1, 3, 2, {Move::kPoolRelabelled, Move::kWorkloadDeleted, Move::kForeignCreated}});
}

Bounds WithServices(Bounds bounds) {
  bounds.services = true;
  return bounds;
}
TEST(ExhaustiveTest, InvariantsHoldForOneServiceAndTwoChanges) {
  Explore(WithServices(
      {1, 1, 3, 2, 0, {Move::kNewTemplate, Move::kPoolRelabelled, Move::kServiceDeleted, Move::kServiceEdited}}));
}
TEST(ExhaustiveTest, InvariantsHoldForTwoServicesAndOneChange) {
  Explore(WithServices(
      {2,
       1,
       3,
       1,
       0,
       {Move::kNewTemplate, Move::kPoolRelabelled, Move::kDaemonOrphaned, Move::kSecondWorkload, Move::kServiceDeleted},
       true}));
}

Bounds WithGates(Bounds bounds) {
  bounds.gates = true;
  return bounds;
}
const Kinds kGates = {Move::kNewTemplate, Move::kHoldFlipped, Move::kSiteFlipped, Move::kFreezeFlipped};
TEST(ExhaustiveTest, InvariantsHoldForTwoPoolsWithGates) { Explore(WithGates({2, 1, 2, 2, 0, kGates})); }

// With all kinds of moves, this test would take many hours.
TEST(ExhaustiveTest, InvariantsHoldForTwoPoolsTwoChangesAndStaleCaches) {
  ExploreIfAll(
      {2, 1, 2, 2, 1, {Move::kNewTemplate, Move::kPoolRelabelled, Move::kDaemonOrphaned, Move::kDaemonCreated}});
}
TEST(ExhaustiveTest, InvariantsHoldForTwoPoolsOneChangeAtAnyTimeAndALagOfTwo) {
  ExploreIfAll({2, 1, 3, 1, 2, EveryKind(), true});
}
TEST(ExhaustiveTest, InvariantsHoldForOneServiceAndStaleCaches) {
  ExploreIfAll(WithServices(
      {1, 1, 3, 2, 1, {Move::kNewTemplate, Move::kPoolRelabelled, Move::kServiceDeleted, Move::kServiceEdited}}));
}
TEST(ExhaustiveTest, InvariantsHoldForTwoServicesAndOneChangeAtAnyTime) {
  Kinds kinds = EveryKind();
  kinds.insert(kinds.end(), {Move::kServiceDeleted, Move::kServiceEdited});
  ExploreIfAll(WithServices({2, 1, 3, 1, 1, kinds, true}));
}
TEST(ExhaustiveTest, InvariantsHoldForThreePoolsAndOneChangeAtAnyTime) {
  ExploreIfAll({3, 1, 3, 1, 1, EveryKind(), true});
}
TEST(ExhaustiveTest, InvariantsHoldForThreePoolsAndTwoChanges) { ExploreIfAll({3, 1, 3, 2, 0, EveryKind()}); }
TEST(ExhaustiveTest, InvariantsHoldForTwoPoolsTwoDaemonsAndOneChange) { ExploreIfAll({2, 2, 2, 1, 1, EveryKind()}); }
TEST(ExhaustiveTest, InvariantsHoldForThreePoolsTwoDaemonsAndThreeRevisions) {
  ExploreIfAll({3, 2, 3, 1, 0, EveryKind()});
}

}  // namespace
}  // namespace yad::model
