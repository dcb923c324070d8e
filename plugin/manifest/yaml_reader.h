// Reads YAML and JSON that users write, as kubectl does. Only yaml_reader.cc includes the YAML library.
#ifndef PLUGIN_MANIFEST_YAML_READER_H_
#define PLUGIN_MANIFEST_YAML_READER_H_

#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"

namespace yad {

// Returns the documents of a text, without empty ones. Plain scalars have the same meaning as in kubectl (YAML 1.1:
// `yes` and `on` are booleans, 0777 is octal); quoted scalars are texts. If the text is not valid YAML, fails with
// kConfig and a message with `source` and the line.
Result<std::vector<Json>> ReadYaml(const std::string& text, const std::string& source);

}  // namespace yad

#endif  // PLUGIN_MANIFEST_YAML_READER_H_
