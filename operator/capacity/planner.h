// What to lease for one pool, and what to give back. Pure: a function of one snapshot, deterministic under any order of
// its nodes and pods; nothing is remembered but what the snapshot says.
#ifndef OPERATOR_CAPACITY_PLANNER_H_
#define OPERATOR_CAPACITY_PLANNER_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/node.h"
#include "operator/api/pod.h"
#include "operator/capacity/autoscaler.h"
#include "operator/capacity/lease.h"

namespace yad {

struct CapacityInput {
  const NodePoolAutoscaler& autoscaler;
  PoolAttributes pool;             // what a node gets when it joins
  bool pool_gone = false;          // or going: as Drain
  bool stopped = false;            // Auto is refused (conditions say why): nothing is leased or given back
  std::vector<const Node*> nodes;  // the pool's, and those that may be spare
  std::vector<const Pod*> pods;    // those on these nodes, and those that wait
  WallTime now;
};

struct CapacityPlan {
  struct Lease {
    const Node* node = nullptr;  // nullptr: no free node is of that shape
    std::vector<const Pod*> pods;
    std::string standby;     // the entry that it is for, where there are no pods
    StringMap requirements;  // labels that the pods or the standby ask for
  };
  struct Release {
    enum class Cause { kIdle, kNotReady, kNotJoined, kDraining };
    const Node* node = nullptr;
    NodeLease lease;     // as the node has it
    bool begun = false;  // its phase is Releasing already
    Cause cause = Cause::kIdle;
  };
  struct Change {
    const Node* node = nullptr;
    NodeLease before, after;
    const Pod* pod = nullptr;  // that is expected from now on
  };
  struct StandbyCount {
    std::string name;
    int want = 0;
    int have = 0;  // idle and healthy now
  };

  std::vector<Lease> leases;                        // within the cycle's limit; those without a node too
  std::vector<Release> releases;                    // by name of node
  std::vector<Change> changes;                      // of leased nodes that stay
  std::map<std::string, std::string> expectations;  // namespace/name of a pod that waits -> node
  std::vector<Shortage> shortages;                  // sorted
  int leased = 0, idle = 0, in_use = 0, joining = 0, releasing = 0, quarantined = 0;
  std::vector<StandbyCount> standby;
  std::optional<WallTime> wake;  // when time alone will change the plan
};

CapacityPlan PlanCapacity(const CapacityInput& input);

// {"leases": [{"node", "for"}], "releases": [], "expectations": {}, "shortages": []}
Json ToJson(const CapacityPlan& plan);

// Why a node is kept out of the inventory when its release is complete; "" where it is not.
std::string QuarantineReason(const NodePoolAutoscaler& autoscaler, const Node& node, const NodeLease& lease,
                             WallTime now);

// Whether the node is in no pool, leased by nobody, Ready, schedulable, and not quarantined.
bool IsFree(const Node& node, const NodePoolAutoscaler& autoscaler);
// The labels that a pod asks of a node, but that of the pool.
StringMap RequirementsOf(const Pod& pod);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_PLANNER_H_
