// Fills a Store with the server's objects of one type: first by a list, and then by watches.
// The state machine follows kube-rs' watcher.rs: Empty -> Listing -> Watching. Each failure leads to one of the named
// states.
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

// The lists that have failed since the last successful one.
struct FailedLists {
  int count = 0;
  Error last;  // valid if count > 0
};

struct ReflectorOptions {
  ResourceType type;
  std::string ns = {};  // "" for all namespaces
  std::string label_selector = {};
  std::string field_selector = {};
  int page_size = 500;  // maximum number of objects in a page; 0: no pages
  BackoffPolicy backoff = {};
  // Removes parts of an object that this process never reads. Called before `project` reads the object and before the
  // Store keeps it. With a `transform`, keeps_content and keeps_status have no effect. Must not throw.
  std::function<void(Json&)> transform = {};
  // Makes the projection of an object: the parts that a controller reads (see Projection in store.h). The argument has
  // only the parts that `projected` lists, or all parts if `projected` is empty.
  Projector project = {};
  JsonParts projected = {};  // must be empty if there is a `transform`
  // Returns true if the cache holds the whole content of an object. If it returns false, the cache holds only the
  // result of StoredObject::WithoutContent, which needs less memory. If the function is not set, the cache holds all
  // content. Must not throw.
  std::function<bool(const ObjectMeta& meta)> keeps_content = {};
  // If false, the cache does not hold the status of objects. Use this if only `project` reads the status.
  bool keeps_status = true;
  // True: the first list starts when Informer::Demand is called. Readiness and leader election do not wait for it.
  bool on_demand = false;
  // Chooses the version of `type` before each list. Set it only for a type whose version depends on the cluster. If it
  // is not set, `type` is used as it is.
  // - An Error counts as a failed list.
  // - kNotFound means that the cluster does not have the type.
  std::function<Result<ResourceType>(const FailedLists& failed, std::stop_token stop)> resolve = {};
};

enum class ReflectorState {
  kEmpty,        // Nothing is known; the next step is a list.
  kListing,      // Reading pages. The Store still holds the previous state.
  kWatching,     // A watch is open and the Store follows it.
  kWatchBroken,  // The watch ended; it is resumed from the last resourceVersion.
  kWaiting,      // Backing off after a failure.
  kTypeMissing,  // The server does not know the type (CRD not installed); retried with backoff.
  kStopped,
};
std::string_view ToString(ReflectorState state);

// Keeps a Store up to date. One thread calls Run. `on_change` is called on that thread, after the Store has changed.
class Reflector {
 public:
  Reflector(Client& client, ReflectorOptions options, Store& store, std::function<void(const Store::Change&)> on_change,
            Clock& clock = Clock::Real());

  // Blocks until `stop` fires. Never throws. Waits with jitter after each failure. Fails only if the server's data is
  // from a backup or from another cluster. The process must then restart. Run fails in these cases:
  // - For a minute, all lists were older than the data that this process has seen.
  // - A list is not older, but an object in it is older than in the Store.
  Status Run(std::stop_token stop);

  ResourceType type() const;     // thread-safe; with `resolve`, the last version that it returned
  ReflectorState state() const;  // thread-safe
  // Returns a message such as "cannot list deployments.apps: Forbidden: ..."; "" after a success. Thread-safe.
  std::string last_error() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_REFLECTOR_H_
