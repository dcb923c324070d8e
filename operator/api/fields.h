// Functions that read JSON values of a certain type, and report values that are not valid.
#ifndef OPERATOR_API_FIELDS_H_
#define OPERATOR_API_FIELDS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "operator/api/field_error.h"
#include "operator/api/object.h"

namespace yad {

// A field of an object. The value is nullptr if the field is absent or null, because the apiserver treats both alike.
struct JsonField {
  const Json* value = nullptr;
  std::string path;

  bool present() const { return value != nullptr; }
  JsonField Child(std::string_view key) const;  // absent if this field is not an object
  JsonField Element(std::size_t index) const;   // this field must be an array
};

inline constexpr std::int64_t kMaxInt32 = std::numeric_limits<std::int32_t>::max();

// Return the value if it is valid, and nullptr or nullopt otherwise:
// - An absent value is not an error.
// - A value of another type or out of range adds an error.
const Json* AsObject(const JsonField& field, FieldErrors& errors);
const Json* AsArray(const JsonField& field, FieldErrors& errors);
const std::string* AsText(const JsonField& field, FieldErrors& errors);
std::optional<bool> AsBool(const JsonField& field, FieldErrors& errors);
std::optional<std::int64_t> AsInt(const JsonField& field, std::int64_t least, std::int64_t most, FieldErrors& errors);
// Return the value if it is an object, or a non-empty string. Otherwise, add an error and return nullptr.
const Json* AsRequiredObject(const JsonField& field, FieldErrors& errors);
const std::string* AsRequiredText(const JsonField& field, FieldErrors& errors);

// Calls `check` with each object of the list, and adds an error for each element that is not an object. If the list has
// more than `most` elements, adds only one error, and does not call `check`.
void ForEachObject(const JsonField& list, FieldErrors& errors, const std::function<void(const JsonField&)>& check,
                   std::size_t most = std::numeric_limits<std::size_t>::max());
// Calls `check` with each element of the list, until there are too many errors. Does nothing if the field is not a
// list.
void ForEachElement(const JsonField& list, const FieldErrors& errors,
                    const std::function<void(const JsonField&)>& check);
// Checks that the value is one of `supported`. Returns it, or "" if it is absent or not valid.
std::string CheckOneOf(const JsonField& field, std::initializer_list<std::string_view> supported, FieldErrors& errors);
// Checks that `name` is set and valid, and not in `names`. Adds it to `names`. Returns it, or "" if it is not valid.
// `check` is a function of names.h.
std::string CheckUniqueName(const JsonField& name, std::string (*check)(std::string_view), std::set<std::string>& names,
                            FieldErrors& errors);
// Checks that the value is an array of non-empty strings. Returns the strings.
std::set<std::string> CheckNames(const JsonField& field, FieldErrors& errors);
// Validates the `spec` of a pod template. `restart_policies` contains the valid values of restartPolicy, which are
// different for Jobs and Deployments.
void CheckPodSpec(const JsonField& spec, std::initializer_list<std::string_view> restart_policies, FieldErrors& errors);

}  // namespace yad

#endif  // OPERATOR_API_FIELDS_H_
