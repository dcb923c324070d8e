// metav1.LabelSelector: parsing, validation, matching, and the text form for URLs.
#ifndef OPERATOR_API_LABEL_SELECTOR_H_
#define OPERATOR_API_LABEL_SELECTOR_H_

#include <string>
#include <vector>

#include "operator/api/field_error.h"
#include "operator/api/object.h"
#include "operator/base/error.h"

namespace yad {

// Immutable; any thread may read it.
class LabelSelector {
 public:
  LabelSelector() = default;  // matches nothing (as a nil selector)

  // `selector` is a LabelSelector object; `{}` matches everything, null matches nothing. Fails with kInvalid and one
  // cause per fault (unknown operator, In without values, Exists with values, malformed keys and values), paths below
  // `path`.
  static Result<LabelSelector> Parse(const Json& selector, const std::string& path);
  // The same, with the faults appended to `errors`; if there are some, the result is not to be used.
  static LabelSelector Parse(const Json& selector, const std::string& path, FieldErrors& errors);

  // As kubectl takes it: "app=x,tier in (a,b),!y,zone!=north". Fails with kInvalid, and for an empty text.
  static Result<LabelSelector> ParseText(const std::string& text);

  bool Matches(const StringMap& labels) const;
  bool empty() const { return matches_all_; }  // `{}`
  // Whether no labels at all can match both, as far as one key at a time tells.
  bool Excludes(const LabelSelector& other) const;
  // "app=x,tier in (a,b),!y", as kubectl prints it and the apiserver reads it. "" for `{}`; "<none>", which no
  // apiserver accepts, for the one that matches nothing.
  std::string ToString() const;

 private:
  enum class Operator { kEquals, kIn, kNotIn, kExists, kDoesNotExist };
  struct Requirement {
    std::string key;
    Operator op = Operator::kExists;
    std::vector<std::string> values;  // sorted, each once

    bool Excludes(const Requirement& other) const;  // of the same key
  };
  bool matches_all_ = false;
  std::vector<Requirement> requirements_;  // sorted by key; all must hold
};

}  // namespace yad

#endif  // OPERATOR_API_LABEL_SELECTOR_H_
