// Files with objects.
#ifndef PLUGIN_MANIFEST_H_
#define PLUGIN_MANIFEST_H_

#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "plugin/console.h"

namespace yad {

// The objects of a file ("-": standard input), YAML or JSON, those of lists one by one.
Result<std::vector<Json>> ReadManifests(const std::string& path, Console& console);

// Those of this type's group and kind, in any version; `left_out` counts the others. An Error where there is none.
Result<std::vector<Json>> ReadManifestsOf(const ResourceType& type, const std::string& path, Console& console,
                                          std::size_t& left_out);

// Fills in the namespace: the object's own, else `flag` (--namespace), else `fallback`. An Error where the object's own
// and the flag's differ, as in kubectl.
Status SettleNamespace(Json& object, const std::string& flag, const std::string& fallback);

}  // namespace yad

#endif  // PLUGIN_MANIFEST_H_
