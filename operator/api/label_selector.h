// Parses, validates and matches a metav1.LabelSelector, and converts it to the string for the URL parameter
// labelSelector.
#ifndef OPERATOR_API_LABEL_SELECTOR_H_
#define OPERATOR_API_LABEL_SELECTOR_H_

#include <optional>
#include <string>
#include <vector>

#include "operator/api/field_error.h"
#include "operator/api/object.h"
#include "operator/base/error.h"

namespace yad {

struct JsonField;

// A parsed label selector. Immutable; any thread may read it.
class LabelSelector {
 public:
  LabelSelector() = default;  // matches nothing, like a null selector

  // Parses a LabelSelector object. `{}` matches everything, and null matches nothing. Fails with kInvalid for an
  // invalid selector. The Error has one cause for each invalid field. The path of a cause begins with `path`.
  static Result<LabelSelector> Parse(const Json& selector, const std::string& path);
  // Parses a LabelSelector object, and adds an error to `errors` for each invalid field. The result is usable only if
  // no error was added. `path` is the path of `selector`, for the errors.
  static LabelSelector Parse(const Json& selector, const std::string& path, FieldErrors& errors);

  // Parses a selector in kubectl's syntax, such as "app=x,tier in (a,b),!y,zone!=north". Fails with kInvalid if `text`
  // is empty or malformed.
  static Result<LabelSelector> ParseText(const std::string& text);

  bool Matches(const StringMap& labels) const;
  bool empty() const { return matches_all_; }  // true for `{}`
  // Returns true if no labels can match both selectors. Compares them key by key, so it may miss a contradiction and
  // return false.
  bool Excludes(const LabelSelector& other) const;
  // Returns the selector in the syntax of kubectl and the apiserver, such as "app=x,tier in (a,b),!y".
  // - `{}` becomes "".
  // - A selector that matches nothing becomes "<none>", which the apiserver rejects.
  std::string ToString() const;

 private:
  enum class Operator { kEquals, kIn, kNotIn, kExists, kDoesNotExist };
  struct Requirement {
    std::string key;
    Operator op = Operator::kExists;
    std::vector<std::string> values;  // sorted, without duplicates

    // Parses an entry of matchExpressions.
    static Requirement Parse(const JsonField& expression, FieldErrors& errors);
    bool Excludes(const Requirement& other) const;  // `other` must have the same key
  };
  bool matches_all_ = false;
  std::vector<Requirement> requirements_;  // sorted by key; labels must satisfy all of them
};

// Returns the labels that select the same pods as a LabelSelector. Returns nullopt if the selector has an expression
// other than `In` with a single value.
std::optional<StringMap> LabelsSelectedBy(const Json& selector);

}  // namespace yad

#endif  // OPERATOR_API_LABEL_SELECTOR_H_
