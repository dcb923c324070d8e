// Functions that read a JSON value as a type and collect its faults, for the validation in this folder.
#ifndef OPERATOR_API_FIELDS_H_
#define OPERATOR_API_FIELDS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/field_error.h"
#include "operator/api/object.h"

namespace yad {

// One field of an object: its path and its value. The value is nullptr if the field is absent or null, because an
// apiserver drops nulls.
struct JsonField {
  const Json* value = nullptr;
  std::string path;

  bool present() const { return value != nullptr; }
  JsonField Child(std::string_view key) const;  // absent if this field is not an object
  JsonField Element(std::size_t index) const;   // this field must be an array
};

inline constexpr std::int64_t kMaxInt32 = std::numeric_limits<std::int32_t>::max();

// Return the value if it is present and valid. Add a fault if the value has a wrong type or is out of range. An absent
// value is not a fault.
const Json* AsObject(const JsonField& field, FieldErrors& errors);
const Json* AsArray(const JsonField& field, FieldErrors& errors);
const std::string* AsText(const JsonField& field, FieldErrors& errors);
std::optional<bool> AsBool(const JsonField& field, FieldErrors& errors);
std::optional<std::int64_t> AsInt(const JsonField& field, std::int64_t least, std::int64_t most, FieldErrors& errors);
// Like AsText, but an absent or empty value is a fault too.
const std::string* AsRequiredText(const JsonField& field, FieldErrors& errors);

// Checks that the value is an integer >= 0, or "0%" to "100%". With `positive`, 0 and "0%" are faults.
void CheckIntOrPercent(const JsonField& field, bool positive, FieldErrors& errors);
// Checks that the value is an array of non-empty strings.
void CheckNames(const JsonField& field, FieldErrors& errors);
// Checks that `entry` has exactly one of `pools` (a list of pool names) and `nodepoolSelector`, and that its value is
// valid. If both are absent, the fault names the fields in `choices`.
void CheckPoolsOrSelector(const JsonField& entry, FieldErrors& errors,
                          const char* choices = "`pools`, `nodepoolSelector`");

}  // namespace yad

#endif  // OPERATOR_API_FIELDS_H_
