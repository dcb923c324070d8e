#include "operator/runtime/store.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <nlohmann/json.hpp>
#include <shared_mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/base/weak_table.h"
#include "operator/json/json_document.h"
#include "operator/runtime/json_bytes.h"

namespace yad {
namespace {

constexpr char kResourceVersion[] = "resourceVersion";
constexpr char kGeneration[] = "generation";

// Writes an object's members as CBOR, and computes the digests of its content and its status at the same time.
class Writer {
 public:
  enum Part { kContent, kStatus };

  Writer() { bytes_.clear(); }
  void Open(std::size_t members) { AppendCborObject(members, bytes_); }
  template <typename Value>
  void Add(const Value& value) {
    Append(kContent, [&] { AppendCbor(value, bytes_); });
  }
  void AddKey(std::string_view key) {
    Append(kContent, [&] { AppendCborKey(key, bytes_); });
  }
  template <typename Value>
  void AddMember(std::string_view key, const Value& value, Part part) {
    Append(part, [&] {
      AppendCborKey(key, bytes_);
      AppendCbor(value, bytes_);
    });
  }
  std::uint64_t digest(Part part) const { return digests_[part]; }
  const std::string& bytes() const { return bytes_; }

 private:
  template <typename AppendPart>
  void Append(Part part, AppendPart append) {
    const std::size_t begin = bytes_.size();
    append();
    digests_[part] = Digested(digests_[part], std::string_view(bytes_).substr(begin));
  }

  // The buffer is reused for the thread's next object, because growing a new buffer takes longer than filling it.
  static std::string& Scratch() {
    constexpr std::size_t kLongestKept = 64 * 1024;
    thread_local std::string scratch;
    if (scratch.capacity() > kLongestKept) scratch = std::string();
    return scratch;
  }

