// A local copy of the objects of one type, each stored compactly.
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

// The parts of an object that a controller reads, parsed once when the object arrives.
struct Projection {
  virtual ~Projection() = default;
};
// Makes the projection of an object. Must not throw.
using Projector = std::function<std::unique_ptr<const Projection>(const Json& object)>;

class StoredObject;

// The parts of its object that a StoredObject keeps.
struct KeptParts {
  bool status = true;  // false: Parse returns the object without its status, which only the projection has read
  // An earlier state of the object, or nullptr. If the two states differ only in parts that are not kept, they share
  // the bytes.
  const StoredObject* before = nullptr;
};

// One object as it was at one resourceVersion. Immutable, so any thread may read it.
class StoredObject {
 public:
  // Stores the object as packed bytes, with the parsed metadata and the projection.
  StoredObject(const Json& object, const Projector& project);
  // Like the other constructor, but cheaper: the caller has already parsed `meta`, and the `part` that `project` reads.
  StoredObject(ObjectMeta meta, const Json& part, const JsonDocument& whole, const Projector& project,
               KeptParts keep = {});
  // Returns the object without its bytes, labels and annotations. The result has a few hundred bytes, whatever the size
  // of the object. Its Parse returns null. Its digest, status_digest and projection are those of the whole object.
  static std::shared_ptr<const StoredObject> WithoutContent(StoredObject&& object);
  StoredObject(StoredObject&& other) noexcept;
  ~StoredObject();

  // Returns the metadata without the annotation kubectl.kubernetes.io/last-applied-configuration. The annotation is a
  // second copy of the object, and only kubectl reads it.
  const ObjectMeta& meta() const { return meta_; }
  // Returns nullptr if the informer has no projector.
  const Projection* projection() const { return projection_.get(); }
  // Returns a digest of everything except status, resourceVersion and generation, valid in this process. If the digests
  // are equal, nothing has changed that a controller would write.
  std::uint64_t digest() const { return digest_; }
  // Returns a digest of the status, valid in this process; 0 if the status is not kept.
  std::uint64_t status_digest() const { return status_digest_; }
  // Returns a digest of all members that the rules do not skip, valid in this process. If the digests of two objects
  // are equal, they differ only in skipped members and in their own names at places with the rule kSubstituteName.
  std::uint64_t NormalizedDigest(const std::vector<FieldRule>& rules, std::string_view name) const;
  Json Parse() const;         // the whole object, or all that is kept of it
  std::size_t bytes() const;  // approximate size in memory, without the projection and without shared parts
  // Returns the approximate number of bytes of the whole object's text, without escapes.
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
  PackedBytes packed_;  // without the resourceVersion and the generation that `meta_` has
};
using ObjectPtr = std::shared_ptr<const StoredObject>;

// Compares two versions by age: -1, 0 or 1. The resourceVersions of one etcd are ordered integers. If one of the two is
// not a number, the result is 0 if they are equal, and nullopt otherwise.
std::optional<int> CompareResourceVersions(const std::string& a, const std::string& b);

// Thread-safe. Two kinds of code write to it: the informer, and code that has just written to the server (Observe).
class Store {
 public:
  // An index maps each object to any number of keys, such as the uid of its controller. Must be pure, and must not
  // throw.
  using IndexFunction = std::function<std::vector<std::string>(const StoredObject&)>;

  // Adds an index for ByIndex. Call it before the first list. Does nothing if an index with this name exists.
  void AddIndex(const std::string& name, IndexFunction function);

  // List, Get and ByIndex fail with kNotSynced before the first successful list, so that an unfilled cache does not
  // look empty.
  Result<std::vector<ObjectPtr>> List() const;        // in no order
  Result<ObjectPtr> Get(const ObjectKey& key) const;  // kNotFound: not in the cache
  Result<std::vector<ObjectPtr>> ByIndex(const std::string& name, const std::string& value) const;  // in no order

  bool synced() const;
  std::size_t size() const;

  // Adds the server's response to a write of this process, so that the next reconcile sees it even if the watch lags.
  // The informer must select `object`. Does nothing if the watch has already reached that version, because the watch
  // may have reported the deletion of the object. Handlers are called when the watch reports the object.
  void Observe(ObjectPtr object);

  // ---- for the informer ----
  // A change for handlers. Handlers get exactly the changes of list and watch, in their order, independent of Observe.
  // `before` is the last state that handlers got. If an object was deleted and recreated between two lists, handlers
  // get one Change with two uids.
  struct Change {
    ObjectPtr before;  // nullptr: added
    ObjectPtr after;   // nullptr: deleted; `before` is its last known state
  };
  // Replaces the state by a finished list. Returns the changes, including deletions. An object from Observe that is
  // newer than the list stays. If the list contains an object twice, the newer state counts.
  std::vector<Change> Replace(std::vector<ObjectPtr> objects, const std::string& resource_version);
  // Applies one watch event. Returns nullopt if it is a duplicate, or older than the known state.
  std::optional<Change> Apply(ObjectPtr object);
  // Removes an object. `last_state` has the resourceVersion of the deletion.
  std::optional<Change> Remove(ObjectPtr last_state);
  // Handles a bookmark: the watch has reached this version. If an object from Observe is older and the watch did not
  // report it, the informer does not select the object. Such an object is removed, or reset to the last state that
  // handlers got.
  void Advance(const std::string& resource_version);

 private:
  struct State;
  std::shared_ptr<State> state_ = MakeState();
  static std::shared_ptr<State> MakeState();
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_STORE_H_
