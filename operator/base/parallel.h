// A loop that runs its iterations in parallel.
#ifndef OPERATOR_BASE_PARALLEL_H_
#define OPERATOR_BASE_PARALLEL_H_

#include <cstddef>
#include <functional>

namespace yad {

// Calls body(0) … body(count - 1), at most `limit` at the same time, on the caller's thread and on at most `limit` - 1
// new threads. Returns when all calls have ended. An exception does not stop the other calls. The first exception is
// rethrown at the end.
void ParallelFor(std::size_t count, std::size_t limit, const std::function<void(std::size_t)>& body);

}  // namespace yad

#endif  // OPERATOR_BASE_PARALLEL_H_
