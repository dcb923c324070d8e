// Exponential backoff for actions that another client keeps reverting or that the server keeps rejecting.
#ifndef OPERATOR_BASE_RETRY_PACE_H_
#define OPERATOR_BASE_RETRY_PACE_H_

#include <chrono>
#include <string>
#include <unordered_map>

#include "operator/base/clock.h"

namespace yad {

// Computes the delay before each retry of an action, separately for each name. Not thread-safe.
// - The first `at_once` attempts have no delay, so that a user's manual change is reverted immediately.
// - The next attempt has a delay of 1 s, which doubles with each further attempt, up to 5 min.
// - The attempts of a name are forgotten if no further attempt follows within `quiet` after the delay.
class RetryPace {
 public:
  explicit RetryPace(int at_once = 5, Duration quiet = std::chrono::minutes(1)) : at_once_(at_once), quiet_(quiet) {}

  // Returns how long to wait before the next attempt, or zero if it may start now.
  Duration Wait(const std::string& name, SteadyTime now) const;
  // Records an attempt. Returns true if the next attempt will be the first with a delay.
  bool Tried(const std::string& name, SteadyTime now);
  // Forgets the earlier attempts of `name`.
  void Forget(const std::string& name) { entries_.erase(name); }

 private:
  struct Entry {
    int in_a_row = 0;
    SteadyTime last;
  };
  Duration Delay(const Entry& entry) const;
  bool IsOver(const Entry& entry, SteadyTime now) const;

  int at_once_;
  Duration quiet_;
  SteadyTime swept_;  // time of the last removal of old entries
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace yad

#endif  // OPERATOR_BASE_RETRY_PACE_H_
