#include "operator/base/parallel.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <latch>
#include <stdexcept>

namespace yad::testing {
namespace {

TEST(ParallelForTest, EachIterationRunsOnceWithinTheLimit) {
  std::array<std::atomic<int>, 9> calls{};
  std::latch at_once(3);
  ParallelFor(calls.size(), 3, [&](std::size_t i) {
    ++calls[i];
    if (i < 3) at_once.arrive_and_wait();
  });
  for (const auto& count : calls) EXPECT_EQ(count, 1);
  ParallelFor(0, 3, [](std::size_t) { FAIL(); });
}

TEST(ParallelForTest, ExceptionIsThrownAfterAllOtherIterationsHaveReturned) {
  for (const std::size_t limit : {1, 4}) {
    std::atomic<int> returned = 0;
    const auto loop = [&] {
      ParallelFor(8, limit, [&](std::size_t i) {
        if (i % 3 == 1) throw std::runtime_error("round");
        ++returned;
      });
    };
    EXPECT_THROW(loop(), std::runtime_error) << limit;
    EXPECT_EQ(returned, 5) << limit;
  }
}

}  // namespace
}  // namespace yad::testing
