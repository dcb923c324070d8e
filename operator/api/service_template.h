// Labels that a Service can select by. Pure.
#ifndef OPERATOR_API_SERVICE_TEMPLATE_H_
#define OPERATOR_API_SERVICE_TEMPLATE_H_

#include <optional>

#include "operator/api/object.h"

namespace yad {

// Returns the labels that are equivalent to a LabelSelector: matchLabels, and In with one value. Returns nullopt if no
// labels are.
std::optional<StringMap> LabelsSelectedBy(const Json& selector);

}  // namespace yad

#endif  // OPERATOR_API_SERVICE_TEMPLATE_H_
