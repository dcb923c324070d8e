// A cache of the objects of one type, which stores each object compactly.
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
#include "operator/json/json_document.h"
#include "operator/json/packed_bytes.h"
#include "operator/runtime/field_rule.h"

namespace yad {

// The base class of a projection: the parts of an object that a controller reads. They are parsed once, when the object
// arrives.
struct Projection {
  virtual ~Projection() = default;
};
// Makes the projection of an object. Must not throw.
using Projector = std::function<std::unique_ptr<const Projection>(const Json& object)>;

class StoredObject;

// Options for the contents of a StoredObject.
struct KeptParts {
  bool status = true;  // false: only the projector reads the status, and Parse returns the object without it
  // An earlier state of the same object, or nullptr. If the states are equal in all parts that are kept, they share
  // their bytes.
  const StoredObject* before = nullptr;
};

// An object as it was at one resourceVersion. Immutable, so any thread may read it.
class StoredObject {
 public:
  // Keeps the object as compressed bytes, with its parsed metadata and its projection.
  StoredObject(const Json& object, const Projector& project);
  // Like the other constructor, but faster, because the caller has already parsed the object `whole`: `meta` is its
  // metadata, and `part` is the part that `project` reads.
  StoredObject(ObjectMeta meta, const Json& part, const JsonDocument& whole, const Projector& project,
               KeptParts keep = {});
  // Drops the bytes, labels and annotations of the object, so that only a few hundred bytes remain. Parse then returns
  // null. The digests and the projection stay.
  static std::shared_ptr<const StoredObject> WithoutContent(StoredObject&& object);

  // Returns the metadata without the annotation kubectl.kubernetes.io/last-applied-configuration, which is a second
  // copy of the object that only kubectl reads.
  const ObjectMeta& meta() const { return meta_; }
  // Returns the projection, or nullptr if the informer has no projector.
  const Projection* projection() const { return projection_.get(); }
  // Returns a digest of the object without status, resourceVersion, generation and managedFields. States with equal
  // digests differ only in these fields. Digests of different processes can't be compared.
  std::uint64_t digest() const { return digest_; }
  // Returns a digest of the status, or 0 if the status is not kept. Digests of different processes can't be compared.
  std::uint64_t status_digest() const { return status_digest_; }
  // Returns a digest of the object without the parts that `rules` exclude (see FieldRule). `name` is the object's name.
  // Digests of different processes can't be compared.
  std::uint64_t NormalizedDigest(const std::vector<FieldRule>& rules, std::string_view name) const;
  Json Parse() const;  // the object, without the parts that are not kept
  // Returns the number of bytes after compression, without the bytes that several objects share.
  std::size_t packed_bytes() const { return packed_.size(); }
  // Returns the number of bytes before compression, which is close to the length of the object's JSON.
  std::size_t unpacked_bytes() const { return packed_.unpacked_size(); }

 private:
  template <typename Value>
  StoredObject(ObjectMeta meta, std::string_view kind, const Json& part, const Value& whole, const Projector& project,
               KeptParts keep);

  ObjectMeta meta_;
  std::uint64_t digest_;
  std::uint64_t status_digest_;
  std::unique_ptr<const Projection> projection_;
  bool keeps_status_;
  PackedBytes packed_;  // does not contain resourceVersion and generation, which `meta_` has
};
using ObjectPtr = std::shared_ptr<const StoredObject>;

// Returns the projection of an object whose projector makes a T.
template <typename T>
const T& ProjectionOf(const ObjectPtr& object) {
  return *static_cast<const T*>(object->projection());
}

// Returns -1 if `a` is older than `b`, 0 if they are equal, and 1 if `a` is newer. Returns nullopt if the order is
// unknown, because `a` or `b` is not a number. (The resourceVersions of one etcd are increasing integers.)
std::optional<int> CompareResourceVersions(const std::string& a, const std::string& b);

// A cache of objects. The informer writes to it, and so does code that has just written an object to the server (see
// Observe). Thread-safe.
class Store {
 public:
  // Returns the values under which ByIndex finds an object, such as the uid of its controller. Must be a pure function
  // that does not throw.
  using IndexFunction = std::function<std::vector<std::string>(const StoredObject&)>;

  Store();

  // Adds an index for ByIndex. Must be called before the first list. Does nothing if an index with this name exists.
  void AddIndex(const std::string& name, IndexFunction function);

  // List, Get and ByIndex fail with kNotSynced before the first successful list, because an unfilled cache looks like
  // an empty one.
  Result<std::vector<ObjectPtr>> List() const;        // in no order
  Result<ObjectPtr> Get(const ObjectKey& key) const;  // kNotFound: not in the cache
  Result<std::vector<ObjectPtr>> ByIndex(const std::string& name, const std::string& value) const;  // in no order

  bool synced() const;
  std::size_t size() const;

  // Adds the object that the server returned for a write of this process. The next reconcile then sees the write even
  // if the watch lags. `object` must match the namespace and the selectors of the informer.
  // - Does nothing if the watch has already reached the object's version, because the object may have been deleted
  //   since.
  // - Handlers are called later, when the watch reports the object.
  void Observe(ObjectPtr object);

  // A change that a list or a watch reports to handlers. `before` is the last state that handlers received. If an
  // object was deleted and created again between two lists, `before` and `after` have different uids.
  struct Change {
    ObjectPtr before;  // nullptr: added
    ObjectPtr after;   // nullptr: deleted; `before` is its last known state

    const ObjectKey& key() const { return (after ? after : before)->meta().key; }
  };
  // Replaces the objects with those of a complete list. Returns the changes, including deletions.
  // - An object from Observe stays if it is newer than the list.
  // - If the list contains an object twice, the newer state is used.
  std::vector<Change> Replace(std::vector<ObjectPtr> objects, const std::string& resource_version);
  // Adds the object of a watch event. Returns nullopt if handlers have already received this state or a newer state.
  std::optional<Change> Apply(ObjectPtr object);
  // Removes an object that was deleted. `last_state` has the resourceVersion of the deletion.
  std::optional<Change> Remove(ObjectPtr last_state);
  // Handles a bookmark: the watch has reported all events up to this version. If Observe has added an object of this
  // version or an older one, and the watch has not reported it, the object does not match the selectors of the
  // informer. Advance then replaces it with the last state that handlers received, or removes it if they received none.
  void Advance(const std::string& resource_version);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_STORE_H_
