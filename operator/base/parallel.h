// A loop whose rounds run side by side.
#ifndef OPERATOR_BASE_PARALLEL_H_
#define OPERATOR_BASE_PARALLEL_H_

#include <cstddef>
#include <functional>

namespace yad {

// Calls body(0) … body(count - 1), at most `limit` at a time, on threads of its own (on the caller's where one is
// enough). Returns when all have returned, however they did: the first exception is thrown on then.
void ParallelFor(std::size_t count, std::size_t limit, const std::function<void(std::size_t)>& body);

}  // namespace yad

#endif  // OPERATOR_BASE_PARALLEL_H_
