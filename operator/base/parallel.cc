#include "operator/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace yad {

void ParallelFor(std::size_t count, std::size_t limit, const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) body(i);
  };
  const std::size_t threads = std::min(count, std::max<std::size_t>(limit, 1));
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
}

}  // namespace yad
