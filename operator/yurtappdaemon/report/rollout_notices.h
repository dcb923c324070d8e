// Notices about rollouts, for receivers outside the cluster: began, waits for approval, stopped, rolled back, complete.
#ifndef OPERATOR_YURTAPPDAEMON_REPORT_ROLLOUT_NOTICES_H_
#define OPERATOR_YURTAPPDAEMON_REPORT_ROLLOUT_NOTICES_H_

#include <functional>
#include <string>

#include "operator/base/clock.h"
#include "operator/notify/cloud_event.h"
#include "operator/yurtappdaemon/observe/history.h"
#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/report/rollout_stage.h"

namespace yad {

// Thread-safe if only one thread at a time uses each Memory.
class RolloutNotices {
 public:
  // `send` must not block.
  explicit RolloutNotices(std::function<void(const CloudEvent&)> send) : send_(std::move(send)) {}

  // The notices about one daemon that this process has sent.
  struct Memory {
    bool begun = false;  // false: this process has not seen the daemon yet
    RolloutKey rollout;
    std::string last;        // identifies the last stage
    bool completed = false;  // the rollout was complete once; pools that join later do not begin another rollout
    bool alarmed = false;    // since the last completion, a notice has reported a stage that needs a user
  };

  // Sends the notices about the change from the status `previous` to the status `now`, which the cluster has. At the
  // first call of a process, also sends those about `previous` again, because an earlier process may have ended before
  // it sent them. `revisions` are those of the daemon.
  void Report(const Snapshot& snapshot, const RevisionHistory::State& revisions, const Json& previous, const Json& now,
              Memory& memory) const;

 private:
  struct Subject;
  void Repeat(const Subject& subject, const RolloutKey& rollout, WallTime now, Memory& memory) const;
  void SendChange(const Subject& subject, const RolloutKey& rollout, bool first, WallTime now, Memory& memory) const;
  void SendBegan(const Subject& subject, const RolloutKey& rollout, std::optional<WallTime> time) const;
  void SendStage(const Subject& subject, const RolloutKey& rollout, const ShownStage& state,
                 std::optional<WallTime> time) const;

  const std::function<void(const CloudEvent&)> send_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_REPORT_ROLLOUT_NOTICES_H_
