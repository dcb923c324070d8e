// The environment variables of a test run.
#ifndef TESTS_SUPPORT_TEST_RUN_H_
#define TESTS_SUPPORT_TEST_RUN_H_

#include <cstdint>

namespace yad::testing {

// Returns whether YAD_ALL is set (`make test-long`): the tests run all cases, not a sample.
bool RunsEverything();

// Returns whether CI is "true". If a program that a test needs is missing, the test fails in CI, and is skipped
// elsewhere.
bool InCi();

// The seeds of a random test: YAD_SEED=n for one, YAD_SEEDS=a-b for a range, otherwise `usual`.
struct SeedRange {
  std::uint64_t first = 1;
  std::uint64_t last = 1;
};
SeedRange SeedsToRun(SeedRange usual);

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_TEST_RUN_H_
