// Writes objects as YAML, as kubectl does.
#ifndef PLUGIN_MANIFEST_YAML_WRITER_H_
#define PLUGIN_MANIFEST_YAML_WRITER_H_

#include <string>

#include "operator/api/object.h"

namespace yad {

// Returns YAML in block style with sorted keys and a newline at the end. Lists are not indented, and a string with
// several lines is a literal block. Strings that could be read as other values are quoted, so every reader of YAML 1.1
// or 1.2 reads the same JSON.
std::string ToYaml(const Json& value);

}  // namespace yad

#endif  // PLUGIN_MANIFEST_YAML_WRITER_H_
