// YAML as kubectl reads it, for tables of test cases.
#ifndef TESTS_SUPPORT_YAML_H_
#define TESTS_SUPPORT_YAML_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "operator/api/object.h"

namespace yad::testing {

// Returns the documents of a text, without empty documents. Unquoted scalars become null, booleans and numbers by YAML
// 1.2's core schema. Quoted scalars stay strings. Throws TestFailure, with the place, if the text is not valid YAML.
std::vector<Json> ParseYaml(const std::string& text);

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_YAML_H_
