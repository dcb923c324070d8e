// Reads manifests: files of Kubernetes objects in YAML or JSON.
#ifndef PLUGIN_MANIFEST_MANIFEST_H_
#define PLUGIN_MANIFEST_MANIFEST_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "plugin/view/console.h"

namespace yad {

// The objects of a YAML or JSON file. Also keeps the text of the file, to find the line of a field for an error.
struct ManifestFile {
  std::string source;  // the path, or "standard input"
  std::string text;
  std::vector<Json> objects;
  struct Place {
    std::size_t document = 0;
    std::optional<std::size_t> item;  // the index in a List; nullopt if the document is not a List
  };
  std::vector<Place> places;  // the position of each object

  // Returns an error with the source, the line, the object and the field. `field` is "" for the whole object.
  Error ErrorAt(std::size_t object, const std::string& field, const std::string& why) const;
};

// Reads a file ("-": standard input). Lists are split into their items. Fails if the file has more than `most` bytes.
Result<ManifestFile> ReadManifestFile(const std::string& path, std::size_t most, Console& console);

// Returns the objects of a YAML or JSON file ("-": standard input). Lists are split into their items.
Result<std::vector<Json>> ReadManifests(const std::string& path, Console& console);

// Returns whether the object has the kind and the group of this type, in any version. The core group has only v1.
bool IsOfType(const Json& object, const ResourceType& type);

// Returns the objects with the group and kind of this type, in any version. Sets `skipped`, unless it is nullptr, to
// the number of other objects. Fails if there is no object of the type, or if an object of the type has no name.
Result<std::vector<Json>> ReadManifestsOf(const ResourceType& type, const std::string& path, Console& console,
                                          std::size_t* skipped = nullptr);

// If the object has no namespace, sets it to `flag` (the value of --namespace), or to `fallback` if `flag` is "". As in
// kubectl, fails if the object has a namespace that differs from the flag.
Status SettleNamespace(Json& object, const std::string& flag, const std::string& fallback);

}  // namespace yad

#endif  // PLUGIN_MANIFEST_MANIFEST_H_
