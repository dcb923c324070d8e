// Objects as YAML, as kubectl prints them.
#ifndef PLUGIN_YAML_WRITER_H_
#define PLUGIN_YAML_WRITER_H_

#include <string>

#include "operator/api/object.h"

namespace yad {

// Block style, keys sorted, lists not indented; a text of several lines as a literal block. Whatever reads it as YAML
// 1.1 or 1.2 gets the same JSON: a text that could be taken for anything else is quoted. Ends in a newline.
std::string ToYaml(const Json& value);

}  // namespace yad

#endif  // PLUGIN_YAML_WRITER_H_
