// Faults that the kube-apiserver words badly or can't see, in words that help. Pure.
#ifndef WEBHOOK_TEMPLATE_FAULTS_H_
#define WEBHOOK_TEMPLATE_FAULTS_H_

#include <vector>

#include "operator/api/field_error.h"
#include "operator/api/object.h"

namespace yad {

// Beside those of ValidateYurtAppDaemon:
// - values that YAML made something else than what Kubernetes reads there (a number as an environment variable, a port
// in
//   quotes, no quantity): an apiserver answers such a workload with 400 and does not say which container it is in;
// - an override's image for a container that exists nowhere: only the pools of the entry would tell, and there may be
//   none yet.
// None for an object that nests deeper than kMaxJsonDepth.
FieldErrors TemplateFaults(const Json& object);

}  // namespace yad

#endif  // WEBHOOK_TEMPLATE_FAULTS_H_
