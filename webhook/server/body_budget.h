// The memory for large request bodies and replies, shared by all connections.
#ifndef WEBHOOK_SERVER_BODY_BUDGET_H_
#define WEBHOOK_SERVER_BODY_BUDGET_H_

#include <cstddef>
#include <map>
#include <mutex>

#include "operator/base/clock.h"

namespace yad {

// Divides a number of bytes among connections. If too few bytes are left, the budget aborts the connections that have
// waited longest for their clients, so that slow clients cannot block other clients. Thread-safe.
class BodyBudget {
 public:
  class Holder {
   public:
    virtual ~Holder() = default;
    // Returns since when (in ticks of the steady clock) the connection has waited for its client. 0: it does not wait,
    // or was aborted. Thread-safe, like Abort.
    virtual SteadyTime::rep waits_since() const = 0;
    // Closes the connection soon. Must not call Set on the same thread.
    virtual void Abort() = 0;
  };

  explicit BodyBudget(std::size_t bytes) : left_(bytes) {}
  // Sets the number of bytes that `holder` takes. If too few bytes are left, first aborts holders that have waited for
  // their clients longer than `holder`, the longest wait first. Returns false, and sets the number to 0, if this frees
  // too few bytes, or if `holder` was aborted. A holder must set 0 before its destruction.
  bool Set(Holder& holder, std::size_t bytes);

 private:
  std::mutex mutex_;
  std::size_t left_;
  std::map<Holder*, std::size_t> taken_;
};

}  // namespace yad

#endif  // WEBHOOK_SERVER_BODY_BUDGET_H_
