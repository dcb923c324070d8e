#include "operator/yurtappdaemon/observe/denial.h"

#include <utility>

#include "operator/base/log.h"

namespace yad {

bool Denial::IsBelieved(const std::string& last_error, SteadyTime now) {
  const bool forbidden = last_error.find(": Forbidden: ") != std::string::npos;
  bool warn = false;
  const bool believed = state_.With([&](State& state) {
    if (!forbidden) state = {};
    if (!forbidden) return false;
    if (!state.since) state.since = now;
    if (now - *state.since < kDenialBelievedAfter) return false;
    warn = !std::exchange(state.warned, true);
    return true;
  });
  if (warn) log::Warn(consequence_, {{"error", last_error}});
  return believed;
}

}  // namespace yad
