#include "operator/yurtappdaemon/report/rollout_notices.h"

#include <utility>

#include "operator/notify/digest.h"
#include "operator/yurtappdaemon/observe/status_view.h"
#include "operator/yurtappdaemon/report/rollout_progress.h"

namespace yad {
namespace {

// After a start of the operator, the end of a rollout is reported again only if it is at most this old.
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

// Sends the notices about one status of a daemon.
class StatusNotices {
 public:
  StatusNotices(const std::function<void(const CloudEvent&)>& send, const Snapshot& snapshot,
                const RevisionHistory::State& revisions, const Json& status)
      : send_(send),
        key_(snapshot.daemon.meta.key),
        now_(snapshot.now),
        status_(status),
        rollout_(RolloutKeyOf(snapshot, revisions, status)),
        shown_(ShownStageOf(status)) {}

  // Repeats the notices about the status, which an earlier process wrote.
  void Repeat(NoticeMemory& memory) const {
    memory.rollout = rollout_;
    memory.last = IdentityOf(shown_);
    memory.completed =
        shown_.stage == RolloutStage::kComplete || StringAt(status_, {"currentRevision"}) == rollout_.revision;
    if (HasEnded(shown_.stage) && now_ - ParseTime(shown_.since) > kRepeatEnds) return;
    if (!memory.completed) SendBegan(std::nullopt);
    if (shown_.stage == RolloutStage::kUnderway) return;
    Send(shown_, StageTime(shown_));
    memory.alarmed = shown_.stage != RolloutStage::kComplete;
  }

  // Sends the notices about the difference between the status and `memory`. `is_first` is true for the first status
  // that the operator writes for the daemon.
  void SendChange(bool is_first, NoticeMemory& memory) const {
    const bool complete = shown_.stage == RolloutStage::kComplete;
    if (rollout_ != memory.rollout) {
      memory.rollout = rollout_;
      memory.last.clear();
      // The first status may already show a complete rollout, because OpenYurt performed it, or because the daemon has
      // no pools. No notice is sent for this rollout.
      memory.completed = is_first && complete;
      memory.alarmed = false;
      if (!memory.completed) SendBegan(now_);
    }
    const std::string identity = IdentityOf(shown_);
    const std::string last = std::exchange(memory.last, identity);
    if (last == identity || shown_.stage == RolloutStage::kUnderway) return;
    if (complete && memory.completed && !memory.alarmed) return;
    memory.completed = memory.completed || complete;
    memory.alarmed = !complete;
    if (shown_.stage == RolloutStage::kRollbackComplete && !last.starts_with(StageName(RolloutStage::kStopped))) {
      // The rollback finished before any status showed that the rollout had stopped. So the notice about the stop is
      // sent now.
      ShownStage stopped = shown_;
      stopped.stage = RolloutStage::kStopped;
      stopped.reason = kRollingBack;
      Send(stopped, now_);
    }
    Send(shown_, now_);
  }

 private:
  void SendBegan(std::optional<WallTime> time) const {
    ShownStage began = shown_;
    if (began.stage != RolloutStage::kUnderway) began.reason = began.message = "";
    began.stage = RolloutStage::kUnderway;
    Send(began, time);
  }

  void Send(const ShownStage& shown, std::optional<WallTime> time) const {
    CloudEvent event;
    event.id = Digest({rollout_.uid, rollout_.revision, std::to_string(rollout_.number), IdentityOf(shown)});
    event.source = "/apis/apps.openyurt.io/v1alpha1/namespaces/" + key_.ns + "/yurtappdaemons/" + key_.name;
    event.type = kTypePrefix + std::string(StageName(shown.stage));
    event.subject = rollout_.revision;
    event.time = time;
    event.data = {{"namespace", key_.ns},
                  {"name", key_.name},
                  {"uid", rollout_.uid},
                  {"revision", rollout_.revision},
                  {"revisionNumber", rollout_.number},
                  {"currentRevision", StringAt(status_, {"currentRevision"})},
                  {"reason", shown.reason},
                  {"message", shown.message},
                  {"images", StringAt(status_, {"images"})}};
    for (const char* count : {"desiredPools", "updatedPools", "readyPools", "failedPools", "offlinePools"})
      event.data[count] = IntAt(status_, {count});
    send_(event);
  }

  const std::function<void(const CloudEvent&)>& send_;
  const ObjectKey& key_;
  const WallTime now_;
  const Json& status_;
  const RolloutKey rollout_;
  const ShownStage shown_;
};

}  // namespace

void ReportNotices(const std::function<void(const CloudEvent&)>& send, const Snapshot& snapshot,
                   const RevisionHistory::State& revisions, const Json& previous, const Json& now,
                   NoticeMemory& memory) {
  const bool is_first = !StatusView(previous).is_ours();
  if (!std::exchange(memory.begun, true) && !is_first)
    StatusNotices(send, snapshot, revisions, previous).Repeat(memory);
  StatusNotices(send, snapshot, revisions, now).SendChange(is_first, memory);
}

}  // namespace yad
