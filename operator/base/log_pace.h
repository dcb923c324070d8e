// Limits how often texts that another program chooses are logged.
#ifndef OPERATOR_BASE_LOG_PACE_H_
#define OPERATOR_BASE_LOG_PACE_H_

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "operator/base/clock.h"

namespace yad {

// Decides which texts are logged: each text once an hour, and at most 10 texts a minute. Remembers the last 256 texts
// that were logged. Not thread-safe.
class LogPace {
 public:
  // Returns nullopt if this text must not be logged now. Otherwise returns the number of texts that the limit for a
  // minute has omitted since the last text that was logged.
  std::optional<std::size_t> Admit(std::string_view text, SteadyTime now);

 private:
  std::unordered_map<std::size_t, SteadyTime> logged_;  // times by hash of the text
  SteadyTime minute_;                                   // begin of the minute for which the next two count
  int in_minute_ = 0;
  std::size_t omitted_ = 0;
};

}  // namespace yad

#endif  // OPERATOR_BASE_LOG_PACE_H_
