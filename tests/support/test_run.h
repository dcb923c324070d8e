// The environment variables of a test run.
#ifndef TESTS_SUPPORT_TEST_RUN_H_
#define TESTS_SUPPORT_TEST_RUN_H_

#include <cstdint>

namespace yad::testing {

// Returns whether YAD_ALL is set (`make test-long`). If so, the tests run all cases, and not only the sample of `make
// test`.
bool RunsEverything();

// Returns whether CI is "true". If so, a test whose programs are missing fails, and is not skipped.
bool InCi();

// Seeds of random tests: YAD_SEED=n (one), YAD_SEEDS=a-b, or the usual ones.
struct SeedRange {
  std::uint64_t first = 1;
  std::uint64_t last = 1;
};
SeedRange SeedsToRun(SeedRange usual);

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_TEST_RUN_H_
