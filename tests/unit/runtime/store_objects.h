// Creates objects for a Store, and prints the changes and contents of the Store.
#ifndef TESTS_UNIT_RUNTIME_STORE_OBJECTS_H_
#define TESTS_UNIT_RUNTIME_STORE_OBJECTS_H_

#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/runtime/store.h"

namespace yad::testing {

inline Json MakeJson(const std::string& name, const std::string& version, const std::string& uid = "u",
                     const std::string& value = "") {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", {{"namespace", "ns"}, {"name", name}, {"uid", uid}, {"resourceVersion", version}}},
          {"data", {{"value", value}}}};
}

inline ObjectPtr Make(const std::string& name, const std::string& version, const std::string& uid = "u") {
  return std::make_shared<const StoredObject>(MakeJson(name, version, uid), nullptr);
}

inline std::string VersionOf(const ObjectPtr& object) { return object ? object->meta().resource_version : "-"; }

// Returns "x 1->2" for a change, "x -->1" for an addition, or "x 1->-" for a deletion.
inline std::string Describe(const Store::Change& change) {
  const ObjectPtr& any = change.after ? change.after : change.before;
  return any->meta().key.name + " " + VersionOf(change.before) + "->" + VersionOf(change.after);
}
inline std::string Describe(const std::optional<Store::Change>& change) {
  return change ? Describe(*change) : "no change";
}
inline std::vector<std::string> Describe(const std::vector<Store::Change>& changes) {
  std::vector<std::string> texts;
  for (const Store::Change& change : changes) texts.push_back(Describe(change));
  std::sort(texts.begin(), texts.end());
  return texts;
}

// Returns the version of ns/`name` in the store, or the reason of the error.
inline std::string InStore(const Store& store, const std::string& name) {
  Result<ObjectPtr> object = store.Get({"ns", name});
  return object ? VersionOf(*object) : std::string(ToString(object.error().reason));
}

}  // namespace yad::testing

#endif  // TESTS_UNIT_RUNTIME_STORE_OBJECTS_H_
