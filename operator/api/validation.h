// The validation of parts of a YurtAppDaemon. Only this folder uses these functions. The functions recurse into the
// spec, so ValidateYurtAppDaemon checks the depth of the spec before it calls them.
#ifndef OPERATOR_API_VALIDATION_H_
#define OPERATOR_API_VALIDATION_H_

#include "operator/api/fields.h"
#include "operator/api/label_selector.h"

namespace yad {

// Validates deploymentTemplate or statefulSetTemplate. `selector` is the parsed spec.selector, or nullptr if it has
// errors.
void ValidateWorkloadTemplate(const JsonField& workload_template, const LabelSelector* selector, FieldErrors& errors);
// Validates serviceTemplate. `selector` is spec.selector, which is not parsed yet.
void ValidateServiceTemplate(const JsonField& service_template, const JsonField& selector, FieldErrors& errors);
// Adds an error for each change of a Service that would require its deletion.
void ValidateServiceUpdate(const JsonField& service_template, const JsonField& old_template, FieldErrors& errors);
// Validates the labels and annotations of serviceTemplate. Skips the value of a label with a variable {{nodepool…}}.
// The apiserver validates the value after the variable has been replaced with the pool's name.
void CheckTemplateMetadata(const JsonField& metadata, FieldErrors& errors);
void ValidateOverrides(const JsonField& overrides, FieldErrors& errors);

}  // namespace yad

#endif  // OPERATOR_API_VALIDATION_H_
