// The versions of objects that this process has written.
#ifndef OPERATOR_RUNTIME_WRITTEN_VERSIONS_H_
#define OPERATOR_RUNTIME_WRITTEN_VERSIONS_H_

#include <map>
#include <string>

#include "operator/base/synchronized.h"
#include "operator/runtime/store.h"

namespace yad {

// Keeps the resourceVersion of each object that this process has written, as of the last write. Thread-safe.
class WrittenVersions {
 public:
  void Set(const ObjectKey& key, const std::string& version) {
    versions_.With([&](auto& versions) { versions[key] = version; });
  }
  void Forget(const ObjectKey& key) {
    versions_.With([&](auto& versions) { versions.erase(key); });
  }
  // Returns whether the process wrote this version of the object, or a later version.
  bool Covers(const ObjectMeta& object) const {
    return versions_.With([&](const auto& versions) {
      const auto found = versions.find(object.key);
      return found != versions.end() &&
             CompareResourceVersions(object.resource_version, found->second).value_or(1) <= 0;
    });
  }

 private:
  Synchronized<std::map<ObjectKey, std::string>> versions_;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_WRITTEN_VERSIONS_H_
