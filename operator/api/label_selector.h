// metav1.LabelSelector: parsing, validation, matching, and the text for URLs.
#ifndef OPERATOR_API_LABEL_SELECTOR_H_
#define OPERATOR_API_LABEL_SELECTOR_H_

#include <string>
#include <vector>

#include "operator/api/field_error.h"
#include "operator/api/object.h"
#include "operator/base/error.h"

namespace yad {

// A parsed label selector. Immutable; any thread may read it.
class LabelSelector {
 public:
  LabelSelector() = default;  // matches nothing, like a null selector

  // Parses a LabelSelector object: `{}` matches everything, null matches nothing. Fails with kInvalid and one cause for
  // each fault (unknown operator, In without values, Exists with values, malformed keys and values). The causes' paths
  // begin with `path`.
  static Result<LabelSelector> Parse(const Json& selector, const std::string& path);
  // Like the other Parse, but appends the faults to `errors`. If there are any, the result must not be used.
  static LabelSelector Parse(const Json& selector, const std::string& path, FieldErrors& errors);

  // Parses kubectl's text form: "app=x,tier in (a,b),!y,zone!=north". Fails with kInvalid if the text is empty or
  // malformed.
  static Result<LabelSelector> ParseText(const std::string& text);

  bool Matches(const StringMap& labels) const;
  bool empty() const { return matches_all_; }  // true for `{}`
  // Returns true if a comparison key by key shows that no labels can match both selectors.
  bool Excludes(const LabelSelector& other) const;
  // Returns the text form of kubectl and the apiserver: "app=x,tier in (a,b),!y". Returns "" for `{}`. For a selector
  // that matches nothing, returns "<none>", which no apiserver accepts.
  std::string ToString() const;

 private:
  enum class Operator { kEquals, kIn, kNotIn, kExists, kDoesNotExist };
  struct Requirement {
    std::string key;
    Operator op = Operator::kExists;
    std::vector<std::string> values;  // sorted, without duplicates

    // Parses an entry of matchExpressions.
    static Requirement Parse(const Json& expression, const std::string& path, FieldErrors& errors);
    bool Excludes(const Requirement& other) const;  // `other` must have the same key
  };
  bool matches_all_ = false;
  std::vector<Requirement> requirements_;  // sorted by key; labels must match all of them
};

}  // namespace yad

#endif  // OPERATOR_API_LABEL_SELECTOR_H_
