// Reads and writes YAML, as kubectl does. Only yaml_reader.cc includes the YAML library.
#ifndef PLUGIN_MANIFEST_YAML_H_
#define PLUGIN_MANIFEST_YAML_H_

#include <cstddef>
#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"

namespace yad {

// Returns the documents in `text`, except empty documents. Plain scalars have the same meaning as in kubectl (YAML
// 1.1): `yes` and `on` are booleans, and 0777 is octal. Quoted scalars are strings. If `text` is not valid YAML, fails
// with kConfig and a message with `source` and the line.
Result<std::vector<Json>> ReadYaml(const std::string& text, const std::string& source);

// Returns the line, counted from 1, of a field such as "spec.groups[2].name" or "metadata.labels[a.b/c]". `document` is
// an index in the result of ReadYaml. Slow, because it parses the whole text.
// - If the field does not exist, returns the line of its nearest existing parent.
// - If `text` is not valid YAML, returns 0.
std::size_t LineOfField(const std::string& text, std::size_t document, const std::string& field);

// Returns YAML in block style with sorted keys and a newline at the end. Lists are not indented, and a string with
// several lines is a literal block. Strings that could be read as other values are quoted, so every reader of YAML 1.1
// or 1.2 reads the same JSON.
std::string ToYaml(const Json& value);

}  // namespace yad

#endif  // PLUGIN_MANIFEST_YAML_H_
