// The environment variables of a test run.
#ifndef TESTS_SUPPORT_TEST_RUN_H_
#define TESTS_SUPPORT_TEST_RUN_H_

#include <cstdint>

namespace yad::testing {

// YAD_ALL is set (`make test-long`): run everything, and not the sample of `make test`.
bool RunsEverything();

// CI=true: programs that are missing fail a test instead of skipping it.
bool InCi();

// Seeds of random tests: YAD_SEED=n (one), YAD_SEEDS=a-b, or the usual ones.
struct SeedRange {
  std::uint64_t first = 1;
  std::uint64_t last = 1;
};
SeedRange SeedsToRun(SeedRange usual);

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_TEST_RUN_H_
