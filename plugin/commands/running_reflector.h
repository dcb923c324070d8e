// Runs a Reflector with its Store on its own thread.
#ifndef PLUGIN_COMMANDS_RUNNING_REFLECTOR_H_
#define PLUGIN_COMMANDS_RUNNING_REFLECTOR_H_

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "operator/base/synchronized.h"
#include "operator/runtime/reflector.h"
#include "operator/runtime/store.h"

namespace yad {

// Runs from construction to destruction. Thread-safe.
class RunningReflector {
 public:
  // `notify` is called after each change, and when the reflector ends, on the reflector's thread.
  RunningReflector(Client& client, ReflectorOptions options, std::function<void()> notify)
      : reflector_(client, WithShortBackoff(std::move(options)), store_, [notify](const Store::Change&) { notify(); }) {
    thread_ = std::jthread([this, notify](const std::stop_token& stop) {
      Status end = reflector_.Run(stop);
      ended_.With([&](Status& value) { value = std::move(end); });
      notify();
    });
  }

  bool synced() const { return store_.synced(); }
  // Returns whether the first list has succeeded or failed.
  bool answered() const { return synced() || !error().empty(); }
  const Store& store() const { return store_; }
  // Returns an Error after the reflector has ended. Reflector::Run describes when it ends.
  Status ended() const {
    return ended_.With([](const Status& value) { return value; });
  }
  // Returns the error of the last request; "" if a watch is open.
  std::string error() const {
    const Status end = ended();
    return end ? reflector_.last_error() : end.error().message;
  }

 private:
  // Makes the backoff short, because the user waits for the apiserver to respond again.
  static ReflectorOptions WithShortBackoff(ReflectorOptions options) {
    options.backoff.cap = std::chrono::seconds(5);
    return options;
  }

  Store store_;
  Reflector reflector_;
  Synchronized<Status> ended_;
  std::jthread thread_;
};

}  // namespace yad

#endif  // PLUGIN_COMMANDS_RUNNING_REFLECTOR_H_
