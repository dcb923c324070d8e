// Keeps a Store equal to the server's objects of one type, by a list and then watches. The state machine follows
// kube-rs' watcher.rs: Empty -> Listing -> Watching. Each failure leads to one of the named states.
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

// The failed lists since the last successful one.
struct FailedLists {
  int count = 0;
  Error last;  // valid if count > 0
};

struct ReflectorOptions {
  ResourceType type;
  std::string ns;  // "" for all namespaces
  std::string label_selector;
  std::string field_selector;
  int page_size = 500;  // maximum number of objects in a page; 0: no pages
  // Duration of one watch. The next watch resumes from the last version. A connection that broke silently is noticed
  // after this duration and the client's margin at the latest. Missing events do not show the break, because a type may
  // have no events for a long time, and not every server sends bookmarks.
  std::chrono::seconds watch_timeout{90};
  BackoffPolicy backoff;
  // Removes parts that this process never reads from each object, before the object is projected and stored. Must not
  // throw.
  std::function<void(Json&)> transform;
  // Makes the projection of an object from its `projected` parts ({}: all parts). The whole object is stored.
  // `projected` must not be combined with `transform`.
  Projector project;
  JsonParts projected;
  // Returns whether a controller may read the object's content; if not, the cache holds StoredObject::WithoutContent.
  // {}: the cache holds all content. Must not throw.
  std::function<bool(const ObjectMeta& meta)> keeps_content;
  // False: the cache holds no status, because only `project` reads it.
  bool keeps_status = true;
  // True: the first list starts when Informer::Demand is called. Readiness and leader election do not wait for it.
  bool on_demand = false;
  // Set if the cluster determines the version of `type`: returns the version to read. Called before each list. An Error
  // counts as a failed list (kNotFound: the type is missing).
  std::function<Result<ResourceType>(const FailedLists& failed, std::stop_token stop)> resolve;
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

// One thread calls Run. `on_change` is called on that thread, after the Store has changed.
class Reflector {
 public:
  Reflector(Client& client, ReflectorOptions options, Store& store, std::function<void(const Store::Change&)> on_change,
            Clock& clock = Clock::Real());

  // Blocks until `stop` fires. Never throws, and waits with jitter after each failure. Fails if the server's data comes
  // from a backup or from another cluster. There are two signs: lists have been older for a minute than the data that
  // this process has seen, or a list that is not older has an object in an older version. Only a restarted process can
  // use such data.
  Status Run(std::stop_token stop);

  ResourceType type() const;     // thread-safe; with `resolve`, the last version that it returned
  ReflectorState state() const;  // thread-safe
  // Returns text such as "cannot list deployments.apps: Forbidden: ..."; "" after a success. Thread-safe.
  std::string last_error() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_REFLECTOR_H_
