// The nodes and pods of a snapshot, as a plan considers them.
#ifndef OPERATOR_CAPACITY_SURVEY_H_
#define OPERATOR_CAPACITY_SURVEY_H_

#include <deque>
#include <vector>

#include "operator/api/node.h"
#include "operator/api/pod.h"
#include "operator/capacity/capacity_plan.h"
#include "operator/capacity/fit.h"
#include "operator/capacity/lease.h"

namespace yad {

// A node on which the plan may place pods. The planner changes it while the plan is made.
struct CandidateNode {
  const Node* node = nullptr;
  NodeShape shape;
  Resources room;
  int pods = 0;  // without pods of DaemonSets and static pods
  // Only for leased nodes.
  NodeLease lease;
  const Pod* expected = nullptr;  // the pod that the lease must name
  bool timed_out = false;         // the node did not join in time
  bool counted = false;           // as a node of a standby
  // Only for free nodes.
  bool evicts = false;  // the pool adds a NoExecute taint, which evicts running pods
  bool taken = false;
  std::vector<const Pod*> placed;  // pods that this plan places here

  bool joins() const { return lease.phase == LeasePhase::kJoining || lease.phase == LeasePhase::kReserved; }
  bool leaves() const { return timed_out || lease.phase == LeasePhase::kReleasing; }
  bool idles() const { return !leaves() && pods == 0 && expected == nullptr && placed.empty(); }
  // A joining node was Ready before its lease. The node may be not Ready for a moment, until its agents have observed
  // the pool.
  bool usable() const {
    return !leaves() && !node->unschedulable && !node->meta.deleting() && (node->ready() || joins());
  }
};

// Nodes in the order in which the plan tries them. While a plan is made, free resources only decrease. So a pod that
// did not fit on a node need not be tried on it again.
using CandidateNodes = std::vector<CandidateNode*>;

struct Survey {
  Survey() = default;
  Survey(Survey&&) = default;

  std::deque<CandidateNode> nodes;  // The other lists point to these.
  CandidateNodes leased, free;      // the smallest first
  std::vector<const Pod*> waiting;  // pods of the pool without a node, in the order in which they get nodes
  int quarantined = 0;
};

Survey MakeSurvey(const CapacityInput& input);

// Returns whether the pool may lease the node: the inventory selects it, and it is Ready, schedulable, in no pool, not
// leased, not quarantined and not being deleted.
bool IsFree(const Node& node, const NodePoolAutoscaler& autoscaler);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_SURVEY_H_
