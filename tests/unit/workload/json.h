#ifndef TESTS_UNIT_WORKLOAD_JSON_H_
#define TESTS_UNIT_WORKLOAD_JSON_H_

#include <nlohmann/json.hpp>
#include <string>

#include "operator/api/object.h"

namespace yad {

inline Json J(const std::string& text) { return Json::parse(text); }

// Returns a workload with this pod spec.
inline Json Pod(const std::string& pod) { return {{"spec", {{"template", {{"spec", Json::parse(pod)}}}}}}; }
// Returns a workload with one container "c" that has these members.
inline Json Container(const std::string& members) {
  Json container = Json::parse(members);
  container["name"] = "c";
  return {{"spec", {{"template", {{"spec", {{"containers", Json::array({container})}}}}}}}};
}

}  // namespace yad

#endif  // TESTS_UNIT_WORKLOAD_JSON_H_
