// The shortages of a plan: the pods and standbys for which there is no node.
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

// Collects the shortages of one plan, and finds the shortages of earlier plans in the status of the autoscaler. Not
// thread-safe.
class ShortageRecord {
 public:
  // `waiting` contains the pods without a node. The autoscaler and the pods must outlive the record.
  ShortageRecord(const NodePoolAutoscaler& autoscaler, WallTime now, const std::vector<const Pod*>& waiting);

  // Adds `pod` to the shortage with these requirements, reason and retry time; nullptr: the shortage of a standby.
  void Add(const StringMap& requirements, const Pod* pod, const std::string& reason, WallTime retry_at);
  // Adds a shortage for a node that did not join in time. Until the retry of this shortage, plans lease only newer
  // nodes for the same requirements.
  void AddJoinTimeout(const StringMap& requirements);

  // Returns the pod's Unschedulable shortage from an earlier plan. Returns nullptr if there is none, or if its retry is
  // due.
  const Shortage* BackoffOf(const Pod& pod) const;
  // Returns a shortage with these requirements that applies to `pod`, or to a standby if `pod` is nullptr. Ignores
  // shortages whose retry is due, and Unschedulable shortages: their pods had a node, but the scheduler did not place
  // them on it. Returns nullptr if no shortage remains.
  const Shortage* FailureOf(const StringMap& requirements, const Pod* pod) const;
  // Returns whether the node became available after the failure that `failed` records. The plan tries this node before
  // the retry is due.
  bool IsNewSince(const CandidateNode& candidate, const Shortage& failed) const;

  // Returns all shortages of this plan, sorted. Must be called last, and only once.
  std::vector<Shortage> Take();

 private:
  // Returns whether the retry is in the future. A retry that is more than retryAfterSeconds away counts as due, because
  // the clock was set back, or retryAfterSeconds was reduced.
  bool Waits(const Shortage& known) const;
  // Returns whether the shortage `known` of an earlier plan also applies to `pod`, or to a standby if `pod` is nullptr.
  // A shortage with another reason than NoCapacity always applies. A NoCapacity shortage applies to a standby if it has
  // no pods. It applies to `pod` in two cases:
  // - One of its pods still waits, has the same placement as `pod`, and requests at most as much.
  // - None of its pods still waits.
  bool Applies(const Shortage& known, const Pod* pod) const;

  const NodePoolAutoscaler& autoscaler_;
  const WallTime now_;
  std::unordered_map<std::string, const Pod*> waiting_;  // by namespace/name
  // The retry times of the JoinTimeout shortages that this plan has added. The keys are the requirements.
  std::map<StringMap, WallTime> join_timeouts_;
  std::map<std::tuple<StringMap, std::string, WallTime>, Shortage> shortages_;
};

}  // namespace yad

#endif  // OPERATOR_CAPACITY_SHORTAGE_RECORD_H_
