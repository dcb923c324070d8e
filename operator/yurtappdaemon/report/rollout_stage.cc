#include "operator/yurtappdaemon/report/rollout_stage.h"

#include "operator/api/conditions.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"
#include "operator/yurtappdaemon/observe/status_view.h"
#include "operator/yurtappdaemon/report/rollout_progress.h"

namespace yad {
namespace {

RolloutStage StageOf(const std::string& reason) {
  if (reason == kWaitingForApproval) return RolloutStage::kWaitsForApproval;
  if (reason == kBudgetExceeded || reason == kDeadlineExceeded || reason == kRollingBack) return RolloutStage::kStopped;
  if (reason == kRolledBack) return RolloutStage::kRollbackComplete;
  return RolloutStage::kUnderway;
}

}  // namespace

ShownStage ShownStageOf(const Json& status) {
  const Json* complete = FindConditionIn(status, kCompleteCondition);
  const bool ended = IsTrue(complete);
  const Json* shown = ended ? complete : FindConditionIn(status, kProgressingCondition);
  if (shown == nullptr) return {};
  ShownStage state;
  state.reason = StringAt(*shown, {"reason"});
  state.message = StringAt(*shown, {"message"});
  state.since = StringAt(*shown, {"lastTransitionTime"});
  state.stage = ended ? RolloutStage::kComplete : StageOf(state.reason);
  return state;
}

bool HasEnded(RolloutStage stage) {
  return stage == RolloutStage::kComplete || stage == RolloutStage::kRollbackComplete;
}

RolloutKey RolloutKeyOf(const Snapshot& snapshot, const RevisionHistory::State& revisions, const Json& status) {
  RolloutKey key{snapshot.daemon.meta.uid, StatusView(status).update_revision(), 0};
  if (key.revision == snapshot.update->name) {
    key.number = snapshot.update->number;
    return key;
  }
  for (const ObjectPtr& revision : revisions.all) {
    if (revision->meta().key.name == key.revision) key.number = ProjectionOf<RevisionProjection>(revision).number;
  }
  return key;
}

}  // namespace yad
