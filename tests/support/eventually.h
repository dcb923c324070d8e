// Helpers that wait for the state of a cluster, and that end a test.
#ifndef TESTS_SUPPORT_EVENTUALLY_H_
#define TESTS_SUPPORT_EVENTUALLY_H_

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace yad::testing {

// An exception that ends the test. GoogleTest reports its message as the failure of the test.
struct TestFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Long enough for a busy machine. On an idle machine, the longest wait is for the garbage collector, which may need 30
// s to discover a new CRD.
inline constexpr std::chrono::milliseconds kEventuallyTimeout{180'000};

// Calls `why_not` until it returns "": every 20 ms at first, and less often in a long wait (at least every 250 ms),
// because each call may send requests. At the deadline, throws a TestFailure with `what` and the last result. A
// TestFailure from `why_not` is also a result, for instance that an object does not exist yet.
void WaitFor(const std::string& what, const std::function<std::string()>& why_not, std::chrono::milliseconds timeout);

// Waits until the predicate returns true. Instead of a bool, it may return a string: "" is true, and any other string
// is the reason for false.
template <typename Predicate>
void Eventually(const std::string& what, Predicate predicate, std::chrono::milliseconds timeout = kEventuallyTimeout) {
  if constexpr (std::is_same_v<std::invoke_result_t<Predicate>, bool>) {
    WaitFor(
        what, [&] { return predicate() ? std::string() : std::string("the condition is false"); }, timeout);
  } else {
    WaitFor(
        what, [&] { return std::string(predicate()); }, timeout);
  }
}

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_EVENTUALLY_H_
