// The parts that ValidateYurtAppDaemon is made of. For this folder only. None recurses: depth is checked before.
#ifndef OPERATOR_API_VALIDATION_H_
#define OPERATOR_API_VALIDATION_H_

#include "operator/api/fields.h"
#include "operator/api/label_selector.h"
#include "operator/api/yurtappdaemon.h"

namespace yad {

// deploymentTemplate or statefulSetTemplate. `selector` is spec.selector, nullptr where that is at fault itself.
void ValidateWorkloadTemplate(const JsonField& workload_template, const LabelSelector* selector, FieldErrors& errors);
void ValidateUpdateStrategy(const JsonField& strategy, FieldErrors& errors);
void ValidateOverrides(const JsonField& overrides, FieldErrors& errors);

}  // namespace yad

#endif  // OPERATOR_API_VALIDATION_H_
