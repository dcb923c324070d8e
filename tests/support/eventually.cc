#include "tests/support/eventually.h"

#include <thread>

namespace yad::testing {

void WaitFor(const std::string& what, const std::function<std::string()>& why_not, std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    std::string answer;
    try {
      answer = why_not();
    } catch (const TestFailure& failure) {
      answer = failure.what();
    }
    if (answer.empty()) return;
    if (std::chrono::steady_clock::now() >= deadline) {
      throw TestFailure("waited " + std::to_string(timeout.count()) + " ms for: " + what + "; at the end: " + answer);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace yad::testing
