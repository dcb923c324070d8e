#include "operator/api/label_selector.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/api/fields.h"
#include "operator/api/names.h"
#include "operator/base/file.h"
#include "operator/base/join.h"

namespace yad {
namespace {

// Returns the `values` of a requirement, sorted and without duplicates.
std::vector<std::string> ReadValues(const JsonField& values, FieldErrors& errors) {
  std::vector<std::string> result;
  AsArray(values, errors);
  ForEachElement(values, errors, [&](const JsonField& value) {
    const std::string* text = AsText(value, errors);
    if (text == nullptr) return;
    errors.AddIfFault(value.path, *text, CheckLabelValue(*text));
    result.push_back(*text);
  });
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

// Splits `text` at commas that are not in parentheses.
std::vector<std::string> SplitRequirements(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// Converts one requirement, such as "tier in (a,b)" or "!y", to an entry of matchExpressions.
Json ExpressionOf(const std::string& text) {
  if (text.starts_with("!")) return {{"key", Trim(text.substr(1))}, {"operator", "DoesNotExist"}};
  if (text.ends_with(")")) {
    const auto open = text.find('(');
    const std::string head = Trim(text.substr(0, open));
    const auto space = head.find_last_of(" \t");
    const std::string word = space == std::string::npos ? "" : head.substr(space + 1);
    Json values = Json::array();
    if (open != std::string::npos) {
      for (const std::string& value : SplitRequirements(text.substr(open + 1, text.size() - open - 2)))
        values.push_back(Trim(value));
    }
    return {{"key", Trim(head.substr(0, space == std::string::npos ? 0 : space))},
            {"operator", word == "in"      ? "In"
                         : word == "notin" ? "NotIn"
                                           : word},
            {"values", values}};
  }
  const auto equals = text.find('=');
  if (equals == std::string::npos) return {{"key", text}, {"operator", "Exists"}};
  const bool negated = equals > 0 && text[equals - 1] == '!';
  const std::size_t value = equals + (equals + 1 < text.size() && text[equals + 1] == '=' ? 2 : 1);
  return {{"key", Trim(text.substr(0, negated ? equals - 1 : equals))},
          {"operator", negated ? "NotIn" : "In"},
          {"values", {Trim(text.substr(value))}}};
}

}  // namespace

Result<LabelSelector> LabelSelector::ParseText(const std::string& text) {
  if (Trim(text).empty()) return Fail(Reason::kInvalid, "a label selector is empty: it would select everything");
  Json expressions = Json::array();
  for (const std::string& part : SplitRequirements(text)) expressions.push_back(ExpressionOf(Trim(part)));
  auto selector = Parse({{"matchExpressions", std::move(expressions)}}, "selector");
  if (!selector)
    return Fail(Reason::kInvalid, "\"" + text + "\" is not a valid label selector: " + selector.error().message);
  return selector;
}

Result<LabelSelector> LabelSelector::Parse(const Json& selector, const std::string& path) {
  FieldErrors errors;
  LabelSelector result = Parse(selector, path, errors);
  if (!errors.empty()) return Fail(ToError(errors));
  return result;
}

LabelSelector::Requirement LabelSelector::Requirement::Parse(const JsonField& expression, FieldErrors& errors) {
  Requirement requirement;
  requirement.key = StringAt(*expression.value, {"key"});
  const JsonField values = expression.Child("values");
  requirement.values = ReadValues(values, errors);
  // If `values` has a wrong type, ReadValues has already added an error. The field then counts as present, so that no
  // second error is added.
  const bool has_values = values.present() && !values.value->empty();
  const JsonField written = expression.Child("operator");
  const std::string op = StringAt(*expression.value, {"operator"});
  if (op == "In" || op == "NotIn") {
    requirement.op = op == "In" ? Operator::kIn : Operator::kNotIn;
    if (!has_values)
      errors.Add(FieldError::Required(values.path, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (op == "Exists" || op == "DoesNotExist") {
    requirement.op = op == "Exists" ? Operator::kExists : Operator::kDoesNotExist;
    if (has_values) {
      errors.Add(
          FieldError::Forbidden(values.path, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    }
  } else {
    errors.Add(FieldError::Invalid(written.path, written.present() ? *written.value : Json(""),
                                   "not a valid selector operator"));
  }
  errors.AddIfFault(expression.path + ".key", requirement.key, CheckLabelKey(requirement.key));
  return requirement;
}

LabelSelector LabelSelector::Parse(const Json& selector, const std::string& path, FieldErrors& errors) {
  LabelSelector result;
  const JsonField field{&selector, path};
  if (selector.is_null() || AsObject(field, errors) == nullptr) return result;

  const JsonField labels = field.Child("matchLabels");
  if (const Json* object = AsObject(labels, errors); object != nullptr) {
    for (const auto& [key, value] : object->items()) {
      if (errors.full()) break;
      errors.AddIfFault(labels.path, key, CheckLabelKey(key));
      const std::string* text = AsText({&value, labels.path + "[" + key + "]"}, errors);
      if (text == nullptr) continue;
      errors.AddIfFault(labels.path, *text, CheckLabelValue(*text));
      result.requirements_.push_back({key, Operator::kEquals, {*text}});
    }
  }
  ForEachObject(field.Child("matchExpressions"), errors, [&](const JsonField& expression) {
    result.requirements_.push_back(Requirement::Parse(expression, errors));
  });

  std::stable_sort(result.requirements_.begin(), result.requirements_.end(),
                   [](const Requirement& a, const Requirement& b) { return a.key < b.key; });
  result.matches_all_ = result.requirements_.empty();
  return result;
}

bool LabelSelector::Matches(const StringMap& labels) const {
  if (requirements_.empty()) return matches_all_;
  return std::all_of(requirements_.begin(), requirements_.end(), [&labels](const Requirement& requirement) {
    const auto label = labels.find(requirement.key);
    const bool present = label != labels.end();
    const auto listed = [&] {
      return std::binary_search(requirement.values.begin(), requirement.values.end(), label->second);
    };
    switch (requirement.op) {
      case Operator::kEquals:
      case Operator::kIn:
        return present && listed();
      case Operator::kNotIn:
        return !present || !listed();
      case Operator::kExists:
        return present;
      case Operator::kDoesNotExist:
        return !present;
    }
    return false;
  });
}

bool LabelSelector::Requirement::Excludes(const Requirement& other) const {
  const auto lists = [](const Requirement& r) { return r.op == Operator::kEquals || r.op == Operator::kIn; };
  const auto includes = [](const std::vector<std::string>& all, const std::vector<std::string>& some) {
    return std::includes(all.begin(), all.end(), some.begin(), some.end());
  };
  if (lists(*this) && lists(other)) {
    return std::none_of(values.begin(), values.end(), [&](const std::string& value) {
      return std::binary_search(other.values.begin(), other.values.end(), value);
    });
  }
  if (lists(*this)) {
    return other.op == Operator::kDoesNotExist || (other.op == Operator::kNotIn && includes(other.values, values));
  }
  if (lists(other)) return other.Excludes(*this);
  return (op == Operator::kExists && other.op == Operator::kDoesNotExist) ||
         (op == Operator::kDoesNotExist && other.op == Operator::kExists);
}

bool LabelSelector::Excludes(const LabelSelector& other) const {
  const auto nothing = [](const LabelSelector& s) { return s.requirements_.empty() && !s.matches_all_; };
  if (nothing(*this) || nothing(other)) return true;
  return std::any_of(requirements_.begin(), requirements_.end(), [&](const Requirement& mine) {
    return std::any_of(other.requirements_.begin(), other.requirements_.end(),
                       [&](const Requirement& theirs) { return mine.key == theirs.key && mine.Excludes(theirs); });
  });
}

std::string LabelSelector::ToString() const {
  if (requirements_.empty()) return matches_all_ ? "" : "<none>";
  std::string text;
  for (const Requirement& requirement : requirements_) {
    if (!text.empty()) text += ",";
    if (requirement.op == Operator::kDoesNotExist) text += "!";
    text += requirement.key;
    if (requirement.op == Operator::kEquals) text += "=" + requirement.values.front();
    if (requirement.op == Operator::kIn || requirement.op == Operator::kNotIn) {
      text += (requirement.op == Operator::kIn ? " in (" : " notin (") + Join(requirement.values, ",") + ")";
    }
  }
  return text;
}

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