  std::string& bytes_ = Scratch();
  std::array<std::uint64_t, 2> digests_{};
};

// Writes the metadata of an object. Omits managedFields, and omits resourceVersion and generation, which `meta` has.
// `Value` is Json or simdjson::dom::element. Both types result in the same bytes and digests.
template <typename Value>
void WriteMetadata(const Value& metadata, const ObjectMeta& meta, Writer& writer) {
  const auto& members = MembersInOrder(metadata);
  const auto is_kept = [&](const auto& member) {
    if (member.first == kResourceVersion) return meta.resource_version.empty();
    if (member.first == kGeneration) return meta.generation == 0;
    return member.first != kManagedFields;
  };
  writer.Open(static_cast<std::size_t>(std::count_if(members.begin(), members.end(), is_kept)));
  for (const auto& member : members) {
    if (is_kept(member)) writer.AddMember(member.first, member.second, Writer::kContent);
  }
}

template <typename Value>
void WriteObject(const Value& object, const ObjectMeta& meta, bool with_status, Writer& writer) {
  if (!object.is_object()) return writer.Add(object);
  const auto& members = MembersInOrder(object);
  const auto is_kept = [&](const auto& member) { return with_status || member.first != "status"; };
  writer.Open(static_cast<std::size_t>(std::count_if(members.begin(), members.end(), is_kept)));
  for (const auto& member : members) {
    if (!is_kept(member)) continue;
    const auto& [key, value] = member;
    if (key == "metadata" && value.is_object()) {
      writer.AddKey(key);
      WriteMetadata(value, meta, writer);
    } else {
      writer.AddMember(key, value, key == "status" ? Writer::kStatus : Writer::kContent);
    }
  }
}

// Returns the number of the object's family. PackedBytes compresses objects of one family together. Objects of the same
// kind and controller are similar, so they are one family.
std::uint64_t FamilyOf(std::string_view kind, const ObjectMeta& meta) {
  const OwnerReference* controller = meta.controller();
  return Fnv1a64(controller ? controller->uid : "", Fnv1a64(kind));
}

// The objects of one controller usually have equal owners, so they share one list of owners.
void ShareOwners(std::uint64_t family, ObjectMeta& meta) {
  static auto& known =
      *new WeakTable<std::vector<OwnerReference>>;  // never destroyed, because threads may still read it
  if (meta.owners == nullptr) return;
  const auto shared = known.Find(family);
  if (shared != nullptr && *shared == *meta.owners) {
    meta.owners = shared;
  } else {
    known.Set(family, meta.owners);
  }
}

bool IsNumber(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool IsOlder(const std::string& a, const std::string& b) { return CompareResourceVersions(a, b) == -1; }

}  // namespace

StoredObject::StoredObject(const Json& object, const Projector& project)
    : StoredObject(ParseMeta(object), StringAt(object, {"kind"}), object, object, project, {}) {}

StoredObject::StoredObject(ObjectMeta meta, const Json& part, const JsonDocument& whole, const Projector& project,
                           KeptParts keep)
    : StoredObject(std::move(meta), whole.TextAt("kind"), part, whole.value(), project, keep) {}

template <typename Value>
StoredObject::StoredObject(ObjectMeta meta, std::string_view kind, const Json& part, const Value& whole,
                           const Projector& project, KeptParts keep)
    : meta_(std::move(meta)), keeps_status_(keep.status) {
  const std::uint64_t family = FamilyOf(kind, meta_);
  ShareOwners(family, meta_);
  if (meta_.annotations.erase(kLastAppliedAnnotation) > 0) meta_.annotations.shrink_to_fit();
  Writer writer;
  WriteObject(whole, meta_, keeps_status_, writer);
  digest_ = writer.digest(Writer::kContent);
  status_digest_ = writer.digest(Writer::kStatus);
  const StoredObject* const before = keep.before;
  const bool is_same = before != nullptr && before->keeps_status_ == keeps_status_ && before->digest_ == digest_ &&
                       before->status_digest_ == status_digest_ && before->packed_.unpacked_size() > 0;
  packed_ = is_same ? before->packed_ : PackedBytes(writer.bytes(), family);
  if (project) projection_ = project(part);
}

ObjectPtr StoredObject::WithoutContent(StoredObject&& object) {
  object.packed_ = PackedBytes();
  object.meta_.labels = StringMap();
  object.meta_.annotations = StringMap();
  return std::make_shared<const StoredObject>(std::move(object));
}

std::uint64_t StoredObject::NormalizedDigest(const std::vector<FieldRule>& rules, std::string_view name) const {
  return NormalizedDigestOfCbor(packed_.Unpack(), rules, name);
}

Json StoredObject::Parse() const {
  if (packed_.unpacked_size() == 0) return nullptr;
  Json object = FromCbor(packed_.Unpack());
  if (!meta_.resource_version.empty()) object["metadata"][kResourceVersion] = meta_.resource_version;
  if (meta_.generation != 0) object["metadata"][kGeneration] = meta_.generation;
  return object;
}

std::optional<int> CompareResourceVersions(const std::string& a, const std::string& b) {
  if (a == b) return 0;
  if (!IsNumber(a) || !IsNumber(b)) return std::nullopt;
  std::string_view x = a, y = b;  // compared as strings, because the number might not fit into an integer
  x.remove_prefix(std::min(x.find_first_not_of('0'), x.size()));
  y.remove_prefix(std::min(y.find_first_not_of('0'), y.size()));
  if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
  const int order = x.compare(y);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

struct Store::State {
  struct Entry {
    ObjectPtr object;     // the newest known state
    ObjectPtr announced;  // the last state that handlers received, or nullptr; equals `object` except after Observe
  };
  struct Index {
    std::string name;
    IndexFunction function;
    std::unordered_map<std::string, std::unordered_set<const Entry*>> entries;
  };

  // Puts `object` into its entry, and creates the entry if it is missing. The entry keeps its address, because indices
  // point to it.
  Entry& Put(const ObjectPtr& object) {
    Entry& entry = objects[object->meta().key];
    if (entry.object) Unindex(entry);
    entry.object = object;
    for (Index& index : indices) {
      for (const std::string& value : index.function(*object)) index.entries[value].insert(&entry);
    }
    return entry;
  }

  // Returns whether `object` is newer than `announced`.
  static bool IsNewer(const ObjectPtr& object, const ObjectPtr& announced) {
    if (!announced) return true;
    const std::optional<int> age =
        CompareResourceVersions(object->meta().resource_version, announced->meta().resource_version);
    return !age || *age == 1;
  }

  // Stores an object from a list or a watch, unless the Store has a newer state from a write of this process (see
  // Observe). Returns the Change that is reported to handlers.
  Change Announce(const ObjectPtr& object) {
    const ObjectKey& key = object->meta().key;
    auto found = objects.find(key);
    if (found == objects.end() ||
        !IsOlder(object->meta().resource_version, found->second.object->meta().resource_version)) {
      Put(object);
      unannounced.erase(key);
    }
    Entry& entry = objects[key];
    Change change{entry.announced, object};
    entry.announced = object;
    return change;
  }

  // Handles the deletion of an object. `version` is the resourceVersion of the deletion, or of a list that does not
  // have the object. If the stored state is newer, the object was created again, and this state stays. Returns the
  // Change to report to handlers, or nullopt.
  std::optional<Change> End(const ObjectKey& key, const std::string& version) {
    auto found = objects.find(key);
    if (found == objects.end()) return std::nullopt;
    Entry& entry = found->second;
    if (!IsOlder(version, entry.object->meta().resource_version)) {
      Change change{entry.object, nullptr};
      Erase(key);
      return change;
    }
    if (!entry.announced || entry.announced == entry.object ||
        IsOlder(version, entry.announced->meta().resource_version)) {
      return std::nullopt;
    }
    return Change{std::exchange(entry.announced, nullptr), nullptr};
  }

  void Erase(const ObjectKey& key) {
    auto found = objects.find(key);
    if (found == objects.end()) return;
    Unindex(found->second);
    unannounced.erase(key);
    objects.erase(found);
  }

  void Unindex(const Entry& entry) {
    for (Index& index : indices) {
      for (const std::string& value : index.function(*entry.object)) {
        auto found = index.entries.find(value);
        if (found == index.entries.end()) continue;
        found->second.erase(&entry);
        if (found->second.empty()) index.entries.erase(found);
      }
    }
  }

  // Sets `position`, the version that list and watch have reached, to `version` if it is not older. A version that is
  // not a number can't be compared, so it always becomes the position.
  void MovePosition(const std::string& version) {
    if (!version.empty() && !IsOlder(version, position)) position = version;
  }

  mutable std::shared_mutex mutex;
  std::unordered_map<ObjectKey, Entry> objects;  // The entries keep their addresses, to which the indices point.
  std::unordered_set<ObjectKey> unannounced;     // keys of entries that hold an object from Observe
  std::vector<Index> indices;
  std::string position;  // the version that list and watch have reached
  bool synced = false;
};

Store::Store() : state_(std::make_shared<State>()) {}

void Store::AddIndex(const std::string& name, IndexFunction function) {
  std::unique_lock lock(state_->mutex);
  for (const State::Index& index : state_->indices) {
    if (index.name == name) return;
  }
  State::Index index{name, std::move(function), {}};
  for (const auto& [key, entry] : state_->objects) {
    for (const std::string& value : index.function(*entry.object)) index.entries[value].insert(&entry);
  }
  state_->indices.push_back(std::move(index));
}

Result<std::vector<ObjectPtr>> Store::List() const {
  std::shared_lock lock(state_->mutex);
  if (!state_->synced) return Fail(Reason::kNotSynced, "the cache has not been filled yet");
  std::vector<ObjectPtr> objects;
  objects.reserve(state_->objects.size());
  for (const auto& [key, entry] : state_->objects) objects.push_back(entry.object);
  return objects;
}

Result<ObjectPtr> Store::Get(const ObjectKey& key) const {
  std::shared_lock lock(state_->mutex);
  if (!state_->synced) return Fail(Reason::kNotSynced, "the cache has not been filled yet");
  auto found = state_->objects.find(key);
  if (found == state_->objects.end()) return Fail(Reason::kNotFound, key.ToString() + " is not in the cache");
  return found->second.object;
}

Result<std::vector<ObjectPtr>> Store::ByIndex(const std::string& name, const std::string& value) const {
  std::shared_lock lock(state_->mutex);
  if (!state_->synced) return Fail(Reason::kNotSynced, "the cache has not been filled yet");
  for (const State::Index& index : state_->indices) {
    if (index.name != name) continue;
    std::vector<ObjectPtr> objects;
    if (auto found = index.entries.find(value); found != index.entries.end()) {
      for (const State::Entry* entry : found->second) objects.push_back(entry->object);
    }
    return objects;
  }
  return Fail(Reason::kConfig, "the cache has no index " + name);
}

bool Store::synced() const {
  std::shared_lock lock(state_->mutex);
  return state_->synced;
}

std::size_t Store::size() const {
  std::shared_lock lock(state_->mutex);
  return state_->objects.size();
}

void Store::Observe(ObjectPtr object) {
  const ObjectMeta& meta = object->meta();
  if (meta.key.name.empty()) return;
  std::unique_lock lock(state_->mutex);
  if (!IsNumber(meta.resource_version)) return;
  if (!state_->position.empty() && CompareResourceVersions(meta.resource_version, state_->position) != 1) return;
  auto found = state_->objects.find(meta.key);
  if (found != state_->objects.end() &&
      CompareResourceVersions(meta.resource_version, found->second.object->meta().resource_version) != 1) {
    return;
  }
  state_->Put(object);
  state_->unannounced.insert(meta.key);
}

std::vector<Store::Change> Store::Replace(std::vector<ObjectPtr> objects, const std::string& resource_version) {
  std::vector<Change> changes;
  std::unique_lock lock(state_->mutex);
  std::unordered_map<ObjectKey, ObjectPtr> listed;
  for (ObjectPtr& object : objects) {
    if (object->meta().key.name.empty()) continue;
    ObjectPtr& slot = listed[object->meta().key];
    if (!slot || !IsOlder(object->meta().resource_version, slot->meta().resource_version)) slot = std::move(object);
  }

  std::vector<ObjectKey> vanished;
  for (const auto& [key, entry] : state_->objects) {
    if (!listed.contains(key)) vanished.push_back(key);
  }
  for (const ObjectKey& key : vanished) {
    if (std::optional<Change> change = state_->End(key, resource_version)) changes.push_back(std::move(*change));
  }
  for (const auto& [key, object] : listed) {
    auto found = state_->objects.find(key);
    if (found == state_->objects.end() || State::IsNewer(object, found->second.announced)) {
      changes.push_back(state_->Announce(object));
    }
  }
  state_->MovePosition(resource_version);
  state_->synced = true;
  return changes;
}

std::optional<Store::Change> Store::Apply(ObjectPtr object) {
  const ObjectMeta& meta = object->meta();
  if (meta.key.name.empty()) return std::nullopt;
  std::unique_lock lock(state_->mutex);
  const bool passed =
      IsNumber(meta.resource_version) && !state_->position.empty() && !IsOlder(state_->position, meta.resource_version);
  state_->MovePosition(meta.resource_version);
  auto found = state_->objects.find(meta.key);
  const ObjectPtr announced = found == state_->objects.end() ? nullptr : found->second.announced;
  // Ignores an event that is not newer than the watch's position, if handlers have not received its object: the watch
  // has already reported the object's deletion.
  if (!announced && passed) return std::nullopt;
  if (!State::IsNewer(object, announced)) return std::nullopt;
  return state_->Announce(object);
}

std::optional<Store::Change> Store::Remove(ObjectPtr last_state) {
  const ObjectMeta& meta = last_state->meta();
  std::unique_lock lock(state_->mutex);
  state_->MovePosition(meta.resource_version);
  return state_->End(meta.key, meta.resource_version);
}

void Store::Advance(const std::string& resource_version) {
  std::unique_lock lock(state_->mutex);
  state_->MovePosition(resource_version);
  std::vector<ObjectKey> passed;
  for (const ObjectKey& key : state_->unannounced) {
    if (!IsOlder(state_->position, state_->objects[key].object->meta().resource_version)) passed.push_back(key);
  }
  for (const ObjectKey& key : passed) {
    if (ObjectPtr announced = state_->objects[key].announced) {
      state_->unannounced.erase(key);
      state_->Put(announced);
    } else {
      state_->Erase(key);
    }
  }
}

}  // namespace yad
