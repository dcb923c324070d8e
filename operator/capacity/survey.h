// Sorts the nodes and pods of a CapacityInput for the planner.
#ifndef OPERATOR_CAPACITY_SURVEY_H_
#define OPERATOR_CAPACITY_SURVEY_H_

#include <algorithm>
#include <deque>
#include <vector>

#include "operator/api/node.h"
#include "operator/api/pod.h"
#include "operator/capacity/capacity_plan.h"
#include "operator/capacity/fit.h"
#include "operator/capacity/lease.h"

namespace yad {

// A node on which the plan may place pods. The planner updates it for each pod that it places.
struct CandidateNode {
  const Node* node = nullptr;
  NodeShape shape;
  Resources room;
  int pods = 0;                    // number of pods, without those of DaemonSets and static pods
  NodeLease lease;                 // only for leased nodes
  const Pod* expected = nullptr;   // the pod that the node is reserved for
  std::vector<const Pod*> placed;  // pods that this plan places on the node
  bool timed_out = false;          // only for leased nodes: the node did not join in time
  bool counted = false;            // only for leased nodes: the node counts for a standby
  bool evicts = false;             // only for free nodes: a taint of the pool would evict the node's pods
  bool taken = false;              // only for free nodes: this plan leases the node

  bool joins() const { return lease.phase == LeasePhase::kJoining || lease.phase == LeasePhase::kReserved; }
  bool leaves() const { return timed_out || lease.phase == LeasePhase::kReleasing; }
  bool idles() const { return !leaves() && pods == 0 && expected == nullptr && placed.empty(); }
  // Returns whether the planner may place pods on the node. A joining node does not have to be Ready, because its
  // agents may need some time to adapt to the pool.
  bool usable() const {
    return !leaves() && !node->unschedulable && !node->meta.deleting() && (node->ready() || joins());
  }
  // Returns when the lease or the condition Ready changed last. Ignores a change of Ready that is later than `now` by
  // more than `tolerance`, because its time comes from a wrong clock.
  WallTime LastChange(WallTime now, Duration tolerance) const {
    return node->ready_since > now + tolerance ? lease.since : std::max(lease.since, node->ready_since);
  }
};

// Nodes in the order in which the planner tries them. During a plan, their free resources only decrease. So if a pod
// does not fit on a node, a later search for an equal pod can skip this node.
using CandidateNodes = std::vector<CandidateNode*>;

// Cannot be copied, because `leased` and `free` point to the elements of `nodes`.
struct Survey {
  Survey() = default;
  Survey(Survey&&) = default;

  std::deque<CandidateNode> nodes;
  CandidateNodes leased, free;      // smallest nodes first
  std::vector<const Pod*> waiting;  // pods that need a node of the pool, in the order of planning
  int quarantined = 0;
};

Survey MakeSurvey(const CapacityInput& input);

// Returns whether the pool may lease the node. All of these must be true:
// - The inventory selects the node.
// - The node is Ready and schedulable, and is not being deleted.
// - The node has no pool, lease or quarantine.
bool IsFree(const Node& node, const NodePoolAutoscaler& autoscaler);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_SURVEY_H_
