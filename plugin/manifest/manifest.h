// Reads files with objects.
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

// A YAML or JSON file. The text is kept for the lines of faults.
struct ManifestFile {
  std::string source;  // the path, or "standard input"
  std::string text;
  std::vector<Json> objects;
  struct Place {
    std::size_t document = 0;
    std::optional<std::size_t> item;  // of a List
  };
  std::vector<Place> places;  // of the objects

  // Returns an error with the source, the line, the object and the field ("" for the whole object).
  Error Fault(std::size_t object, const std::string& field, const std::string& why) const;
};

// Reads a file ("-": standard input). Lists are split into their items. Fails if the file has more than `most` bytes.
Result<ManifestFile> ReadManifestFile(const std::string& path, std::size_t most, Console& console);

// Returns the objects of a YAML or JSON file ("-": standard input). Lists are split into their items.
Result<std::vector<Json>> ReadManifests(const std::string& path, Console& console);

// Returns the objects of this type's group and kind, in any version. `left_out` counts the other objects. Fails if
// there is no object of the type.
Result<std::vector<Json>> ReadManifestsOf(const ResourceType& type, const std::string& path, Console& console,
                                          std::size_t& left_out);

// Sets the object's namespace: its own, or `flag` (--namespace), or `fallback`. As in kubectl, fails if the object's
// own namespace differs from the flag.
Status SettleNamespace(Json& object, const std::string& flag, const std::string& fallback);

}  // namespace yad

#endif  // PLUGIN_MANIFEST_MANIFEST_H_
