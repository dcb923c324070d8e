// For what runs code of somebody else, or on a thread of its own: an exception that nobody catches ends the process.
#ifndef OPERATOR_BASE_GUARD_H_
#define OPERATOR_BASE_GUARD_H_

#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include "operator/base/error.h"

namespace yad {

// What `function` returns, a Result; what it throws becomes an Error of kInternalError.
template <typename Function>
std::invoke_result_t<Function> Guard(Function&& function) {
  try {
    return std::forward<Function>(function)();
  } catch (const std::exception& exception) {
    return Fail(Reason::kInternalError, std::string("an exception escaped: ") + exception.what());
  } catch (...) {
    return Fail(Reason::kInternalError, "an unknown exception escaped");
  }
}

}  // namespace yad

#endif  // OPERATOR_BASE_GUARD_H_
