#include "operator/api/service_template.h"

#include <nlohmann/json.hpp>

namespace yad {

std::optional<StringMap> LabelsSelectedBy(const Json& selector) {
  StringMap labels = StringMapAt(selector, {"matchLabels"});
  for (const Json& expression : ListAt(selector, {"matchExpressions"})) {
    const Json& values = ListAt(expression, {"values"});
    const bool one = StringAt(expression, {"operator"}) == "In" && values.size() == 1 && values.front().is_string();
    if (!one || !labels.emplace(StringAt(expression, {"key"}), values.front().get<std::string>()).second) {
      return std::nullopt;
    }
  }
  return labels;
}

}  // namespace yad
