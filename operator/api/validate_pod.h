// Checks of a pod template, for all kinds that have one.
#ifndef OPERATOR_API_VALIDATE_POD_H_
#define OPERATOR_API_VALIDATE_POD_H_

#include <initializer_list>
#include <string_view>

#include "operator/api/fields.h"

namespace yad {

// Checks a pod template's `spec`. A Job's pods have other restart policies than a Deployment's.
void CheckPodSpec(const JsonField& spec, std::initializer_list<std::string_view> restart_policies, FieldErrors& errors);

}  // namespace yad

#endif  // OPERATOR_API_VALIDATE_POD_H_
