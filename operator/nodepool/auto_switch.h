// Runs the nodepool controller only while no other controller manages the pools. This is the default mode of the
// controller.
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

// Switches a controller on and off. Not thread-safe.
class AutoSwitch {
 public:
  // `why_not` returns why the controller must be off, or "" if it may be on. AutoSwitch calls it on different threads,
  // but never twice at the same time. `run` runs the controller until its stop token is triggered.
  AutoSwitch(std::function<Result<std::string>(std::stop_token)> why_not, Runnable run, EventSink& events,
             Clock& clock = Clock::Real());

  // Calls `why_not` every minute, and starts or stops `run` if the result has changed. Returns when `stop` is
  // triggered, or with the error of `run`. If `why_not` fails, a controller that is on stays on, and a controller that
  // is off stays off. In the second case, AutoSwitch calls `why_not` again after 5 s.
  Status Run(std::stop_token stop);

 private:
  // Returns the result of `why_not`, or its previous result if it fails now. Emits an Event if the result has changed.
  std::string UpdateReason(std::stop_token stop);
  Status RunUntilOff(std::stop_token stop);

  const std::function<Result<std::string>(std::stop_token)> why_not_;
  const Runnable run_;
  EventSink& events_;
  Clock& clock_;
  std::string reason_ = "it is not known yet which controller manages the NodePools";
  bool failing_ = false;
};

// Adds an AutoSwitch to the manager, which runs it on the leader. While the controller is on, it uses a second Manager
// with its own caches. `client` and `events` must outlive the manager's Run.
void AddNodePoolControllerAuto(Manager& manager, Client& client, EventSink& events, const NodePoolOptions& options);

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_AUTO_SWITCH_H_
