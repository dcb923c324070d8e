// The parts that ValidateYurtAppDaemon is made of. For this folder only. None recurses: depth is checked before.
#ifndef OPERATOR_API_VALIDATION_H_
#define OPERATOR_API_VALIDATION_H_

#include "operator/api/fields.h"
#include "operator/api/label_selector.h"
#include "operator/api/yurtappdaemon.h"

namespace yad {

// deploymentTemplate or statefulSetTemplate. `selector` is spec.selector, nullptr where that is at fault itself.
void ValidateWorkloadTemplate(const JsonField& workload_template, const LabelSelector* selector, FieldErrors& errors);
// `selector` is spec.selector as written.
void ValidateServiceTemplate(const JsonField& service_template, const JsonField& selector, FieldErrors& errors);
// What of a Service can't be changed in place.
void ValidateServiceUpdate(const JsonField& service_template, const JsonField& old_template, FieldErrors& errors);
// Labels and annotations of a template. A value of a label that says {{nodepool…}} is looked at when it is rendered.
void CheckTemplateMetadata(const JsonField& metadata, FieldErrors& errors);
void ValidateUpdateStrategy(const JsonField& strategy, FieldErrors& errors);
void ValidateOverrides(const JsonField& overrides, FieldErrors& errors);

}  // namespace yad

#endif  // OPERATOR_API_VALIDATION_H_
