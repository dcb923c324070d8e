// Writes objects as YAML, as kubectl does.
#ifndef PLUGIN_MANIFEST_YAML_WRITER_H_
#define PLUGIN_MANIFEST_YAML_WRITER_H_

#include <string>

#include "operator/api/object.h"

namespace yad {

// Returns YAML in block style, with sorted keys and lists that are not indented. A text of several lines is a literal
// block. A text that could be read as another value is quoted, so every reader of YAML 1.1 or 1.2 gets the same JSON.
// Ends with a newline.
std::string ToYaml(const Json& value);

}  // namespace yad

#endif  // PLUGIN_MANIFEST_YAML_WRITER_H_
