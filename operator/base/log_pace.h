// Limits how often messages that come from another program are logged.
#ifndef OPERATOR_BASE_LOG_PACE_H_
#define OPERATOR_BASE_LOG_PACE_H_

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "operator/base/clock.h"

namespace yad {

// Decides which messages are logged: each message once an hour, and at most 10 messages a minute. Remembers the last
// 256 messages that were logged. Not thread-safe.
class LogPace {
 public:
  // Returns nullopt if the message must not be logged now. Otherwise, returns the number of messages that the limit per
  // minute has omitted since the last logged message.
  std::optional<std::size_t> Admit(std::string_view text, SteadyTime now);

 private:
  std::unordered_map<std::size_t, SteadyTime> logged_;  // times by hash of the message
  SteadyTime minute_;                                   // the start of the current minute
  int in_minute_ = 0;                                   // messages that were logged in this minute
  std::size_t omitted_ = 0;  // messages that the limit per minute has omitted since the last logged message
};

}  // namespace yad

#endif  // OPERATOR_BASE_LOG_PACE_H_
