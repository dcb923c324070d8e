#include "plugin/view/progress.h"

#include <nlohmann/json.hpp>

#include "operator/api/conditions.h"
#include "operator/yurtappdaemon/observe/status_view.h"

namespace yad {
namespace {

std::string Counts(const Progress& progress) {
  std::string text = std::to_string(progress.updated) + " of " + std::to_string(progress.desired) + " pools updated";
  if (progress.failed > 0) text += ", " + std::to_string(progress.failed) + " failed";
  if (progress.offline > 0) text += ", " + std::to_string(progress.offline) + " offline";
  return text;
}

// Returns the message without the counts at its beginning.
std::string WithoutCounts(const Progress& progress) {
  std::string counts =
      std::to_string(progress.updated) + " of " + std::to_string(progress.desired) + " pools are updated";
  const std::string failed = ", " + std::to_string(progress.failed) + " failed";
  if (progress.message.starts_with(counts + failed)) counts += failed;
  if (!progress.message.starts_with(counts)) return progress.message;
  const std::string rest = progress.message.substr(counts.size());
  return rest.starts_with("; ") || rest.starts_with(", ") ? rest.substr(2) : rest;
}

// Returns whether the rollout is complete. Uses condition Complete. Older operators set only Progressing. As in a
// StatefulSet, a rollout with a partition does not include the pools of the partition.
bool IsComplete(const Json& daemon, const std::string& progressing_reason) {
  if (progressing_reason == "PartitionReached") return true;
  const Json* complete = FindCondition(daemon, kCompleteCondition);
  return complete == nullptr ? progressing_reason == "RolloutComplete" : StringAt(*complete, {"status"}) == "True";
}

}  // namespace

Progress ReadProgress(const Json& daemon) {
  Progress progress;
  const std::string name = "yurtappdaemon \"" + StringAt(daemon, {"metadata", "name"}) + "\"";
  const std::int64_t generation = IntAt(daemon, {"metadata", "generation"});
  progress.desired = IntAt(daemon, {"status", "desiredPools"});
  progress.updated = IntAt(daemon, {"status", "updatedPools"});
  progress.ready = IntAt(daemon, {"status", "readyPools"});
  progress.failed = IntAt(daemon, {"status", "failedPools"});
  progress.offline = IntAt(daemon, {"status", "offlinePools"});

  const Json* progressing = FindCondition(daemon, kProgressingCondition);
  progress.observed = IntAt(daemon, {"status", "observedGeneration"}) >= generation && progressing != nullptr &&
                      IntAt(*progressing, {"observedGeneration"}, generation) >= generation;
  if (!progress.observed) {
    progress.line = "Waiting for the operator to observe the spec of " + name + "...";
    return progress;
  }
  // If all pools are offline, Progressing has reason RolloutComplete, but the rollout is not complete.
  const Json* complete = FindCondition(daemon, kCompleteCondition);
  const bool all_offline = complete != nullptr && StringAt(*complete, {"reason"}) == "AllPoolsOffline";
  const Json& cause = all_offline ? *complete : *progressing;
  progress.reason = StringAt(cause, {"reason"});
  progress.message = StringAt(cause, {"message"});
  const std::string details = WithoutCounts(progress);
  const std::string why = progress.reason + (details.empty() ? "" : ": " + details);
  if (StringAt(*progressing, {"status"}) == "False") {
    progress.state = RolloutOutcome::kStopped;
    progress.line = "the rollout of " + name + " has stopped with " + Counts(progress) + ": " + why;
  } else if (IsComplete(daemon, progress.reason)) {
    progress.state = RolloutOutcome::kComplete;
    const bool all = progress.updated >= progress.desired;  // The other pools are in the partition.
    progress.line = name + (all ? " successfully rolled out" : " rolled out with " + Counts(progress));
    if (!all && !details.empty()) progress.line += " (" + details + ")";
    if (all && progress.offline > 0) {
      progress.line += " (" + std::to_string(progress.offline) + " of " + std::to_string(progress.desired) +
                       " pools are offline, and are updated when they are online again)";
    }
  } else {
    progress.line = "Waiting for the rollout of " + name + " to finish: " + Counts(progress) + " (" + why + ")...";
  }
  return progress;
}

std::string WhyRemovalsAreBlocked(const Json& daemon) {
  const Json* blocked = FindCondition(daemon, kRemovalBlockedCondition);
  return IsTrue(blocked) ? StringAt(*blocked, {"message"}) : "";
}

}  // namespace yad
