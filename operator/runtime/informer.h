// A Reflector, its Store, and those who want to hear of changes.
#ifndef OPERATOR_RUNTIME_INFORMER_H_
#define OPERATOR_RUNTIME_INFORMER_H_

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "operator/runtime/reflector.h"
#include "operator/runtime/store.h"

namespace yad {

// Added: before is nullptr. Deleted: after is nullptr; what vanished between two lists is Deleted too.
// Two different uids: deleted and made anew; a handler must look at both.
using Event = Store::Change;

// Whether an object has changed: neither added, nor deleted, nor made anew under its name.
bool IsSameObject(const Event& event);

// Called on the informer's thread; must not block and must not do I/O. Typically it adds Requests to a queue.
using EventHandler = std::function<void(const Event&)>;

class Informer {
 public:
  Informer(Client& client, ReflectorOptions options, Clock& clock = Clock::Real());

  Store& store() { return store_; }
  const Store& store() const { return store_; }
  const ReflectorOptions& options() const { return options_; }

  // As the cluster serves it, where that is for the cluster to say; else that of the options. Thread-safe.
  ResourceType type() const { return reflector_.type(); }

  // Of one that is on_demand: begins to list, if it has not yet. Thread-safe.
  void Demand();
  // Before Run: a handler that comes later would have missed what is there already. Later, it ends the process.
  void AddHandler(EventHandler handler);
  Status Run(std::stop_token stop);  // one thread; returns as Reflector::Run does
  bool synced() const { return store_.synced(); }
  // Whether others have to wait until it has synced.
  bool awaited() const { return !options_.on_demand; }
  std::string last_error() const { return reflector_.last_error(); }  // "" after a success; thread-safe
  // "deployments: Waiting: Forbidden: ..." : for /readyz and logs. Thread-safe.
  std::string Describe() const;

 private:
  void Dispatch(const Event& event);

  ReflectorOptions options_;
  Store store_;
  Clock& clock_;
  std::atomic<bool> running_ = false;
  std::mutex mutex_;
  std::condition_variable_any demanded_;
  bool demand_ = false;  // under mutex_
  std::vector<EventHandler> handlers_;
  Reflector reflector_;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_INFORMER_H_
