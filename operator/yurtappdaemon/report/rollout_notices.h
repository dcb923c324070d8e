// Sends notices about rollouts to receivers outside the cluster: a rollout began, waits for approval, stopped, was
// rolled back, or is complete.
#ifndef OPERATOR_YURTAPPDAEMON_REPORT_ROLLOUT_NOTICES_H_
#define OPERATOR_YURTAPPDAEMON_REPORT_ROLLOUT_NOTICES_H_

#include <functional>
#include <string>

#include "operator/notify/cloud_event.h"
#include "operator/yurtappdaemon/observe/history.h"
#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/report/rollout_stage.h"

namespace yad {

// The last status of one daemon, and the notices that this process has sent about it.
struct NoticeMemory {
  bool begun = false;  // ReportNotices was called for the daemon
  RolloutKey rollout;
  std::string last;  // identifies the stage that the last status showed
  // True if the rollout was complete once. Pools that join later do not begin another rollout.
  bool completed = false;
  // True if a notice since the last completion has reported a stage that needs a user.
  bool alarmed = false;
};

// Sends the notices about the change of the status from `previous` to `now`, which must already be in the cluster.
// `revisions` are the daemon's revisions. `send` must not block. Thread-safe if only one thread at a time uses each
// memory.
//
// The first call of a process also repeats the notices about `previous`, because an earlier process may have exited
// before it sent them.
void ReportNotices(const std::function<void(const CloudEvent&)>& send, const Snapshot& snapshot,
                   const RevisionHistory::State& revisions, const Json& previous, const Json& now,
                   NoticeMemory& memory);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_REPORT_ROLLOUT_NOTICES_H_
