#include "plugin/commands/failure_runs.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

namespace yad {
namespace {

using std::chrono::seconds;

struct Run {
  std::string end;
  seconds time{0};
  std::size_t reached = 0;
};

// Returns the index of the quantile `share` (0 to 1) in a sorted list of `count` elements. For example, IndexOf(0.9,
// 10) is 8: nine of the ten elements are less than or equal to the element there.
std::size_t IndexOf(double share, std::size_t count) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(count) - 1e-9));
  return std::clamp<std::size_t>(rank, 1, count) - 1;
}

RunTimes TimesOf(std::vector<seconds> times) {
  std::sort(times.begin(), times.end());
  return {times[IndexOf(0.5, times.size())], times[IndexOf(0.9, times.size())]};
}

// Selects the pools whose update fails at random. Does not use the distributions of the standard library, because they
// return different numbers in different implementations.
std::set<std::string> DrawFailing(const Snapshot& snapshot, double rate, std::mt19937_64& random) {
  std::set<std::string> failing;
  for (const PoolRef& pool : snapshot.pools) {
    if (static_cast<double>(random() >> 11) * 0x1p-53 < rate) failing.insert(pool.pool().name);
  }
  return failing;
}

}  // namespace

std::size_t FailureRuns::ReachedQuantile(double share) const {
  std::size_t left = IndexOf(share, static_cast<std::size_t>(options.runs));
  for (const auto& [pools, runs] : reached) {
    if (left < static_cast<std::size_t>(runs)) return pools;
    left -= static_cast<std::size_t>(runs);
  }
  return 0;
}

FailureRuns SimulateFailures(const Snapshot& snapshot, SimulationOptions simulation, const FailureOptions& options) {
  FailureRuns result;
  result.options = options;
  std::mt19937_64 random(options.seed);
  std::map<std::set<std::string>, Run> known;
  std::map<std::string, std::vector<seconds>> by_end;
  std::vector<seconds> all;
  for (int i = 0; i < options.runs; ++i) {
    simulation.failing_pools = DrawFailing(snapshot, options.rate, random);
    const auto [found, is_new] = known.emplace(simulation.failing_pools, Run());
    Run& run = found->second;
    if (is_new) {
      const Simulation simulated = Simulate(snapshot, simulation);
      run = {EndOf(simulated), std::chrono::duration_cast<seconds>(simulated.to - simulated.from), simulated.reached()};
    }
    by_end[run.end].push_back(run.time);
    all.push_back(run.time);
    ++result.reached[run.reached];
  }
  for (auto& [end, times] : by_end) result.ends.push_back({end, static_cast<int>(times.size()), TimesOf(times)});
  std::stable_sort(result.ends.begin(), result.ends.end(),
                   [](const auto& a, const auto& b) { return a.runs > b.runs; });
  result.times = TimesOf(std::move(all));
  return result;
}

std::vector<ReachedRange> RangesOf(const FailureRuns& runs, std::size_t most) {
  std::vector<ReachedRange> ranges;
  if (runs.reached.empty()) return ranges;
  const std::size_t first = runs.reached.begin()->first, last = runs.reached.rbegin()->first;
  const std::size_t width = (last - first) / most + 1;
  for (std::size_t from = first; from <= last; from += width)
    ranges.push_back({from, std::min(from + width - 1, last), 0});
  for (const auto& [pools, count] : runs.reached) ranges[(pools - first) / width].runs += count;
  return ranges;
}

}  // namespace yad
