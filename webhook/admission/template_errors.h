// Helpful messages for errors that the kube-apiserver describes badly or can't detect. Pure.
#ifndef WEBHOOK_ADMISSION_TEMPLATE_ERRORS_H_
#define WEBHOOK_ADMISSION_TEMPLATE_ERRORS_H_

#include <vector>

#include "operator/api/field_error.h"
#include "operator/api/object.h"

namespace yad {

// Returns the errors that ValidateYurtAppDaemon does not detect:
// - Values that YAML has turned into a type that Kubernetes does not expect (a number as an environment variable, a
//   port in quotes, an invalid quantity). An apiserver rejects the workload with 400, and does not report the
//   container.
// - An override's image for a container that does not exist. The apiserver would report this error only for a pool of
//   the override, and the pool might not exist yet.
//
// Returns an empty list for an object that is nested deeper than kMaxJsonDepth.
FieldErrors TemplateErrors(const Json& object);

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_TEMPLATE_ERRORS_H_
