// How often one thing is done again that somebody keeps undoing or refusing.
#ifndef OPERATOR_BASE_RETRY_PACE_H_
#define OPERATOR_BASE_RETRY_PACE_H_

#include <string>
#include <unordered_map>

#include "operator/base/clock.h"

namespace yad {

// Some in quick succession are done at once: a change by hand is repaired at once. After them, each waits twice as long
// as the one before: a second at first, five minutes at most. Not thread-safe.
class RetryPace {
 public:
  explicit RetryPace(int at_once = 5) : at_once_(at_once) {}

  // How long the next try of this one has to wait; zero: not at all.
  Duration Wait(const std::string& name, SteadyTime now) const;
  // It was done, or tried, now. True where this makes the next one wait for the first time.
  bool Tried(const std::string& name, SteadyTime now);
  // What comes next is the first one.
  void Forget(const std::string& name) { entries_.erase(name); }

 private:
  struct Entry {
    int in_a_row = 0;
    SteadyTime last;
  };
  Duration Delay(const Entry& entry) const;
  bool IsOver(const Entry& entry, SteadyTime now) const;

  int at_once_;
  SteadyTime swept_;  // what is over was thrown away
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace yad

#endif  // OPERATOR_BASE_RETRY_PACE_H_
