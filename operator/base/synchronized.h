// A value and its mutex. The value can be accessed only while the mutex is locked.
#ifndef OPERATOR_BASE_SYNCHRONIZED_H_
#define OPERATOR_BASE_SYNCHRONIZED_H_

#include <mutex>
#include <utility>

namespace yad {

// Usage: `value.With([](T& value) { ... })`. The method With locks the mutex, calls the function, and returns its
// result. Thread-safe.
template <typename T>
class Synchronized {
 public:
  template <typename... Args>
  explicit Synchronized(Args&&... args) : value_(std::forward<Args>(args)...) {}

  template <typename Function>
  decltype(auto) With(Function&& function) {
    std::lock_guard lock(mutex_);
    return std::forward<Function>(function)(value_);
  }
  template <typename Function>
  decltype(auto) With(Function&& function) const {
    std::lock_guard lock(mutex_);
    return std::forward<Function>(function)(value_);
  }

 private:
  mutable std::mutex mutex_;
  T value_;
};

}  // namespace yad

#endif  // OPERATOR_BASE_SYNCHRONIZED_H_
