// An error about a field of an object. The messages are the same as those of field.Error in k8s.io/apimachinery.
#ifndef OPERATOR_API_FIELD_ERROR_H_
#define OPERATOR_API_FIELD_ERROR_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"

namespace yad {

struct FieldError {
  enum class Type { kRequired, kInvalid, kForbidden, kNotSupported, kDuplicate, kTypeInvalid };
  Type type = Type::kInvalid;
  std::string path;    // "spec.overrides[2].jsonPatches[0].path"
  std::string value;   // the invalid value as JSON; not used for kRequired and kForbidden
  std::string detail;  // describes the error and how to fix it

  static FieldError Required(std::string path, std::string detail = "");
  static FieldError Invalid(std::string path, const Json& value, std::string detail);
  static FieldError Forbidden(std::string path, std::string detail);
  static FieldError NotSupported(std::string path, const Json& value,
                                 std::initializer_list<std::string_view> supported);
  static FieldError Duplicate(std::string path, const Json& value);
  static FieldError TypeInvalid(std::string path, const Json& value, std::string detail);

  bool operator==(const FieldError&) const = default;

  // Returns the path and the message, such as `spec.x: Invalid value: "a": must be no more than 63 characters`.
  std::string ToString() const;
  Cause ToCause() const;  // has a reason such as FieldValueInvalid; the message does not repeat the path
};

// A list of at most kMost errors; Add drops further errors. A loop over user input should stop when full() is true,
// because the input may have a million elements.
class FieldErrors {
 public:
  static constexpr std::size_t kMost = 1000;
  using value_type = FieldError;
  using const_iterator = std::vector<FieldError>::const_iterator;

  FieldErrors() = default;
  FieldErrors(std::initializer_list<FieldError> errors) : errors_(errors) {}

  void Add(FieldError error) {
    if (!full()) errors_.push_back(std::move(error));
  }
  // Adds FieldError::Invalid, unless `detail` is empty. `detail` is the result of a function in names.h.
  void AddIfFault(const std::string& path, const Json& value, std::string detail) {
    if (!detail.empty()) Add(FieldError::Invalid(path, value, std::move(detail)));
  }
  void Append(FieldErrors more) {
    for (FieldError& error : more.errors_) Add(std::move(error));
  }

  bool full() const { return errors_.size() >= kMost; }
  bool empty() const { return errors_.empty(); }
  std::size_t size() const { return errors_.size(); }
  const_iterator begin() const { return errors_.begin(); }
  const_iterator end() const { return errors_.end(); }
  const FieldError& front() const { return errors_.front(); }
  const FieldError& operator[](std::size_t i) const { return errors_[i]; }

 private:
  std::vector<FieldError> errors_;
};

// Returns all errors on one line, in the apiserver's format: "a", or "[a, b]".
std::string Describe(const FieldErrors& errors);
std::vector<Cause> ToCauses(const FieldErrors& errors);
// Returns an Error with the reason kInvalid. Its message is the result of Describe, and its causes are the errors.
Error ToError(const FieldErrors& errors);

}  // namespace yad

#endif  // OPERATOR_API_FIELD_ERROR_H_
