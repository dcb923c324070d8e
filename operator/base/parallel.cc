#include "operator/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "operator/base/synchronized.h"

namespace yad {

void ParallelFor(std::size_t count, std::size_t limit, const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> next{0};
  Synchronized<std::exception_ptr> failure;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        body(i);
      } catch (...) {
        failure.With([](std::exception_ptr& first) {
          if (first == nullptr) first = std::current_exception();
        });
      }
    }
  };
  const std::size_t threads = std::min(count, std::max<std::size_t>(limit, 1));
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
    work();
  }
  if (const std::exception_ptr first = failure.With([](auto& value) { return value; })) std::rethrow_exception(first);
}

}  // namespace yad
