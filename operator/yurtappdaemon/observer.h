// Reads the input of one reconcile.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVER_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVER_H_

#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <variant>

#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "operator/runtime/event_recorder.h"
#include "operator/yurtappdaemon/apply/image_volumes.h"
#include "operator/yurtappdaemon/check_sampler.h"
#include "operator/yurtappdaemon/daemon_state.h"
#include "operator/yurtappdaemon/observe/forbidden_reads.h"
#include "operator/yurtappdaemon/observe/history.h"
#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/observe/status_view.h"
#include "operator/yurtappdaemon/observe/stores.h"

namespace yad {

// The input of one reconcile. The later stages do not change it, with one exception: Planner::MakePlan may set a
// freeze, so that no update starts.
struct Observation {
  Snapshot snapshot;
  RevisionHistory::State revisions;
  // The last status that this process wrote, if the server dropped some of its fields because of an old CRD. Otherwise
  // null. Points into the DaemonState.
  const Json* written_status = nullptr;
  std::set<std::string> unseen;  // names of the workloads that the caches do not show

  // Returns the last status, including the fields that the server dropped.
  const Json& previous() const { return written_status != nullptr ? *written_status : snapshot.daemon.status; }
};

// The reason why the operator does not act on the spec.
struct Blocked {
  std::string reason;  // the reason of condition Stalled
  Error error;
  bool retry = false;  // a retry may succeed; false: only a change by a user resolves the error
};

// A cache is not filled yet, or was outdated, so no plan can be made.
struct NotReady {
  Duration poll{0};  // the time until the next attempt
};

using Observed = std::variant<Observation, Blocked, NotReady>;

// Thread-safe if only one thread at a time uses each DaemonState.
class Observer {
 public:
  // If `sampler` is null, checks with Prometheus can't run.
  Observer(Client& client, const ReconcilerStores& stores, EventSink& events, Clock& clock, const CheckSampler* sampler,
           const ImageVolumes& image_volumes)
      : client_(client),
        stores_(stores),
        events_(events),
        clock_(clock),
        sampler_(sampler),
        image_volumes_(image_volumes) {}

  // Also claims the revisions of earlier owners, and creates the revision of the spec. A failed read is an error and
  // never counts as an empty result.
  Result<Observed> Observe(const StoredObject& stored, DaemonState& state, std::stop_token stop) const;

 private:
  // Returns the error of a spec whose kind differs from that of the daemon's existing workloads, or nullopt.
  Result<std::optional<Error>> FindOtherKind(const YurtAppDaemon& daemon) const;
  // Claims the revisions that OpenYurt or an earlier daemon of this name left.
  Status ClaimRevisions(const YurtAppDaemon& daemon, DaemonState& state, std::stop_token stop) const;
  // Reads the Jobs and the samples of checks. Returns false until the cache of Jobs is filled.
  Result<bool> ReadChecks(DaemonState& state, Snapshot& snapshot, std::stop_token stop) const;
  // Reads the Jobs that remain of checks of an earlier spec.
  void ReadLeftJobs(DaemonState& state, Snapshot& snapshot, std::stop_token stop) const;
  // Reads whether a freeze stops all updates, and which pools wait because of a condition of one of their Nodes.
  // Returns false until the first reads have succeeded or failed.
  bool ReadGates(Snapshot& snapshot) const;
  Status ReadCaches(Snapshot& snapshot) const;
  // Reads the Services if the daemon's revisions or its last status (`previous`) have a Service. For other daemons, the
  // operator does not need the permission to read Services. Returns:
  // - true: the Services were read, or are not needed
  // - false: the first list is in progress, or its failure may be temporary. The caller starts the reconcile again.
  // - an error: the read is forbidden
  Result<bool> ReadServices(const RevisionHistory::State& revisions, const Json& previous, Snapshot& snapshot) const;
  // Reads the daemon from the server before a process restores the state of an unfinished rollout from status. Returns
  // false if the cached daemon may have been outdated. The cache then has the daemon of the server.
  Result<bool> ConfirmStatus(const Snapshot& snapshot, DaemonState& state, std::stop_token stop) const;
  // Sets the health of the pools, and the groups of pools whose update has begun. Takes them from the last reconcile
  // or, after a restart, from the last status. Only a RollingUpdate has them.
  void RestoreState(const StatusView& previous, DaemonState& state, Snapshot& snapshot) const;

  Client& client_;
  const ReconcilerStores stores_;
  EventSink& events_;
  Clock& clock_;
  const CheckSampler* const sampler_;
  mutable ForbiddenReads no_freeze_{
      "the operator has no permission to read the ConfigMap of the freeze: no freeze has an effect"};
  mutable ForbiddenReads no_nodes_{
      "the operator has no permission to list and watch Nodes: no node condition holds a pool"};
  mutable ForbiddenReads no_jobs_{
      "the operator no longer has the permission to watch Jobs: checks that are Jobs wait, and no update starts"};
  const ImageVolumes& image_volumes_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVER_H_
