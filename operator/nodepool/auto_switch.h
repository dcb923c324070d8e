// The nodepool controller where nobody asked for it or against it: on while nobody else looks after the pools.
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

// Used by one thread.
class AutoSwitch {
 public:
  // `why_not` answers "" where it may be on; `run` is the controller, until its token fires.
  AutoSwitch(std::function<Result<std::string>(std::stop_token)> why_not, Runnable run, EventSink& events,
             Clock& clock = Clock::Real());

  // Asks at once and each minute, and switches. An Error is that of `run`.
  Status Run(std::stop_token stop);

 private:
  // Why it has to be off; the last answer where the cluster can't be asked.
  std::string Ask(std::stop_token stop);
  Status RunUntilOff(std::stop_token stop);

  const std::function<Result<std::string>(std::stop_token)> why_not_;
  const Runnable run_;
  EventSink& events_;
  Clock& clock_;
  std::string answer_ = "it is not known yet who looks after the pools";
  bool failing_ = false;
};

// To the manager: an AutoSwitch on the leader. While it is on, the controller has a Manager, and caches, of its own.
void AddNodePoolControllerAuto(Manager& manager, Client& client, EventSink& events, const NodePoolOptions& options);

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_AUTO_SWITCH_H_
