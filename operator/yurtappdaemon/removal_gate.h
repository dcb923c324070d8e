// Holds removals of workloads back that may be somebody's mistake, and tells of them. removal_guard.h is the judgement.
#ifndef OPERATOR_YURTAPPDAEMON_REMOVAL_GATE_H_
#define OPERATOR_YURTAPPDAEMON_REMOVAL_GATE_H_

#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "operator/runtime/event_recorder.h"
#include "operator/runtime/store.h"
#include "operator/yurtappdaemon/removal_guard.h"

namespace yad {

// Thread-safe, as long as each Memory is used by one thread at a time.
class RemovalGate {
 public:
  // Without a limit any number of workloads may be removed at once.
  RemovalGate(Client& client, const Store& pools, EventSink& events, Clock& clock, std::optional<RemovalLimit> limit)
      : client_(client), pools_(pools), events_(events), clock_(clock), limit_(limit) {}

  // Of one daemon.
  struct Memory {
    std::string token;       // of the workloads that would be removed
    SteadyTime since{};      // when they became these
    std::string told_token;  // of blocked removals that have had their event
  };

  // Moves to plan.held what may not be removed now.
  Status Hold(const YurtAppDaemon& daemon, Plan& plan, Memory& memory, std::stop_token stop) const;
  // How long until removals that are undecided can be judged.
  Duration UntilSettled(const Memory& memory) const;
  // In an event, once, and in a metric. `before` is the status as it was.
  void Tell(const YurtAppDaemon& daemon, const HeldRemovals& held, const Json& before, Memory& memory) const;
  static void Forget(const ObjectKey& key);

 private:
  // The uids of workloads that would be removed because their pools went together with their CRD.
  Result<std::set<std::string>> LostWithTheCrd(const Plan& plan, std::stop_token stop) const;

  Client& client_;
  const Store& pools_;
  EventSink& events_;
  Clock& clock_;
  const std::optional<RemovalLimit> limit_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_REMOVAL_GATE_H_
