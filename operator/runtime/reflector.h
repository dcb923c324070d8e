// Keeps a Store equal to the server's objects of one type: list, then watch, for ever.
// The state machine follows kube-rs' watcher.rs: Empty -> Listing -> Watching, with every failure leading back to a
// named state.
#ifndef OPERATOR_RUNTIME_REFLECTOR_H_
#define OPERATOR_RUNTIME_REFLECTOR_H_

#include <functional>
#include <stop_token>
#include <string>

#include "operator/api/object.h"
#include "operator/base/backoff.h"
#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "operator/runtime/store.h"

namespace yad {

// The lists that have failed since the last good one.
struct FailedLists {
  int count = 0;
  Error last;  // where count > 0
};

struct ReflectorOptions {
  ResourceType type;
  std::string ns;  // "" for all
  std::string label_selector;
  std::string field_selector;
  int page_size = 500;  // objects in a page at most; 0: no pages
  // Of one watch; the next begins where it ended. With the client's margin it bounds the time in which a connection
  // that died in silence goes unnoticed: a quiet type has no events, and not every server sends bookmarks of it.
  std::chrono::seconds watch_timeout{90};
  BackoffPolicy backoff;
  // Takes out of each object what nobody here reads, before it is projected and kept. Must not throw.
  std::function<void(Json&)> transform;
  // Is called with what is `projected` of an object only ({}: all), though all of it is kept. Not together with
  // `transform`.
  Projector project;
  JsonParts projected;
  // Only lists from the moment on in which Informer::Demand asks for it; until then nobody waits for it.
  bool on_demand = false;
  // Asked before each list which version of `type` to read, where that is for the cluster to say. Its Error is that of
  // a failed list (kNotFound: the type is missing).
  std::function<Result<ResourceType>(const FailedLists& failed, std::stop_token stop)> resolve;
};

enum class ReflectorState {
  kEmpty,        // Nothing is known; a list has to be made.
  kListing,      // Reading pages. The Store still holds the state before.
  kWatching,     // A watch is open and the Store follows it.
  kWatchBroken,  // The watch ended; it is resumed from the last resourceVersion.
  kWaiting,      // Backing off after a failure.
  kTypeMissing,  // The server does not know the type (CRD not installed): asked again with backoff.
  kStopped,
};
std::string_view ToString(ReflectorState state);

// One thread runs it. `on_change` is called on that thread, after the Store has been changed.
class Reflector {
 public:
  Reflector(Client& client, ReflectorOptions options, Store& store, std::function<void(const Store::Change&)> on_change,
            Clock& clock = Clock::Real());

  // Returns when `stop` fires. Never throws, never spins: a failure is always followed by a jittered wait. An Error:
  // the server's lists have been older than what it showed before for a minute, so that its data is that of a backup or
  // of another cluster. Only a process that remembers nothing can go on with that.
  Status Run(std::stop_token stop);

  ResourceType type() const;       // thread-safe; as it was resolved last, where it is for the cluster to say
  ReflectorState state() const;    // thread-safe
  std::string last_error() const;  // thread-safe; "" after a success: "cannot list deployments.apps: Forbidden: ..."

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_REFLECTOR_H_
