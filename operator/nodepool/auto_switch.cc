#include "operator/nodepool/auto_switch.h"

#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "operator/base/catch_exceptions.h"
#include "operator/base/log.h"
#include "operator/cluster/nodepool_type.h"
#include "operator/nodepool/yurt_manager.h"

namespace yad {
namespace {

constexpr Duration kPeriod = std::chrono::minutes(1);
constexpr Duration kRetryPeriod = std::chrono::seconds(5);

}  // namespace

AutoSwitch::AutoSwitch(std::function<Result<std::string>(std::stop_token)> why_not, Runnable run, EventSink& events,
                       Clock& clock)
    : why_not_(std::move(why_not)), run_(std::move(run)), events_(events), clock_(clock) {}

std::string AutoSwitch::UpdateReason(std::stop_token stop) {
  const auto answer = why_not_(stop);
  if (stop.stop_requested()) return reason_;
  if (!answer) {
    if (!std::exchange(failing_, true))
      log::Warn("cannot determine which controller manages the NodePools; retrying", {{"error", answer.error()}});
    return reason_;
  }
  failing_ = false;
  if (*answer == reason_) return reason_;
  reason_ = *answer;
  const bool on = reason_.empty();
  log::Info(on ? "the nodepool controller is on" : "the nodepool controller is off",
            {{"why", on ? "no other controller manages the NodePools" : reason_}});
  events_.Record(NodePoolCrdReference(), EventType::kNormal, on ? "NodePoolControllerOn" : "NodePoolControllerOff",
                 "Switch",
                 on ? "this operator manages the NodePools: no other controller does"
                    : "this operator does not manage the NodePools: " + reason_);
  return reason_;
}

Status AutoSwitch::RunUntilOff(std::stop_token stop) {
  std::stop_source off;
  std::stop_callback on_stop(stop, [&] { off.request_stop(); });
  std::jthread checking([&](const std::stop_token& done) {
    while (clock_.Sleep(kPeriod, done)) {
      const Result<std::string> why_not = CatchExceptions([&]() -> Result<std::string> { return UpdateReason(done); });
      if (!why_not) log::Warn("cannot determine which controller manages the NodePools", {{"error", why_not.error()}});
      if (!why_not || why_not->empty()) continue;
      off.request_stop();
      return;
    }
  });
  return run_(off.get_token());
}

Status AutoSwitch::Run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    if (UpdateReason(stop).empty() && !stop.stop_requested()) {
      YAD_TRY_VOID(RunUntilOff(stop));
      continue;
    }
    clock_.Sleep(failing_ ? kRetryPeriod : kPeriod, stop);
  }
  return {};
}

void AddNodePoolControllerAuto(Manager& manager, Client& client, EventSink& events, const NodePoolOptions& options) {
  const auto why_not = [&client, seen = SeenLeases()](std::stop_token stop) mutable {
    return WhyNotNodePool(client, seen, Clock::Real(), std::move(stop));
  };
  const auto run = [&manager, &client, &events, options](std::stop_token stop) -> Status {
    Manager own(client, std::nullopt);
    AddNodePoolController(own, client, manager.leader_client(), events, options);
    if (own.Run(std::move(stop)) != RunOutcome::kStopped)
      return Fail(Reason::kUnknown, "the nodepool controller stopped unexpectedly");
    return {};
  };
  const auto control = std::make_shared<AutoSwitch>(why_not, run, events);
  manager.AddLeaderRunnable("nodepool switch",
                            [control](std::stop_token stop) { return control->Run(std::move(stop)); });
}

}  // namespace yad
