// A local copy of the objects of one type, each kept small.
#ifndef OPERATOR_RUNTIME_STORE_H_
#define OPERATOR_RUNTIME_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/base/packed_bytes.h"
#include "operator/client/json_document.h"

namespace yad {

// What a controller wants to know of an object without parsing it again: derived once, when the object arrives.
struct Projection {
  virtual ~Projection() = default;
};
// Must not throw.
using Projector = std::function<std::unique_ptr<const Projection>(const Json& object)>;

// What Likeness() makes of one member.
struct LikenessRule {
  enum What {
    kInside,   // has rules of its own
    kLeftOut,  // may be anything
    kNamed,    // a string that is the name counts as any other's that is theirs
  };
  std::string_view key;
  What what = kInside;
  std::vector<LikenessRule> inside;
};

// One object as it was at one resourceVersion. Immutable, so any thread may read it.
class StoredObject {
 public:
  // Keeps the object as packed bytes beside the parsed metadata and the projection.
  StoredObject(const Json& object, const Projector& project);
  // The same, with less to do: `meta` and what `project` reads have been taken from the text already.
  StoredObject(ObjectMeta meta, const Json& part, const JsonDocument& whole, const Projector& project);
  ~StoredObject();

  // Without the annotation kubectl.kubernetes.io/last-applied-configuration, a second copy of the object that only
  // kubectl reads.
  const ObjectMeta& meta() const { return meta_; }
  // nullptr where the informer has no projector.
  const Projection* projection() const { return projection_.get(); }
  // A digest of everything but status, resourceVersion and generation, for this process: equal ones mean that nobody
  // changed what a controller would write.
  std::uint64_t digest() const { return digest_; }
  // Another, of its status.
  std::uint64_t status_digest() const { return status_digest_; }
  // A digest, for this process, of what the rules don't leave out: equal ones mean that two objects differ in nothing
  // but that each has its own name where the rules say so.
  std::uint64_t Likeness(const std::vector<LikenessRule>& rules, std::string_view name) const;
  Json Parse() const;  // the whole object
  // About how many bytes of text the whole object has, without escapes.
  std::size_t unpacked_bytes() const { return packed_.unpacked_size(); }
  std::size_t bytes() const;  // about what it takes in memory; the projection, and what it shares with others, left out

 private:
  template <typename Value>
  StoredObject(ObjectMeta meta, std::string_view kind, const Json& part, const Value& whole, const Projector& project);

  ObjectMeta meta_;
  std::uint64_t digest_;
  std::uint64_t status_digest_;
  std::unique_ptr<const Projection> projection_;
  PackedBytes packed_;
};
using ObjectPtr = std::shared_ptr<const StoredObject>;

// -1, 0, 1 by age. resourceVersions of one etcd are ordered integers; where one is not a number, only equal ones can be
// compared: nullopt.
std::optional<int> CompareResourceVersions(const std::string& a, const std::string& b);

// Thread-safe. Written by its informer, and by who has just written to the server (Observe).
class Store {
 public:
  // An index gives each object any number of keys ("the uid of its controller"). Must be pure, and must not throw.
  using IndexFunction = std::function<std::vector<std::string>(const StoredObject&)>;

  // Before the first list. The index's name is used in ByIndex; a name that is there already stays as it is.
  void AddIndex(const std::string& name, IndexFunction function);

  // All three fail with kNotSynced before the first successful list: a cache that knows nothing must not say "nothing
  // there".
  Result<std::vector<ObjectPtr>> List() const;        // in no order
  Result<ObjectPtr> Get(const ObjectKey& key) const;  // kNotFound: it does not exist as far as we have seen
  Result<std::vector<ObjectPtr>> ByIndex(const std::string& name, const std::string& value) const;  // in no order

  bool synced() const;
  std::size_t size() const;

  // Takes the server's answer to a write of ours, so that the next reconcile sees it even if the watch lags. Ignored
  // where the watch has already shown something as new: it may have shown the object's end. Only for objects that the
  // informer selects. Handlers hear of it when the watch tells.
  void Observe(ObjectPtr object);

  // ---- for the informer ----
  // What handlers are told: exactly what list and watch show, in their order, whatever Observe did in between. `before`
  // is what they were told last. Where a list skipped a deletion and a namesake, it is one Change with two uids.
  struct Change {
    ObjectPtr before;  // nullptr: added
    ObjectPtr after;   // nullptr: deleted; `before` is its last known state
  };
  // The state of a finished list: returns what changed against before, deletions included. An object that Observe
  // put in and that is newer than the list stays. Duplicates in the list: the newest counts.
  std::vector<Change> Replace(std::vector<ObjectPtr> objects, const std::string& resource_version);
  // One watch event. nullopt: not news (a duplicate, or older than what we have).
  std::optional<Change> Apply(ObjectPtr object);
  // `last_state` has the resourceVersion of the deletion.
  std::optional<Change> Remove(ObjectPtr last_state);
  // A bookmark: the watch has reached this version. What Observe put in and the watch, now past it, never showed is not
  // among the objects that the informer selects: it is taken out again.
  void Advance(const std::string& resource_version);

 private:
  struct State;
  std::shared_ptr<State> state_ = MakeState();
  static std::shared_ptr<State> MakeState();
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_STORE_H_
