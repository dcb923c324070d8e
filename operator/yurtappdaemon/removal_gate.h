// Blocks removals that may be a mistake (removal_guard.h), and reports them.
#ifndef OPERATOR_YURTAPPDAEMON_REMOVAL_GATE_H_
#define OPERATOR_YURTAPPDAEMON_REMOVAL_GATE_H_

#include <optional>
#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "operator/runtime/event_recorder.h"
#include "operator/runtime/store.h"
#include "operator/yurtappdaemon/plan/removal_guard.h"

namespace yad {

// Thread-safe if only one thread at a time uses each Memory.
class RemovalGate {
 public:
  // `limit` is the value of --max-removals. If it is nullopt, the gate blocks only the removal of workloads whose
  // NodePool was deleted together with the CRD of NodePools.
  RemovalGate(Client& client, const Store& pools, EventSink& events, Clock& clock, std::optional<IntOrPercent> limit)
      : client_(client), pools_(pools), events_(events), clock_(clock), limit_(limit) {}

  // The state of one daemon.
  struct Memory {
    std::string token;           // identifies the set of workloads that the last plan would remove
    SteadyTime since{};          // the time of the first plan that would remove this set
    std::string reported_token;  // identifies the set of workloads whose blocked removal was reported
  };

  // Moves the removals that must not happen now to plan.postponed. Fails if pools or their CRD can't be read.
  Status BlockRemovals(const YurtAppDaemon& daemon, Plan& plan, Memory& memory, std::stop_token stop) const;
  // Returns the time until the gate can decide about the removals in `memory`, which have changed recently.
  Duration UntilSettled(const Memory& memory) const;
  // Sets the metric of blocked removals, and reports them once in an Event and in the log. `before` is the previous
  // status.
  void Report(const YurtAppDaemon& daemon, const PostponedRemovals& postponed, const Json& before,
              Memory& memory) const;
  // Removes the daemon's metric.
  static void Forget(const ObjectKey& key);

 private:
  Client& client_;
  const Store& pools_;
  EventSink& events_;
  Clock& clock_;
  const std::optional<IntOrPercent> limit_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_REMOVAL_GATE_H_
