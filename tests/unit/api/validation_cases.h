// Valid YurtAppDaemons for tests, and a test case: changes of a valid object and the expected errors.
#ifndef TESTS_UNIT_API_VALIDATION_CASES_H_
#define TESTS_UNIT_API_VALIDATION_CASES_H_

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "operator/api/yurtappdaemon.h"

namespace yad::testing {

inline const std::string kTemplate = "spec.workloadTemplate.deploymentTemplate.";
inline constexpr char kLabelFault[] = "a valid label must be";

inline Json GoodDeployment() {
  return Json::parse(R"({
    "apiVersion": "apps.openyurt.io/v1alpha1", "kind": "YurtAppDaemon", "metadata": {"name": "n", "namespace": "ns"},
    "spec": {
      "selector": {"matchLabels": {"app": "x"}},
      "nodepoolSelector": {"matchLabels": {"type": "edge"}},
      "workloadTemplate": {"deploymentTemplate": {
        "metadata": {"labels": {"app": "x"}, "annotations": {"Example.com/A": "any text"}},
        "spec": {"template": {"metadata": {"labels": {"app": "x", "more": "y"}},
                              "spec": {"containers": [{"name": "c", "image": "i:1"}]}}}}}}})");
}

inline Json GoodStatefulSet() {
  Json object = GoodDeployment();
  Json& workload = object["spec"]["workloadTemplate"];
  workload["statefulSetTemplate"] = workload["deploymentTemplate"];
  workload.erase("deploymentTemplate");
  return object;
}

// A change of an object: a JSON pointer below /spec, and the new value. null removes the field.
struct SpecEdit {
  std::string pointer;
  Json value;
};

inline Json With(Json object, const std::vector<SpecEdit>& edits) {
  for (const SpecEdit& edit : edits) object[Json::json_pointer("/spec" + edit.pointer)] = edit.value;
  return object;
}

inline std::vector<std::string> Texts(const FieldErrors& errors) {
  std::vector<std::string> texts;
  for (const FieldError& error : errors) texts.push_back(error.ToString());
  return texts;
}

// Changes of a valid YurtAppDaemon with a Deployment template, and the expected errors.
struct ValidationCase {
  std::vector<SpecEdit> edits;
  std::vector<std::string> errors;
};

inline void ExpectErrors(const std::vector<ValidationCase>& cases) {
  for (const ValidationCase& one : cases) {
    const Json object = With(GoodDeployment(), one.edits);
    EXPECT_EQ(Texts(ValidateYurtAppDaemon(object)), one.errors) << object["spec"].dump(1);
  }
}

}  // namespace yad::testing

#endif  // TESTS_UNIT_API_VALIDATION_CASES_H_
