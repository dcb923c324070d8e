// The labels by which a Service can select. Pure.
#ifndef OPERATOR_API_SERVICE_TEMPLATE_H_
#define OPERATOR_API_SERVICE_TEMPLATE_H_

#include <optional>

#include "operator/api/object.h"

namespace yad {

// Returns labels that are equivalent to a LabelSelector: those of matchLabels, and one label for each expression `In`
// with one value. Returns nullopt if no labels are equivalent.
std::optional<StringMap> LabelsSelectedBy(const Json& selector);

}  // namespace yad

#endif  // OPERATOR_API_SERVICE_TEMPLATE_H_
