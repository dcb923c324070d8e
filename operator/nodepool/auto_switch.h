// Runs the nodepool controller while no other controller manages the pools. The operator uses it if the user has
// neither enabled nor disabled the controller.
#ifndef OPERATOR_NODEPOOL_AUTO_SWITCH_H_
#define OPERATOR_NODEPOOL_AUTO_SWITCH_H_

#include <functional>
#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "operator/nodepool/wiring.h"
#include "operator/runtime/event_recorder.h"
#include "operator/runtime/manager.h"

namespace yad {

// Switches a controller on and off. One thread uses it.
class AutoSwitch {
 public:
  // `why_not` returns the reason why the controller must be off; "" if it may be on. Two threads call it, but not at
  // the same time. `run` runs the controller until its stop token fires.
  AutoSwitch(std::function<Result<std::string>(std::stop_token)> why_not, Runnable run, EventSink& events,
             Clock& clock = Clock::Real());

  // Calls `why_not` immediately and then every minute, and starts or stops `run` accordingly, until `stop` fires. If
  // `why_not` fails, the controller stays on or off as it was. While `why_not` fails and the controller is off,
  // `why_not` is called every 5 s. Fails if `run` fails.
  Status Run(std::stop_token stop);

 private:
  // Returns the result of `why_not`; if it fails, the last result. Records an event if the result has changed.
  std::string Ask(std::stop_token stop);
  Status RunUntilOff(std::stop_token stop);

  const std::function<Result<std::string>(std::stop_token)> why_not_;
  const Runnable run_;
  EventSink& events_;
  Clock& clock_;
  std::string answer_ = "it is not known yet which controller manages the NodePools";
  bool failing_ = false;
};

// Adds an AutoSwitch to the manager, which runs it on the leader. While the controller is on, it has a separate Manager
// with its own caches. `client` and `events` must outlive the manager's Run.
void AddNodePoolControllerAuto(Manager& manager, Client& client, EventSink& events, const NodePoolOptions& options);

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_AUTO_SWITCH_H_
