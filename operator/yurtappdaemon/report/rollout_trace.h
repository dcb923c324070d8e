// Makes one trace for each rollout of a daemon. It has a span for the rollout, for each group, for each pool, and for
// each step of a pool.
#ifndef OPERATOR_YURTAPPDAEMON_REPORT_ROLLOUT_TRACE_H_
#define OPERATOR_YURTAPPDAEMON_REPORT_ROLLOUT_TRACE_H_

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "operator/notify/span.h"
#include "operator/yurtappdaemon/observe/history.h"
#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/plan/plan.h"
#include "operator/yurtappdaemon/report/rollout_stage.h"

namespace yad {

// The steps of a pool's update to the update revision.
enum class TraceStep { kWait, kUpdate, kSoak, kCheck, kDone };

// The current rollout of one daemon.
struct TraceMemory {
  struct Pool {
    TraceStep step = TraceStep::kWait;
    WallTime since;  // not set for kWait, which lasts from the beginning of the rollout
  };
  struct Group {
    WallTime begin;
    WallTime end;
  };
  bool begun = false;  // ReportSpans was called for the daemon
  bool open = false;   // the rollout has begun, and its span has not been sent
  RolloutKey rollout;
  WallTime began;
  std::map<std::string, Pool, std::less<>> pools;  // a pool that is not in the map is in kWait
  std::map<std::size_t, Group> groups;             // by index; only groups whose spans have not been sent
};

// Sends the spans that ended when the status changed from `previous` to `now`, which must already be in the cluster.
// `rollout` is only for RollingUpdate. The times of all steps come from status, so a new process continues the trace.
// `send` must not block. Thread-safe if only one thread at a time uses each memory.
void ReportSpans(const std::function<void(const std::vector<Span>&)>& send, const Snapshot& snapshot,
                 const RevisionHistory::State& revisions, const std::optional<Rollout>& rollout, const Json& previous,
                 const Json& now, TraceMemory& memory);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_REPORT_ROLLOUT_TRACE_H_
