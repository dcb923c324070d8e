// The parts of ValidateYurtAppDaemon. Only this folder uses them. ValidateYurtAppDaemon checks the depth of the spec
// before it calls them.
#ifndef OPERATOR_API_VALIDATION_H_
#define OPERATOR_API_VALIDATION_H_

#include "operator/api/fields.h"
#include "operator/api/label_selector.h"
#include "operator/api/yurtappdaemon.h"

namespace yad {

// Validates deploymentTemplate or statefulSetTemplate. `selector` is spec.selector; nullptr if spec.selector has
// faults.
void ValidateWorkloadTemplate(const JsonField& workload_template, const LabelSelector* selector, FieldErrors& errors);
// `selector` is spec.selector as it was written.
void ValidateServiceTemplate(const JsonField& service_template, const JsonField& selector, FieldErrors& errors);
// Reports changes of a Service that are not possible in place.
void ValidateServiceUpdate(const JsonField& service_template, const JsonField& old_template, FieldErrors& errors);
// Checks the labels and annotations of a template. The value of a label with {{nodepool…}} is not checked here, but
// after its rendering.
void CheckTemplateMetadata(const JsonField& metadata, FieldErrors& errors);
void ValidateUpdateStrategy(const JsonField& strategy, FieldErrors& errors);
void ValidateOverrides(const JsonField& overrides, FieldErrors& errors);

}  // namespace yad

#endif  // OPERATOR_API_VALIDATION_H_
