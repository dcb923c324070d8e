// Typed reading of JSON fields that collects faults. For the validation in this folder.
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

// One field of an object: its value, nullptr where it is absent or null (an apiserver drops nulls), and its path.
struct JsonField {
  const Json* value = nullptr;
  std::string path;

  bool present() const { return value != nullptr; }
  JsonField Child(std::string_view key) const;  // absent where this is no object
  JsonField Element(std::size_t index) const;   // this must be an array
};

inline constexpr std::int64_t kMaxInt32 = std::numeric_limits<std::int32_t>::max();

// Each returns the value if it is there and good; a value of a wrong type or out of range is a fault, an absent one is
// none.
const Json* AsObject(const JsonField& field, FieldErrors& errors);
const Json* AsArray(const JsonField& field, FieldErrors& errors);
const std::string* AsText(const JsonField& field, FieldErrors& errors);
std::optional<bool> AsBool(const JsonField& field, FieldErrors& errors);
std::optional<std::int64_t> AsInt(const JsonField& field, std::int64_t least, std::int64_t most, FieldErrors& errors);
// As AsText, but an absent or empty one is a fault too.
const std::string* AsRequiredText(const JsonField& field, FieldErrors& errors);

// An integer >= 0, or "0%" to "100%". With `positive`, neither 0 nor "0%".
void CheckIntOrPercent(const JsonField& field, bool positive, FieldErrors& errors);
// An array of strings, none empty.
void CheckNames(const JsonField& field, FieldErrors& errors);
// Names from a list of pools, or a selector of them: exactly one of the two fields of `entry`.
void CheckPoolsOrSelector(const JsonField& entry, FieldErrors& errors);

}  // namespace yad

#endif  // OPERATOR_API_FIELDS_H_
