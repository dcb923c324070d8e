// Ordinary weather, seeded and random. `make test` plays ten seeds.
//   YAD_ALL=1         200 of them
//   YAD_SEEDS=300-400 these
//   YAD_SEED=17       one: the same people do the same things, and each kind of request has the same weather
#include <cstdlib>
#include <iostream>

#include "operator/base/parallel.h"
#include "tests/cluster/weather_cell.h"

namespace yad::testing {
namespace {

constexpr std::size_t kAtOnce = 10;

std::vector<std::uint64_t> Seeds() {
  std::uint64_t first = 1;
  std::uint64_t last = RunsEverything() ? 200 : 10;
  if (const char* one = std::getenv("YAD_SEED")) first = last = std::stoull(one);
  if (const char* range = std::getenv("YAD_SEEDS")) {
    const std::string text = range;
    first = std::stoull(text);
    last = std::stoull(text.substr(text.find('-') + 1));
  }
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t seed = first; seed <= last; ++seed) seeds.push_back(seed);
  return seeds;
}

TEST(WeatherTest, AfterAnyWeatherTheClusterIsAsAskedForAndNothingWasLostOnTheWay) {
  if (SharedControlPlane() == nullptr) return;
  const std::vector<std::uint64_t> seeds = Seeds();
  std::vector<std::string> failures(seeds.size());
  ParallelFor(seeds.size(), kAtOnce, [&](std::size_t i) {
    failures[i] = InACell<WeatherCell>([&] { return std::make_unique<WeatherCell>(seeds[i]); },
                                       [](WeatherCell& cell) { cell.Play(); });
  });
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    EXPECT_EQ(failures[i], "") << "once more: YAD_SEED=" << seeds[i]
                               << " build/release/bin/cluster_test --gtest_filter='WeatherTest.*'";
  }
  std::cout << "[    seeds ] " << seeds.size() << "\n";
}

}  // namespace
}  // namespace yad::testing
