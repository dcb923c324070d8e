#include "tests/support/eventually.h"

#include <algorithm>
#include <thread>

namespace yad::testing {

void WaitFor(const std::string& what, const std::function<std::string()>& why_not, std::chrono::milliseconds timeout) {
  using std::chrono::milliseconds;
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    std::string answer;
    try {
      answer = why_not();
    } catch (const TestFailure& failure) {
      answer = failure.what();
    }
    if (answer.empty()) return;
    const auto elapsed = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
    if (elapsed >= timeout) {
      throw TestFailure("waited " + std::to_string(timeout.count()) + " ms for: " + what + "; at the end: " + answer);
    }
    std::this_thread::sleep_for(std::clamp(elapsed / 8, milliseconds(20), milliseconds(250)));
  }
}

}  // namespace yad::testing
