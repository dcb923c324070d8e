// Converts exceptions to Errors. Otherwise, an exception in a thread would terminate the process.
#ifndef OPERATOR_BASE_CATCH_EXCEPTIONS_H_
#define OPERATOR_BASE_CATCH_EXCEPTIONS_H_

#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include "operator/base/error.h"

namespace yad {

// Returns the Result of `function`, or kInternalError if it throws an exception. The Result of a void function is a
// Status.
template <typename Function, typename Returned = std::invoke_result_t<Function>>
std::conditional_t<std::is_void_v<Returned>, Status, Returned> CatchExceptions(Function&& function) {
  try {
    if constexpr (std::is_void_v<Returned>) {
      std::forward<Function>(function)();
      return {};
    } else {
      return std::forward<Function>(function)();
    }
  } catch (const std::exception& exception) {
    return Fail(Reason::kInternalError, std::string("unhandled exception: ") + exception.what());
  } catch (...) {
    return Fail(Reason::kInternalError, "unhandled exception of an unknown type");
  }
}

}  // namespace yad

#endif  // OPERATOR_BASE_CATCH_EXCEPTIONS_H_
