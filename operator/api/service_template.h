// What a Service can select by. Pure.
#ifndef OPERATOR_API_SERVICE_TEMPLATE_H_
#define OPERATOR_API_SERVICE_TEMPLATE_H_

#include <optional>

#include "operator/api/object.h"

namespace yad {

// The labels that mean the same as a LabelSelector: matchLabels, and In with one value. nullopt: no labels do.
std::optional<StringMap> LabelsSelectedBy(const Json& selector);

}  // namespace yad

#endif  // OPERATOR_API_SERVICE_TEMPLATE_H_
