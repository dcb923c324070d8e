// How often one thing is repaired while somebody keeps undoing it.
#ifndef OPERATOR_BASE_REPAIR_PACE_H_
#define OPERATOR_BASE_REPAIR_PACE_H_

#include <string>
#include <unordered_map>

#include "operator/base/clock.h"

namespace yad {

// A change by hand is repaired at once. From the sixth repair of one thing in quick succession on, each waits twice as
// long as the one before: a second at first, five minutes at most. Not thread-safe.
class RepairPace {
 public:
  // How long the next repair of this one has to wait; zero: not at all.
  Duration Wait(const std::string& name, SteadyTime now) const;
  // It was repaired now. True where this makes the next one wait for the first time.
  bool Repaired(const std::string& name, SteadyTime now);

 private:
  struct Entry {
    int in_a_row = 0;
    SteadyTime last;
  };
  static Duration Delay(const Entry& entry);
  static bool IsOver(const Entry& entry, SteadyTime now);
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace yad

#endif  // OPERATOR_BASE_REPAIR_PACE_H_
