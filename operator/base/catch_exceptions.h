// Converts exceptions to Errors. Otherwise, an exception in a thread would terminate the process.
#ifndef OPERATOR_BASE_CATCH_EXCEPTIONS_H_
#define OPERATOR_BASE_CATCH_EXCEPTIONS_H_

#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include "operator/base/error.h"

namespace yad {

// Returns the Result of `function`, or kInternalError if it throws an exception.
template <typename Function>
std::invoke_result_t<Function> CatchExceptions(Function&& function) {
  try {
    return std::forward<Function>(function)();
  } catch (const std::exception& exception) {
    return Fail(Reason::kInternalError, std::string("unhandled exception: ") + exception.what());
  } catch (...) {
    return Fail(Reason::kInternalError, "unhandled exception of an unknown type");
  }
}

}  // namespace yad

#endif  // OPERATOR_BASE_CATCH_EXCEPTIONS_H_
