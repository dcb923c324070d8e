#include <nlohmann/json.hpp>

#include "operator/api/update_strategy.h"
#include "operator/api/validation.h"

namespace yad {
namespace {

// Returns whether `text` is a JSON pointer (RFC 6901): "" or "/...", with 0 or 1 after each "~".
bool IsJsonPointer(const std::string& text) {
  if (!text.empty() && text.front() != '/') return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '~' && (i + 1 == text.size() || (text[i + 1] != '0' && text[i + 1] != '1'))) return false;
  }
  return true;
}

void CheckPointer(const JsonField& field, FieldErrors& errors) {
  if (!field.present()) {
    errors.Add(FieldError::Required(field.path));
    return;
  }
  const std::string* text = AsText(field, errors);
  if (text != nullptr && !IsJsonPointer(*text)) {
    errors.Add(
        FieldError::Invalid(field.path, *field.value,
                            "must be a JSON pointer (RFC 6901): begin with '/', and escape '~' as '~0', '/' as '~1'"));
  }
}

void CheckJsonPatches(const JsonField& patches, FieldErrors& errors) {
  ForEachObject(patches, errors, [&](const JsonField& patch) {
    const JsonField op_field = patch.Child("op");
    if (!op_field.present()) errors.Add(FieldError::Required(op_field.path));
    CheckOneOf(op_field, {"add", "remove", "replace", "move", "copy", "test"}, errors);
    CheckPointer(patch.Child("path"), errors);
    const std::string op = StringAt(*patch.value, {"op"});
    // `value` may be null here. So `contains` is called, because Child would treat null as absent.
    if ((op == "add" || op == "replace" || op == "test") && !patch.value->contains("value")) {
      errors.Add(FieldError::Required(patch.path + ".value", "must be specified when `op` is '" + op + "'"));
    }
    if (op == "move" || op == "copy") CheckPointer(patch.Child("from"), errors);
  });
}

}  // namespace

void ValidateOverrides(const JsonField& overrides, FieldErrors& errors) {
  ForEachObject(overrides, errors, [&](const JsonField& entry) {
    ReadPoolsOrSelector(entry, errors, "`pools`, `nodepoolSelector`");
    AsInt(entry.Child("replicas"), 0, kMaxInt32, errors);
    ForEachObject(entry.Child("images"), errors, [&](const JsonField& image) {
      AsRequiredText(image.Child("name"), errors);
      AsRequiredText(image.Child("image"), errors);
    });
    AsObject(entry.Child("patch"), errors);
    CheckJsonPatches(entry.Child("jsonPatches"), errors);
  });
}

}  // namespace yad
