// YAML as kubectl reads it, for tables of test cases.
#ifndef TESTS_SUPPORT_YAML_H_
#define TESTS_SUPPORT_YAML_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "operator/api/object.h"

namespace yad::testing {

// The documents of a text, empty ones left out. Plain scalars become null, booleans and numbers as in YAML 1.2's core
// schema; quoted ones stay texts. TestFailure, with the place, where it is no YAML.
std::vector<Json> ParseYaml(const std::string& text);

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_YAML_H_
