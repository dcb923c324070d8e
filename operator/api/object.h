// Kubernetes objects as data. Objects stay JSON, so that unknown fields are kept. Typed views exist for the fields that
// the operator reads.
#ifndef OPERATOR_API_OBJECT_H_
#define OPERATOR_API_OBJECT_H_

#include <boost/container/flat_map.hpp>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yad {

using Json = nlohmann::json;  // Keys are sorted, so equal objects have equal text.
using StringMap = boost::container::flat_map<std::string, std::string>;  // These maps are small and numerous.

// A namespaced name. `ns` is empty for cluster-scoped objects.
struct ObjectKey {
  std::string ns;
  std::string name;

  auto operator<=>(const ObjectKey&) const = default;
  std::string ToString() const { return ns.empty() ? name : ns + "/" + name; }
};

// An API resource: the parts of its URL, and the kind in manifests. `group` is empty for the core group.
struct ResourceType {
  std::string group;
  std::string version;
  std::string resource;  // plural, lower case: "deployments"
  std::string kind;      // "Deployment"
  bool namespaced = true;

  bool operator==(const ResourceType&) const = default;
  std::string ApiVersion() const { return group.empty() ? version : group + "/" + version; }
};

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;

  bool operator==(const OwnerReference&) const = default;
};

// The part of metadata that every controller reads.
struct ObjectMeta {
  ObjectKey key;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  std::string creation_timestamp;  // RFC 3339
  std::string deletion_timestamp;  // RFC 3339; empty if the object is not being deleted
  StringMap labels;
  StringMap annotations;
  std::shared_ptr<const std::vector<OwnerReference>> owners;  // nullptr: none

  bool deleting() const { return !deletion_timestamp.empty(); }
  const OwnerReference* controller() const;  // nullptr if the object has no controller
  // Return the value, or "" if it is absent.
  const std::string& Label(const std::string& name) const;
  const std::string& Annotation(const std::string& name) const;
};

// Reads `object.metadata`. A value of a wrong type counts as absent. Does not throw.
ObjectMeta ParseMeta(const Json& object);

// Follows `path` through nested objects. Returns nullptr if a member is missing, or if its parent is not an object.
const Json* Find(const Json& object, std::initializer_list<std::string_view> path);
// Return the string, integer or bool at `path`; `fallback` if it is missing or of another type.
std::string StringAt(const Json& object, std::initializer_list<std::string_view> path, std::string_view fallback = "");
std::int64_t IntAt(const Json& object, std::initializer_list<std::string_view> path, std::int64_t fallback = 0);
bool BoolAt(const Json& object, std::initializer_list<std::string_view> path, bool fallback = false);
// Returns the object of strings at `path`. Omits entries that are not strings.
StringMap StringMapAt(const Json& object, std::initializer_list<std::string_view> path);

// Returns true if objects and arrays are nested more than `levels` deep. Copies, comparisons and dumps of Json recurse;
// parsing and destruction do not. Check the depth of JSON from outside of this process before a recursive operation.
bool IsDeeperThan(const Json& value, std::size_t levels);
// The maximum depth for recursive operations. Real objects are never nested this deeply, and the stack of a thread
// allows far more levels.
inline constexpr std::size_t kMaxJsonDepth = 500;

// The size of a JSON value.
struct JsonSize {
  std::size_t text = 0;    // bytes of the compact text, including escapes
  std::size_t values = 0;  // the value itself and all values inside it
};
// Measures the value without serializing it. Does not recurse.
JsonSize MeasureJson(const Json& value);

// FNV-1a, 64 and 32 bits. The results are part of names, so they must be the same in all releases.
std::uint64_t Fnv1a64(std::string_view text, std::uint64_t seed = 0xcbf29ce484222325ULL);
std::uint32_t Fnv1a32(std::string_view text, std::uint32_t seed = 0x811c9dc5U);

}  // namespace yad

template <>
struct std::hash<yad::ObjectKey> {
  std::size_t operator()(const yad::ObjectKey& key) const noexcept {
    return std::hash<std::string>{}(key.ns) * 31 + std::hash<std::string>{}(key.name);
  }
};

#endif  // OPERATOR_API_OBJECT_H_
