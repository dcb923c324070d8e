// Kubernetes objects as JSON, and functions to read them. JSON keeps fields that the operator does not know.
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
#include <string>
#include <string_view>
#include <vector>

namespace yad {

using Json = nlohmann::json;  // Keys are sorted, so equal objects have the same JSON encoding.
// A flat_map needs less memory than a std::map. This matters because the caches contain very many small maps.
using StringMap = boost::container::flat_map<std::string, std::string>;

// A namespaced name. `ns` is empty for cluster-scoped objects.
struct ObjectKey {
  std::string ns;
  std::string name;

  auto operator<=>(const ObjectKey&) const = default;
  std::string ToString() const { return ns.empty() ? name : ns + "/" + name; }
};

// An API resource: the parts of its URL, and its kind. `group` is empty for the core group.
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

// The part of an object's metadata that controllers read.
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

// Reads `object.metadata`. Values of a wrong type count as absent. Does not throw.
ObjectMeta ParseMeta(const Json& object);

// Returns the value at `path`, or nullptr if it does not exist.
const Json* Find(const Json& object, std::initializer_list<std::string_view> path);
// Return the value at `path`, or `fallback` if it is missing or has another type.
std::string StringAt(const Json& object, std::initializer_list<std::string_view> path, std::string_view fallback = "");
std::int64_t IntAt(const Json& object, std::initializer_list<std::string_view> path, std::int64_t fallback = 0);
bool BoolAt(const Json& object, std::initializer_list<std::string_view> path, bool fallback = false);
// Returns the list at `path`, or an empty list if it is missing or has another type.
const Json& ListAt(const Json& object, std::initializer_list<std::string_view> path);
// Returns the map at `path`. Omits values that are not strings.
StringMap StringMapAt(const Json& object, std::initializer_list<std::string_view> path);

// Returns whether the map has this value for this key.
template <typename Map>
bool HasValue(const Map& map, const std::string& key, const typename Map::mapped_type& value) {
  const auto found = map.find(key);
  return found != map.end() && found->second == value;
}

// Returns the compact JSON encoding. Replaces invalid UTF-8 with U+FFFD instead of throwing an exception.
std::string DumpJson(const Json& value);

// Returns true if objects and arrays are nested more than `levels` deep. Must be called for JSON from other processes
// before it is copied, compared or dumped, because these operations recurse and could overflow the stack.
// Parsing and destruction do not recurse.
bool IsDeeperThan(const Json& value, std::size_t levels);
// The maximum depth for recursive operations. It is far more than real objects have, and far less than the stack of a
// thread allows.
inline constexpr std::size_t kMaxJsonDepth = 500;

// The size of a JSON value.
struct JsonSize {
  std::size_t text = 0;    // length of the compact JSON encoding in bytes, including escapes
  std::size_t values = 0;  // number of values, including the value itself
};
// Measures the value without encoding it. Does not recurse.
JsonSize MeasureJson(const Json& value);

// The hash functions FNV-1a with 64 and 32 bits. The results are used in names of objects, so they must never change.
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
