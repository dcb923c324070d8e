#include "operator/api/service_template.h"

#include <nlohmann/json.hpp>

namespace yad {

std::optional<StringMap> LabelsSelectedBy(const Json& selector) {
  StringMap labels = StringMapAt(selector, {"matchLabels"});
  const Json* expressions = Find(selector, {"matchExpressions"});
  if (expressions == nullptr || !expressions->is_array()) return labels;
  for (const Json& expression : *expressions) {
    const Json* values = Find(expression, {"values"});
    const bool one = StringAt(expression, {"operator"}) == "In" && values != nullptr && values->is_array() &&
                     values->size() == 1 && values->front().is_string();
    if (!one || !labels.emplace(StringAt(expression, {"key"}), values->front().get<std::string>()).second) {
      return std::nullopt;
    }
  }
  return labels;
}

}  // namespace yad
