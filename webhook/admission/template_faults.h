// Faults that the kube-apiserver describes badly or can't detect, in helpful words. Pure.
#ifndef WEBHOOK_ADMISSION_TEMPLATE_FAULTS_H_
#define WEBHOOK_ADMISSION_TEMPLATE_FAULTS_H_

#include <vector>

#include "operator/api/field_error.h"
#include "operator/api/object.h"

namespace yad {

// Returns the faults beyond those of ValidateYurtAppDaemon:
// - Values that YAML has turned into another type than Kubernetes expects (a number as an environment variable, a port
//   in quotes, an invalid quantity). An apiserver answers such a workload with 400, and does not name the container.
// - An image of an override for a container that does not exist. Only the pools of the entry would show this fault, and
//   there may be none yet.
// Returns none for an object that is nested deeper than kMaxJsonDepth.
FieldErrors TemplateFaults(const Json& object);

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_TEMPLATE_FAULTS_H_
