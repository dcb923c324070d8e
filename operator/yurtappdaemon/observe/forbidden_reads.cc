#include "operator/yurtappdaemon/observe/forbidden_reads.h"

#include <utility>

#include "operator/base/log.h"

namespace yad {

bool IsForbidden(const std::string& last_error) { return last_error.find(": Forbidden: ") != std::string::npos; }

std::string DescribeUnreadable(const std::string& objects, const std::string& last_error, const std::string& value) {
  std::string text = objects + " can't be read: " + last_error;
  if (IsForbidden(last_error)) text += "; set " + value + "=true in the values of the Helm chart";
  return text;
}

bool ForbiddenReads::IsPermanentlyForbidden(const std::string& last_error, SteadyTime now) {
  const bool forbidden = IsForbidden(last_error);
  bool warn = false;
  const bool is_permanent = state_.With([&](State& state) {
    if (!forbidden) {
      state = {};
      return false;
    }
    if (!state.since) state.since = now;
    if (now - *state.since < kForbiddenIsPermanentAfter) return false;
    warn = !std::exchange(state.warned, true);
    return true;
  });
  if (warn) log::Warn(consequence_, {{"error", last_error}});
  return is_permanent;
}

}  // namespace yad
