// Users make random changes, while the operators and the network have random faults. `make test` runs ten seeds.
//   YAD_ALL=1         200 seeds
//   YAD_SEEDS=300-400 these seeds
//   YAD_SEED=17       one seed: the same acts, and the same faults for each kind of request
#include <cstdlib>
#include <iostream>

#include "operator/base/parallel.h"
#include "tests/cluster/fault_injection_cell.h"

namespace yad::testing {
namespace {

constexpr std::size_t kCellsAtOnce = 10;

std::vector<std::uint64_t> Seeds() {
  const SeedRange range = SeedsToRun({1, RunsEverything() ? 200U : 10U});
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t seed = range.first; seed <= range.last; ++seed) seeds.push_back(seed);
  return seeds;
}

TEST(FaultInjectionTest, ClusterMatchesTheSpecsAfterRandomFaultsAndChanges) {
  if (SharedControlPlane() == nullptr) return;
  const std::vector<std::uint64_t> seeds = Seeds();
  std::vector<std::string> failures(seeds.size());
  ParallelFor(seeds.size(), kCellsAtOnce, [&](std::size_t i) {
    failures[i] = InACell<FaultInjectionCell>([&] { return std::make_unique<FaultInjectionCell>(seeds[i]); },
                                              [](FaultInjectionCell& cell) { cell.Play(); });
  });
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    EXPECT_EQ(failures[i], "") << "repeat with YAD_SEED=" << seeds[i]
                               << " build/release/bin/cluster_test --gtest_filter='FaultInjectionTest.*'";
  }
  std::cout << "[    seeds ] " << seeds.size() << "\n";
}

}  // namespace
}  // namespace yad::testing
