// YAML as kubectl reads it, for tables of test cases.
#ifndef TESTS_SUPPORT_YAML_H_
#define TESTS_SUPPORT_YAML_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "operator/api/object.h"

namespace yad::testing {

// Returns the documents of a YAML string, without empty documents. Unquoted scalars become null, booleans or numbers by
// the core schema of YAML 1.2. Throws TestFailure with the position of the first error.
std::vector<Json> ParseYaml(const std::string& text);

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_YAML_H_
