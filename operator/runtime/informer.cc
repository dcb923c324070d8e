#include "operator/runtime/informer.h"

#include <cstdlib>

#include "operator/base/catch_exceptions.h"
#include "operator/base/log.h"

namespace yad {

bool IsSameObject(const Event& event) {
  return event.before != nullptr && event.after != nullptr && event.before->meta().uid == event.after->meta().uid;
}

Informer::Informer(Client& client, ReflectorOptions options, Clock& clock)
    : options_(options),
      clock_(clock),
      reflector_(
          client, std::move(options), store_, [this](const Event& event) { Dispatch(event); }, clock) {}

void Informer::AddHandler(EventHandler handler) {
  if (running_) {
    log::Err("a handler was added to a running informer", {{"resource", options_.type.resource}});
    std::abort();
  }
  handlers_.push_back(std::move(handler));
}

void Informer::Demand() {
  const std::lock_guard lock(mutex_);
  demand_ = true;
  demanded_.notify_all();
}

Status Informer::Run(std::stop_token stop) {
  running_ = true;
  if (options_.on_demand) {
    std::unique_lock lock(mutex_);
    clock_.WaitUntil(demanded_, lock, stop, SteadyTime::max(), [this] { return demand_; });
    if (!demand_) return {};
  }
  return reflector_.Run(stop);
}

std::string Informer::Describe() const {
  std::string text = options_.type.resource + ": " + std::string(ToString(reflector_.state()));
  if (const std::string error = reflector_.last_error(); !error.empty()) text += ": " + error;
  return text;
}

// Calls all handlers. An exception of one handler is caught, so that the other handlers receive the event and the
// thread continues.
void Informer::Dispatch(const Event& event) {
  for (const EventHandler& handler : handlers_) {
    if (const Status handled = CatchExceptions([&] { handler(event); }); !handled)
      log::Err("an event handler threw an exception",
               {{"resource", options_.type.resource}, {"error", handled.error()}});
  }
}

}  // namespace yad
