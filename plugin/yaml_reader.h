// YAML and JSON that people write, as kubectl reads it. Only this file's .cc knows the YAML library.
#ifndef PLUGIN_YAML_READER_H_
#define PLUGIN_YAML_READER_H_

#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"

namespace yad {

// The documents of a text, empty ones left out. Plain scalars mean what they mean to kubectl (YAML 1.1: `yes` and `on`
// are booleans, 0777 is octal); quoted ones are texts. kConfig, with `source` and the line, where it is no YAML.
Result<std::vector<Json>> ReadYaml(const std::string& text, const std::string& source);

}  // namespace yad

#endif  // PLUGIN_YAML_READER_H_
