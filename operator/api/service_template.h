// Converts the label selector of a workload to the selector of a Service, which supports only labels.
#ifndef OPERATOR_API_SERVICE_TEMPLATE_H_
#define OPERATOR_API_SERVICE_TEMPLATE_H_

#include <optional>

#include "operator/api/object.h"

namespace yad {

// Returns the labels that select the same pods as a LabelSelector. Returns nullopt if the selector has an expression
// other than `In` with a single value.
std::optional<StringMap> LabelsSelectedBy(const Json& selector);

}  // namespace yad

#endif  // OPERATOR_API_SERVICE_TEMPLATE_H_
