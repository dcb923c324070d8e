// Runs the iterations of a loop in parallel.
#ifndef OPERATOR_BASE_PARALLEL_H_
#define OPERATOR_BASE_PARALLEL_H_

#include <cstddef>
#include <functional>

namespace yad {

// Calls body(0) … body(count - 1), and returns when all calls have ended.
// - At most `limit` calls run at the same time, on the caller's thread and on new threads.
// - An exception does not stop the other calls. The first exception is rethrown at the end.
void ParallelFor(std::size_t count, std::size_t limit, const std::function<void(std::size_t)>& body);

}  // namespace yad

#endif  // OPERATOR_BASE_PARALLEL_H_
