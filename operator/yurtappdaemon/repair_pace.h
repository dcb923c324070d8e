// How often one workload, or Service, is repaired while somebody keeps undoing it.
#ifndef OPERATOR_YURTAPPDAEMON_REPAIR_PACE_H_
#define OPERATOR_YURTAPPDAEMON_REPAIR_PACE_H_

#include <string>
#include <unordered_map>
#include <vector>

#include "operator/base/clock.h"
#include "operator/yurtappdaemon/apply.h"
#include "operator/yurtappdaemon/plan.h"

namespace yad {

// A change by hand is repaired at once. From the sixth repair of a workload in quick succession on, each waits twice as
// long as the one before: a second at first, five minutes at most. Not thread-safe: one per daemon.
class RepairPace {
 public:
  // How long the next repair of this workload has to wait; zero: not at all.
  Duration Wait(const std::string& workload, SteadyTime now) const;
  // It was repaired now. True where this makes the next one wait for the first time.
  bool Repaired(const std::string& workload, SteadyTime now);

 private:
  struct Entry {
    int in_a_row = 0;
    SteadyTime last;
  };
  static Duration Delay(const Entry& entry);
  static bool IsOver(const Entry& entry, SteadyTime now);
  std::unordered_map<std::string, Entry> entries_;
};

// Takes the repairs out of the plan that have to wait. Returns how long the first of them has to; zero: none has.
Duration HoldBackRepairs(Plan& plan, const RepairPace& pace, SteadyTime now);
// Notes the repairs that were made. Returns the pools whose workloads (or Services) are repaired more seldom from now
// on.
std::vector<std::string> CountRepairs(const Applied& applied, RepairPace& pace, SteadyTime now);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_REPAIR_PACE_H_
