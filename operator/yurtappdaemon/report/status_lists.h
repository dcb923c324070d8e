// The lists of a daemon's status. They are its largest part and rarely change, so they are compared with the status
// directly, and converted to Json only for a write.
#ifndef OPERATOR_YURTAPPDAEMON_REPORT_STATUS_LISTS_H_
#define OPERATOR_YURTAPPDAEMON_REPORT_STATUS_LISTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/object.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// An entry of `pools`. Fields that are "" are omitted.
struct PoolEntry {
  std::string_view name;
  PoolPhase phase = PoolPhase::kUnknown;
  std::string state;  // "" if there is no workload
  std::string reason;
  std::string message;
  std::string revision;
  std::string_view service;
  std::string since;  // lastTransitionTime
  std::string_view waiting_for;
  std::int64_t unhealthy_seconds = 0;     // on the pool's revision before `since`; 0 is omitted
  std::int64_t scaled_from = 0;           // spec.replicas before the present scaling; 0 is omitted
  std::string healthy_since;              // only for a pool that scales during its soak
  std::string check;                      // the check that runs or has failed
  std::string check_started;              // the time at which it began
  std::int64_t check_failures = 0;        // 0 is omitted
  const WorkloadRef* workload = nullptr;  // null: the pool has no workload
  std::int64_t misplaced = 0;             // pods on nodes that are not in the pool
};

// Points into the workloads and plans that it was made from.
struct StatusLists {
  std::vector<std::string_view> nodepools;
  std::vector<const WorkloadRef*> workloads;  // workloadSummary
  std::vector<PoolEntry> pools;

  bool AreShownBy(const Json& status) const;
  // Adds to `fields` the lists that differ from those of the status `before`.
  void AddChanged(const Json& before, Json& fields) const;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_REPORT_STATUS_LISTS_H_
