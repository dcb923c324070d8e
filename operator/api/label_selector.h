// metav1.LabelSelector: parsing, validation, matching, and the text form for URLs.
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
  LabelSelector() = default;  // matches nothing, as a nil selector does

  // Parses a LabelSelector object: `{}` matches everything, null matches nothing. Fails with kInvalid and one cause per
  // fault (unknown operator, In without values, Exists with values, malformed keys and values). The causes' paths are
  // below `path`.
  static Result<LabelSelector> Parse(const Json& selector, const std::string& path);
  // Does the same and appends the faults to `errors`. The result must not be used if there are any.
  static LabelSelector Parse(const Json& selector, const std::string& path, FieldErrors& errors);

  // Parses kubectl's text form: "app=x,tier in (a,b),!y,zone!=north". Fails with kInvalid if the text is empty or
  // malformed.
  static Result<LabelSelector> ParseText(const std::string& text);

  bool Matches(const StringMap& labels) const;
  bool empty() const { return matches_all_; }  // true for `{}`
  // Returns true if no set of labels can match both selectors, as far as a comparison key by key shows.
  bool Excludes(const LabelSelector& other) const;
  // Returns the text form of kubectl and the apiserver: "app=x,tier in (a,b),!y". The result is "" for `{}`, and
  // "<none>" for a selector that matches nothing; no apiserver accepts "<none>".
  std::string ToString() const;

 private:
  enum class Operator { kEquals, kIn, kNotIn, kExists, kDoesNotExist };
  struct Requirement {
    std::string key;
    Operator op = Operator::kExists;
    std::vector<std::string> values;  // sorted, each once

    // Parses an entry of matchExpressions.
    static Requirement Parse(const Json& expression, const std::string& path, FieldErrors& errors);
    bool Excludes(const Requirement& other) const;  // `other` must have the same key
  };
  bool matches_all_ = false;
  std::vector<Requirement> requirements_;  // sorted by key; all must hold
};

}  // namespace yad

#endif  // OPERATOR_API_LABEL_SELECTOR_H_
