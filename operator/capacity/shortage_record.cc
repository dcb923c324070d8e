#include "operator/capacity/shortage_record.h"

#include <algorithm>
#include <utility>

namespace yad {

ShortageRecord::ShortageRecord(const NodePoolAutoscaler& autoscaler, WallTime now,
                               const std::vector<const Pod*>& waiting)
    : autoscaler_(autoscaler), now_(now) {
  for (const Pod* pod : waiting) waiting_.emplace(pod->key.ToString(), pod);
}

void ShortageRecord::Add(const StringMap& requirements, const Pod* pod, const std::string& reason, WallTime retry_at) {
  const auto [entry, made] = shortages_.try_emplace({requirements, reason, retry_at});
  Shortage& shortage = entry->second;
  if (made) {
    shortage = {requirements, {}, reason, now_, retry_at};
    for (const Shortage& known : autoscaler_.shortages) {
      if (known.requirements == requirements && known.reason == reason) shortage.since = known.since;
    }
  }
  if (pod != nullptr) shortage.pods.push_back(pod->key.ToString());
}

void ShortageRecord::AddJoinTimeout(const StringMap& requirements) {
  const Shortage* known = FailureOf(requirements, nullptr);
  const bool again = known != nullptr && known->reason == shortage_reason::kJoinTimeout;
  const WallTime retry_at = again ? known->retry_at : now_ + autoscaler_.retry_after;
  Add(requirements, nullptr, shortage_reason::kJoinTimeout, retry_at);
  join_timeouts_.emplace(requirements, retry_at);
}

bool ShortageRecord::Waits(const Shortage& known) const {
  return known.retry_at > now_ && known.retry_at - now_ <= autoscaler_.retry_after;
}

const Shortage* ShortageRecord::BackoffOf(const Pod& pod) const {
  for (const Shortage& known : autoscaler_.shortages) {
    if (known.reason == shortage_reason::kUnschedulable && Waits(known) &&
        std::binary_search(known.pods.begin(), known.pods.end(), pod.key.ToString())) {
      return &known;
    }
  }
  return nullptr;
}

const Shortage* ShortageRecord::FailureOf(const StringMap& requirements, const Pod* pod) const {
  const auto now = join_timeouts_.find(requirements);
  if (now != join_timeouts_.end()) {
    return &shortages_.at({requirements, shortage_reason::kJoinTimeout, now->second});
  }
  for (const Shortage& known : autoscaler_.shortages) {
    if (known.reason != shortage_reason::kUnschedulable && Waits(known) && known.requirements == requirements &&
        Applies(known, pod)) {
      return &known;
    }
  }
  return nullptr;
}

bool ShortageRecord::Applies(const Shortage& known, const Pod* pod) const {
  if (known.reason != shortage_reason::kNoCapacity) return true;
  if (pod == nullptr) return known.pods.empty();
  bool any_waits = false;
  for (const std::string& name : known.pods) {
    const auto waits = waiting_.find(name);
    if (waits == waiting_.end()) continue;
    const Pod& other = *waits->second;
    if (*other.placement == *pod->placement && other.requests.FitsIn(pod->requests)) return true;
    any_waits = true;
  }
  return !any_waits;
}

bool ShortageRecord::IsNewSince(const CandidateNode& candidate, const Shortage& failed) const {
  WallTime since = ParseTime(candidate.node->meta.creation_timestamp);
  // After NoCapacity, a node that became Ready again counts as new. After JoinTimeout, only a node that was created
  // later counts as new, because a node that became Ready again may be the node that failed.
  if (failed.reason == shortage_reason::kNoCapacity) since = std::max(since, candidate.node->ready_since);
  // `retry_at - retry_after` is the time of the failure. Times are whole seconds, so a node that became available in
  // the second of the failure is tried again.
  return since >= failed.retry_at - autoscaler_.retry_after;
}

std::vector<Shortage> ShortageRecord::Take() {
  // Keeps each JoinTimeout shortage of an earlier plan until its retry, even if its pods no longer wait, because new
  // pods must also wait for the retry.
  for (const Shortage& known : autoscaler_.shortages) {
    if (known.reason != shortage_reason::kJoinTimeout || !Waits(known)) continue;
    const auto [entry, made] = shortages_.try_emplace({known.requirements, known.reason, known.retry_at}, known);
    if (made) entry->second.pods.clear();
  }
  std::vector<Shortage> sorted;
  sorted.reserve(shortages_.size());
  for (auto& [key, shortage] : shortages_) {
    std::sort(shortage.pods.begin(), shortage.pods.end());
    sorted.push_back(std::move(shortage));
  }
  return sorted;
}

}  // namespace yad
