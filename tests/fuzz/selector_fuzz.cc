// Compares label selectors with a naive evaluation of their JSON, and with the same selectors parsed from kubectl's
// syntax. The input is [selector, labels].
#include <algorithm>
#include <string>
#include <vector>

#include "operator/api/label_selector.h"
#include "operator/json/json_document.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/json_mutator.h"

namespace yad {
namespace {

// Returns whether the selector matches the labels, as the API's documentation defines it.
bool Naive(const Json& selector, const StringMap& labels) {
  for (const auto& [key, value] : StringMapAt(selector, {"matchLabels"})) {
    if (!labels.contains(key) || labels.at(key) != value) return false;
  }
  const Json* expressions = Find(selector, {"matchExpressions"});
  if (expressions == nullptr || expressions->is_null()) return true;
  for (const Json& expression : *expressions) {
    const auto label = labels.find(StringAt(expression, {"key"}));
    const Json* values = Find(expression, {"values"});
    bool listed = false;
    if (label != labels.end() && values != nullptr && values->is_array()) {
      listed = std::find(values->begin(), values->end(), label->second) != values->end();
    }
    const std::string op = StringAt(expression, {"operator"});
    const bool wanted = op == "In" || op == "Exists";
    if ((op.ends_with("In") ? listed : label != labels.end()) != wanted) return false;
  }
  return true;
}

// Parses kubectl's syntax for selectors, as an apiserver does.
Json FromText(const std::string& text) {
  Json selector = {{"matchExpressions", Json::array()}};
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find_first_of(",(", at);
    if (end != std::string::npos && text[end] == '(') end = text.find(')', end) + 1;
    const std::string part = text.substr(at, end - at);
    at = end == std::string::npos ? text.size() : end + 1;
    const std::size_t space = part.find(' ');
    const std::size_t equals = part.find('=');
    if (space != std::string::npos) {
      Json values = Json::array();
      const std::size_t open = part.find('(');
      for (std::size_t from = open + 1; from < part.size();) {
        const std::size_t to = part.find_first_of(",)", from);
        values.push_back(part.substr(from, to - from));
        from = to + 1;
      }
      const std::string op = part.substr(space, open - space) == " in " ? "In" : "NotIn";
      selector["matchExpressions"].push_back(
          {{"key", part.substr(0, space)}, {"operator", op}, {"values", std::move(values)}});
    } else if (equals != std::string::npos) {
      selector["matchExpressions"].push_back(
          {{"key", part.substr(0, equals)}, {"operator", "In"}, {"values", {part.substr(equals + 1)}}});
    } else if (part.starts_with("!")) {
      selector["matchExpressions"].push_back({{"key", part.substr(1)}, {"operator", "DoesNotExist"}});
    } else {
      selector["matchExpressions"].push_back({{"key", part}, {"operator", "Exists"}});
    }
  }
  return selector;
}

void Selector(const Json& json, const Json& labels_json) {
  const auto selector = LabelSelector::Parse(json, "spec.selector");
  if (!selector) {
    YAD_CHECK(!selector.error().causes.empty(), selector.error().message);
    return;
  }
  const StringMap labels = StringMapAt({{"labels", labels_json}}, {"labels"});
  if (json.is_null()) {
    YAD_CHECK(!selector->Matches(labels), "null matches nothing");
    return;
  }
  YAD_CHECK(selector->Matches(labels) == Naive(json, labels), selector->ToString());
  YAD_CHECK(selector->empty() == selector->ToString().empty(), selector->ToString());
  const auto again = LabelSelector::Parse(FromText(selector->ToString()), "");
  YAD_CHECK(again, selector->ToString());
  YAD_CHECK(again->Matches(labels) == selector->Matches(labels), selector->ToString());
}

}  // namespace
}  // namespace yad

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = yad::fuzz::Members(data, size, 2);
  if (!input.empty() && !yad::IsDeeperThan(input[0], yad::kMaxJsonDepth)) yad::Selector(input[0], input[1]);
  return 0;
}
YAD_FUZZ_JSON();
