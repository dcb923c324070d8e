// One YurtAppDaemon that a browser shows.
#ifndef PLUGIN_DASHBOARD_WATCHED_DAEMON_H_
#define PLUGIN_DASHBOARD_WATCHED_DAEMON_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugin/commands/revisions.h"
#include "plugin/commands/running_reflector.h"
#include "plugin/dashboard/daemon_model.h"
#include "plugin/dashboard/fleet_model.h"

namespace yad {

// The objects that all daemons share.
struct SharedObjects {
  Result<std::vector<ObjectPtr>> pools;  // all NodePools; an error if they can't be read
  KnownFreeze freeze;                    // in force at `now`
  WallTime now;
};

// Watches the objects of one daemon and makes its state. Used by one thread. The reflectors start with the first
// Update.
class WatchedDaemon {
 public:
  // `notify` is called on threads of the reflectors.
  WatchedDaemon(Client& client, ObjectKey key, std::function<void()> notify)
      : client_(client), key_(std::move(key)), notify_(std::move(notify)) {}

  // Returns the new state of the daemon for the page. `object` is the YurtAppDaemon; null if it does not exist. Returns
  // null until the first lists of the workloads, the revisions and the Events have each succeeded or failed.
  ShownDaemonPtr Update(const ObjectPtr& object, const SharedObjects& shared);

 private:
  struct Sources;  // the reflectors

  void Reset();
  std::unique_ptr<const PlannedSnapshot> MakePlanned(const Json& daemon, const SharedObjects& shared,
                                                     const std::vector<RevisionEntry>& revisions,
                                                     std::vector<std::string>& warnings);
  std::vector<TimelineEntry> AdvanceTimeline(const Json& daemon, const std::vector<PoolFacts>& pools, WallTime now);

  Client& client_;
  const ObjectKey key_;
  const std::function<void()> notify_;
  std::string uid_;
  std::shared_ptr<Sources> sources_;  // of the daemon with this uid
  PlanMemo memo_;
  std::optional<DaemonMoment> moment_;
  std::vector<TimelineEntry> changes_;  // newest first
  ShownDaemonPtr state_;
};

}  // namespace yad

#endif  // PLUGIN_DASHBOARD_WATCHED_DAEMON_H_
