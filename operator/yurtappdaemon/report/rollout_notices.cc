#include "operator/yurtappdaemon/report/rollout_notices.h"

#include <utility>

#include "operator/notify/digest.h"
#include "operator/yurtappdaemon/observe/status_view.h"
#include "operator/yurtappdaemon/report/rollout_progress.h"

namespace yad {
namespace {

// After a start of the operator, the end of a rollout is not reported again if it is older than this.
constexpr Duration kRepeatEnds = std::chrono::hours(24);
constexpr char kTypePrefix[] = "io.openyurt.apps.yurtappdaemon.rollout.";

// In the order of RolloutStage.
constexpr const char* kStageNames[] = {"began", "waiting-for-approval", "stopped", "rolled-back", "complete"};

const char* StageName(RolloutStage stage) { return kStageNames[static_cast<std::size_t>(stage)]; }

// Returns a string that identifies a stage of a rollout.
// - The string of kUnderway never changes, because a rollout begins only once.
// - The string of kWaitsForApproval is different for each group.
std::string IdentityOf(const ShownStage& state) {
  std::string text = StageName(state.stage);
  if (state.stage == RolloutStage::kUnderway) return text;
  text += "|" + state.since + "|" + state.reason;
  if (state.stage == RolloutStage::kWaitsForApproval) text += "|" + state.message;
  return text;
}

// Returns the time at which the stage began, or nullopt if the status does not show it.
std::optional<WallTime> StageTime(const ShownStage& state) {
  // The condition may be older than these two stages. For example, Progressing is Unknown during a pause. It stays
  // Unknown if the rollout then waits for an approval, so its time is the start of the pause.
  if (state.reason == kRollingBack || state.stage == RolloutStage::kWaitsForApproval) return std::nullopt;
  const WallTime time = ParseTime(state.since);
  return time == WallTime() ? std::nullopt : std::optional(time);
}

}  // namespace

struct RolloutNotices::Subject {
  const ObjectMeta& meta;
  const Json& status;
};

void RolloutNotices::SendBegan(const Subject& subject, const RolloutKey& rollout, std::optional<WallTime> time) const {
  ShownStage began = ShownStageOf(subject.status);
  if (began.stage != RolloutStage::kUnderway) began.reason = began.message = "";
  began.stage = RolloutStage::kUnderway;
  SendStage(subject, rollout, began, time);
}

void RolloutNotices::SendStage(const Subject& subject, const RolloutKey& rollout, const ShownStage& state,
                               std::optional<WallTime> time) const {
  const ObjectKey& key = subject.meta.key;
  const Json& status = subject.status;
  const std::string number = std::to_string(rollout.number);
  CloudEvent event;
  event.id = Digest({rollout.uid, rollout.revision, number, IdentityOf(state)});
  event.source = "/apis/apps.openyurt.io/v1alpha1/namespaces/" + key.ns + "/yurtappdaemons/" + key.name;
  event.type = kTypePrefix + std::string(StageName(state.stage));
  event.subject = rollout.revision;
  event.time = time;
  event.data = {{"namespace", key.ns},
                {"name", key.name},
                {"uid", rollout.uid},
                {"revision", rollout.revision},
                {"revisionNumber", rollout.number},
                {"currentRevision", StringAt(status, {"currentRevision"})},
                {"reason", state.reason},
                {"message", state.message},
                {"images", StringAt(status, {"images"})}};
  for (const char* count : {"desiredPools", "updatedPools", "readyPools", "failedPools", "offlinePools"})
    event.data[count] = IntAt(status, {count});
  send_(event);
}

void RolloutNotices::Repeat(const Subject& subject, const RolloutKey& rollout, WallTime now, Memory& memory) const {
  const ShownStage state = ShownStageOf(subject.status);
  memory.rollout = rollout;
  memory.last = IdentityOf(state);
  memory.completed =
      state.stage == RolloutStage::kComplete || StringAt(subject.status, {"currentRevision"}) == rollout.revision;
  if (HasEnded(state.stage) && now - ParseTime(state.since) > kRepeatEnds) return;
  if (!memory.completed) SendBegan(subject, rollout, std::nullopt);
  if (state.stage == RolloutStage::kUnderway) return;
  SendStage(subject, rollout, state, StageTime(state));
  memory.alarmed = state.stage != RolloutStage::kComplete;
}

void RolloutNotices::SendChange(const Subject& subject, const RolloutKey& rollout, bool first, WallTime now,
                                Memory& memory) const {
  const ShownStage state = ShownStageOf(subject.status);
  const bool complete = state.stage == RolloutStage::kComplete;
  if (rollout != memory.rollout) {
    memory.rollout = rollout;
    memory.last.clear();
    // The daemon's first status may already show a complete rollout, because OpenYurt performed it, or because the
    // daemon has no pools. No notice is sent for this rollout.
    memory.completed = first && complete;
    memory.alarmed = false;
    if (!memory.completed) SendBegan(subject, rollout, now);
  }
  const std::string identity = IdentityOf(state);
  const std::string last = std::exchange(memory.last, identity);
  if (last == identity || state.stage == RolloutStage::kUnderway) return;
  if (complete && memory.completed && !memory.alarmed) return;
  memory.completed = memory.completed || complete;
  memory.alarmed = !complete;
  if (state.stage == RolloutStage::kRollbackComplete && !last.starts_with(StageName(RolloutStage::kStopped))) {
    // The rollback finished before any status showed that the rollout had stopped. So the notice about the stop is sent
    // now.
    ShownStage stopped = state;
    stopped.stage = RolloutStage::kStopped;
    stopped.reason = kRollingBack;
    SendStage(subject, rollout, stopped, now);
  }
  SendStage(subject, rollout, state, now);
}

void RolloutNotices::Report(const Snapshot& snapshot, const RevisionHistory::State& revisions, const Json& previous,
                            const Json& now, Memory& memory) const {
  const ObjectMeta& meta = snapshot.daemon.meta;
  const bool first = !StatusView(previous).is_ours();
  if (!std::exchange(memory.begun, true) && !first)
    Repeat({meta, previous}, RolloutKeyOf(snapshot, revisions, previous), snapshot.now, memory);
  SendChange({meta, now}, RolloutKeyOf(snapshot, revisions, now), first, snapshot.now, memory);
}

}  // namespace yad
