// Exponential backoff for actions that another actor keeps reverting or rejecting.
#ifndef OPERATOR_BASE_RETRY_PACE_H_
#define OPERATOR_BASE_RETRY_PACE_H_

#include <string>
#include <unordered_map>

#include "operator/base/clock.h"

namespace yad {

// Exponential backoff for each name. The first `at_once` tries have no delay, so that a user's manual change is
// reverted immediately. The next try has a delay of 1 s. Each later delay is twice the one before, up to 5 min. If a
// name is not tried for its delay and one more minute, its next try counts as the first one. Not thread-safe.
class RetryPace {
 public:
  explicit RetryPace(int at_once = 5) : at_once_(at_once) {}

  // Returns the time until `name` may be tried; zero if it may be tried now.
  Duration Wait(const std::string& name, SteadyTime now) const;
  // Records a try at `now`. Returns true if the next try is the first one with a delay.
  bool Tried(const std::string& name, SteadyTime now);
  // Resets `name`, so that its next try counts as the first one.
  void Forget(const std::string& name) { entries_.erase(name); }

 private:
  struct Entry {
    int in_a_row = 0;
    SteadyTime last;
  };
  Duration Delay(const Entry& entry) const;
  bool IsOver(const Entry& entry, SteadyTime now) const;

  int at_once_;
  SteadyTime swept_;  // the last removal of old entries (IsOver)
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace yad

#endif  // OPERATOR_BASE_RETRY_PACE_H_
