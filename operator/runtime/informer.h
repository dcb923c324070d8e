// A Reflector, its Store, and those who want to hear of changes.
#ifndef OPERATOR_RUNTIME_INFORMER_H_
#define OPERATOR_RUNTIME_INFORMER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "operator/runtime/reflector.h"
#include "operator/runtime/store.h"

namespace yad {

// Added: before is nullptr. Deleted: after is nullptr; what vanished between two lists is Deleted too.
// Two different uids: deleted and made anew; a handler must look at both.
using Event = Store::Change;

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

  // Before Run: a handler that comes later would have missed what is there already. Later, it ends the process.
  void AddHandler(EventHandler handler);
  Status Run(std::stop_token stop);  // one thread; returns as Reflector::Run does
  bool synced() const { return store_.synced(); }
  // "deployments: Waiting: Forbidden: ..." : for /readyz and logs. Thread-safe.
  std::string Describe() const;

 private:
  void Dispatch(const Event& event);

  ReflectorOptions options_;
  Store store_;
  std::atomic<bool> running_ = false;
  std::vector<EventHandler> handlers_;
  Reflector reflector_;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_INFORMER_H_
