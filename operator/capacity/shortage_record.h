// The pods and standbys that get no node in a plan, and those of earlier plans.
#ifndef OPERATOR_CAPACITY_SHORTAGE_RECORD_H_
#define OPERATOR_CAPACITY_SHORTAGE_RECORD_H_

#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "operator/api/pod.h"
#include "operator/capacity/autoscaler.h"
#include "operator/capacity/survey.h"

namespace yad {

// Records the shortages of one plan. The shortages of earlier plans come from the autoscaler's status. One thread may
// use it.
class ShortageRecord {
 public:
  // The autoscaler and the pods must outlive the record. `waiting` are the pods without a node.
  ShortageRecord(const NodePoolAutoscaler& autoscaler, WallTime now, const std::vector<const Pod*>& waiting);

  // Records a shortage of `pod`; nullptr: of a standby.
  void Add(const StringMap& requirements, const Pod* pod, const std::string& reason, WallTime retry_at);
  // Records that a node did not join, so that later pods and standbys with these requirements do not try again in the
  // same plan.
  void AddJoinTimeout(const StringMap& requirements);

  // Returns the Unschedulable shortage of an earlier plan that contains the pod and still waits for its retry; nullptr
  // if there is none.
  const Shortage* BackoffOf(const Pod& pod) const;
  // Both return a shortage with these requirements whose retry is not due yet; nullptr if there is none. The shortage
  // of FailureOfStandby applies to standbys. The shortage of FailureOfPods applies to pods with the placement and the
  // requests of `pod`.
  const Shortage* FailureOfStandby(const StringMap& requirements) const;
  const Shortage* FailureOfPods(const StringMap& requirements, const Pod& pod) const;
  // Returns whether the node became available after the shortage began to wait for its retry.
  bool IsNewSince(const CandidateNode& candidate, const Shortage& failed) const;

  // Returns all shortages of this plan, sorted. The record must not be used afterwards.
  std::vector<Shortage> Take();

 private:
  // Returns whether the retry is not due yet. A retry that is further away than retryAfterSeconds is due: the clock was
  // set back, or retryAfterSeconds was reduced.
  bool Waits(const Shortage& known) const;
  template <typename Applies>
  const Shortage* Failure(const StringMap& requirements, const Applies& applies) const;
  bool AppliesToPods(const Shortage& known, const Pod& pod) const;

  const NodePoolAutoscaler& autoscaler_;
  const WallTime now_;
  std::unordered_map<std::string, const Pod*> waiting_;  // by namespace/name
  // The time of the retry of each JoinTimeout that this plan has added, by requirements.
  std::map<StringMap, WallTime> join_timeouts_;
  std::map<std::tuple<StringMap, std::string, WallTime>, Shortage> shortages_;
};

}  // namespace yad

#endif  // OPERATOR_CAPACITY_SHORTAGE_RECORD_H_
