// Reads YAML and JSON that users write, as kubectl does. Only yaml_reader.cc includes the YAML library.
#ifndef PLUGIN_MANIFEST_YAML_READER_H_
#define PLUGIN_MANIFEST_YAML_READER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"

namespace yad {

// Returns the documents of a text, without empty ones. Plain scalars have the same meaning as in kubectl (YAML 1.1:
// `yes` and `on` are booleans, 0777 is octal); quoted scalars are texts. If the text is not valid YAML, fails with
// kConfig and a message with `source` and the line.
Result<std::vector<Json>> ReadYaml(const std::string& text, const std::string& source);

// Returns the line, counted from 1, of a field such as "spec.groups[2].name" or "metadata.labels[a.b/c]" in the
// document with this index, as ReadYaml counts them. If the text does not have the field, returns the line of the
// deepest part of the path that it has. Returns 0 if the text is not valid YAML. Parses the whole text.
std::size_t LineOfField(const std::string& text, std::size_t document, const std::string& field);

}  // namespace yad

#endif  // PLUGIN_MANIFEST_YAML_READER_H_
