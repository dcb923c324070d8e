// An Informer: a Reflector with its Store, and handlers that are called for each change.
#ifndef OPERATOR_RUNTIME_INFORMER_H_
#define OPERATOR_RUNTIME_INFORMER_H_

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "operator/runtime/reflector.h"
#include "operator/runtime/store.h"

namespace yad {

// The interval at which threads check whether an informer has synced.
inline constexpr Duration kSyncPoll = std::chrono::milliseconds(50);

// A change of an object, for handlers:
// - Added: `before` is nullptr.
// - Deleted: `after` is nullptr.
// - Deleted and recreated between two lists: both are set, with different uids. A handler must handle both changes.
using Event = Store::Change;

// Returns false if the object was added, deleted, or deleted and recreated under the same name.
bool IsSameObject(const Event& event);

// Called on the informer's thread. Must not block and must not do I/O. A handler typically adds Requests to a queue.
using EventHandler = std::function<void(const Event&)>;

class Informer {
 public:
  Informer(Client& client, ReflectorOptions options, Clock& clock = Clock::Real());

  Store& store() { return store_; }
  const Store& store() const { return store_; }
  const ReflectorOptions& options() const { return options_; }

  // Returns the type that the informer reads. If ReflectorOptions::resolve is set, the version is the last version that
  // `resolve` returned. Thread-safe.
  ResourceType type() const { return reflector_.type(); }

  // Starts the first list of an on_demand informer, if it has not started yet. Thread-safe.
  void Demand();
  // Must be called before Run; otherwise, the process terminates. A later handler would miss the earlier objects.
  void AddHandler(EventHandler handler);
  Status Run(std::stop_token stop);  // has the result of Reflector::Run; must be called on one thread
  bool synced() const { return store_.synced(); }
  // Returns whether readiness and leader election wait for the first list.
  bool awaited() const { return !options_.on_demand; }
  std::string last_error() const { return reflector_.last_error(); }  // "" after a success; thread-safe
  // Returns a description of the state, such as "deployments: Waiting: Forbidden: ...", for /readyz and logs.
  // Thread-safe.
  std::string Describe() const;

 private:
  void Dispatch(const Event& event);

  ReflectorOptions options_;
  Store store_;
  Clock& clock_;
  std::atomic<bool> running_ = false;
  std::mutex mutex_;
  std::condition_variable_any demanded_;
  bool demand_ = false;  // guarded by mutex_
  std::vector<EventHandler> handlers_;
  Reflector reflector_;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_INFORMER_H_
