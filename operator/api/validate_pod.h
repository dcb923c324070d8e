// Validates pod templates.
#ifndef OPERATOR_API_VALIDATE_POD_H_
#define OPERATOR_API_VALIDATE_POD_H_

#include <initializer_list>
#include <string_view>

#include "operator/api/fields.h"

namespace yad {

// Validates the `spec` of a pod template. `restart_policies` contains the valid values of restartPolicy, which are
// different for Jobs and Deployments.
void CheckPodSpec(const JsonField& spec, std::initializer_list<std::string_view> restart_policies, FieldErrors& errors);

}  // namespace yad

#endif  // OPERATOR_API_VALIDATE_POD_H_
