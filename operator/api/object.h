// Kubernetes objects as data. Objects stay JSON: what we have never heard of survives. Typed views exist for what we
// read.
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

using Json = nlohmann::json;  // Keys are sorted, so that equal objects have equal text.
using StringMap = boost::container::flat_map<std::string, std::string>;  // Small ones, and many of them.

// A namespaced name. `ns` is empty for cluster-scoped objects.
struct ObjectKey {
  std::string ns;
  std::string name;

  auto operator<=>(const ObjectKey&) const = default;
  std::string ToString() const { return ns.empty() ? name : ns + "/" + name; }
};

// What a URL is made of, and what a manifest says. `group` is empty for the core group.
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
  std::string deletion_timestamp;  // RFC 3339; empty: not being deleted
  StringMap labels;
  StringMap annotations;
  std::shared_ptr<const std::vector<OwnerReference>> owners;  // nullptr: none

  bool deleting() const { return !deletion_timestamp.empty(); }
  const OwnerReference* controller() const;  // nullptr: nobody controls it
  // The value, or "" where it is absent.
  const std::string& Label(const std::string& name) const;
  const std::string& Annotation(const std::string& name) const;
};

// Reads `object.metadata`. Values of a wrong type count as absent: nothing throws.
ObjectMeta ParseMeta(const Json& object);

// Walks `path` through nested objects. Returns nullptr where a step is missing or not an object.
const Json* Find(const Json& object, std::initializer_list<std::string_view> path);
// The string, integer or bool at `path`, or the given default where it is missing or of another type.
std::string StringAt(const Json& object, std::initializer_list<std::string_view> path, std::string_view fallback = "");
std::int64_t IntAt(const Json& object, std::initializer_list<std::string_view> path, std::int64_t fallback = 0);
bool BoolAt(const Json& object, std::initializer_list<std::string_view> path, bool fallback = false);
// The object of strings at `path`; entries that are no strings are left out.
StringMap StringMapAt(const Json& object, std::initializer_list<std::string_view> path);

// Whether objects and arrays stand in each other more than `levels` deep. Copying, comparing and printing Json recurse
// (parsing and destroying do not): ask this before doing so with what somebody else wrote.
bool IsDeeperThan(const Json& value, std::size_t levels);
// Far more than any object means, and far less than a thread's stack holds.
inline constexpr std::size_t kMaxJsonDepth = 500;

struct JsonSize {
  std::size_t text = 0;    // bytes of the compact text, escapes included
  std::size_t values = 0;  // `value` itself, and all that it has inside
};
// Measures without making the text. Does not recurse.
JsonSize MeasureJson(const Json& value);

// FNV-1a, 64 bits. Stable across releases: it goes into names.
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
