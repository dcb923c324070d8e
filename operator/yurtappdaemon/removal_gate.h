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
  // `limit` is the flag --max-removals. If it is nullopt, the gate blocks only the removal of workloads whose NodePool
  // was deleted together with the CRD.
  RemovalGate(Client& client, const Store& pools, EventSink& events, Clock& clock, std::optional<IntOrPercent> limit)
      : client_(client), pools_(pools), events_(events), clock_(clock), limit_(limit) {}

  // The state of one daemon.
  struct Memory {
    std::string token;           // identifies the workloads that would be removed
    SteadyTime since{};          // when this set of workloads was first seen
    std::string reported_token;  // identifies the blocked removals that an event has reported
  };

  // Moves removals to plan.postponed if they must not happen now. Fails if pools or their CRD can't be read.
  Status BlockRemovals(const YurtAppDaemon& daemon, Plan& plan, Memory& memory, std::stop_token stop) const;
  // Returns the time until the gate can decide about removals that have changed recently.
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
