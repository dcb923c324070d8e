// Runs a Reflector with its Store on its own thread.
#ifndef PLUGIN_DASHBOARD_RUNNING_REFLECTOR_H_
#define PLUGIN_DASHBOARD_RUNNING_REFLECTOR_H_

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
  // `notify` is called after each change, on the reflector's thread.
  RunningReflector(Client& client, ReflectorOptions options, std::function<void()> notify)
      : reflector_(client, WithShortBackoff(std::move(options)), store_,
                   [notify = std::move(notify)](const Store::Change&) { notify(); }) {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      const Status ended = reflector_.Run(stop);
      if (!ended) ended_.With([&](std::string& text) { text = ended.error().message; });
    });
  }

  bool synced() const { return store_.synced(); }
  // Returns whether the first list has succeeded or failed.
  bool answered() const { return synced() || !error().empty(); }
  const Store& store() const { return store_; }
  // Returns the error of the last request; "" if a watch is open. Ignores last_error() while a watch is open, because
  // the reflector keeps an old error there until the watch has an event, which may take a minute.
  std::string error() const {
    std::string text = ended_.With([](const std::string& ended) { return ended; });
    if (!text.empty()) return text;
    return reflector_.state() == ReflectorState::kWatching ? "" : reflector_.last_error();
  }

 private:
  // Makes the backoff short, because the user waits for the apiserver to respond again.
  static ReflectorOptions WithShortBackoff(ReflectorOptions options) {
    options.backoff.cap = std::chrono::seconds(5);
    return options;
  }

  Store store_;
  Reflector reflector_;
  Synchronized<std::string> ended_;
  std::jthread thread_;
};

}  // namespace yad

#endif  // PLUGIN_DASHBOARD_RUNNING_REFLECTOR_H_
