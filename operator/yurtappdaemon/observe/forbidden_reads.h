// Decides whether the operator permanently lacks the permission to read objects of a type.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_FORBIDDEN_READS_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_FORBIDDEN_READS_H_

#include <optional>
#include <string>

#include "operator/base/clock.h"
#include "operator/base/synchronized.h"

namespace yad {

// If reads have been Forbidden for this time, the operator concludes that it lacks the permission. During an
// installation, reads are Forbidden for a shorter time, because the role is created after the Deployment.
inline constexpr Duration kForbiddenIsPermanentAfter = std::chrono::seconds(30);

// Returns whether `last_error` of an informer shows that its reads are Forbidden.
bool IsForbidden(const std::string& last_error);
// Returns a message for status that `objects` (such as "the Jobs") can't be read. If the reads are Forbidden, the
// message also contains `value`, the Helm value that grants the permission (such as "checks.jobs").
std::string DescribeUnreadable(const std::string& objects, const std::string& last_error, const std::string& value);

// Remembers when an informer's reads became Forbidden. Thread-safe.
class ForbiddenReads {
 public:
  // `consequence` is the warning to log when the result of IsPermanentlyForbidden changes to true.
  explicit ForbiddenReads(const char* consequence) : consequence_(consequence) {}

  // Returns whether the reads have been Forbidden for kForbiddenIsPermanentAfter. `last_error` is the informer's last
  // error, or "" if there is none. If `last_error` is not Forbidden, the time starts again at the next Forbidden error.
  bool IsPermanentlyForbidden(const std::string& last_error, SteadyTime now);

 private:
  struct State {
    std::optional<SteadyTime> since;  // the time of the first call with a Forbidden error
    bool warned = false;
  };

  const char* const consequence_;
  Synchronized<State> state_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_FORBIDDEN_READS_H_
