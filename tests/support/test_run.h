// The environment variables of a test run.
#ifndef TESTS_SUPPORT_TEST_RUN_H_
#define TESTS_SUPPORT_TEST_RUN_H_

#include <cstdint>

namespace yad::testing {

// Returns whether the tests run all cases and not a sample: YAD_ALL is set (`make test-long`).
bool RunsEverything();

// Returns whether CI is "true". If a needed program is missing, a test fails in CI and is skipped elsewhere.
bool InCi();

// The seeds of a random test: YAD_SEED=n is one seed, YAD_SEEDS=a-b a range. The default is `usual`.
struct SeedRange {
  std::uint64_t first = 1;
  std::uint64_t last = 1;
};
SeedRange SeedsToRun(SeedRange usual);

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_TEST_RUN_H_
