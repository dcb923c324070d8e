// The environment variables of a test run.
#ifndef TESTS_SUPPORT_TEST_RUN_H_
#define TESTS_SUPPORT_TEST_RUN_H_

#include <cstdint>

namespace yad::testing {

// Returns whether YAD_ALL is set (`make test-long`). If so, the tests run all cases, and not only the sample of `make
// test`.
bool RunsEverything();

// Returns whether CI is "true". In CI, a test fails if a program that it needs is missing. Elsewhere, it is skipped.
bool InCi();

// The seeds of a random test. YAD_SEED=n selects one seed and YAD_SEEDS=a-b a range; the default is `usual`.
struct SeedRange {
  std::uint64_t first = 1;
  std::uint64_t last = 1;
};
SeedRange SeedsToRun(SeedRange usual);

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_TEST_RUN_H_
