#include "operator/api/fields.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace yad {
namespace {

// Returns whether the value has the type. Adds an error if it is present and has another type.
bool IsType(const JsonField& field, bool (Json::*is_type)() const, const char* expected, FieldErrors& errors) {
  if (!field.present()) return false;
  if ((field.value->*is_type)()) return true;
  errors.Add(FieldError::TypeInvalid(field.path, *field.value, expected));
  return false;
}

}  // namespace

JsonField JsonField::Child(std::string_view key) const {
  const Json* child = value == nullptr ? nullptr : Find(*value, {key});
  if (child != nullptr && child->is_null()) child = nullptr;
  return {child, path.empty() ? std::string(key) : path + "." + std::string(key)};
}

JsonField JsonField::Element(std::size_t index) const {
  return {&(*value)[index], path + "[" + std::to_string(index) + "]"};
}

const Json* AsObject(const JsonField& field, FieldErrors& errors) {
  return IsType(field, &Json::is_object, "must be an object", errors) ? field.value : nullptr;
}

const Json* AsArray(const JsonField& field, FieldErrors& errors) {
  return IsType(field, &Json::is_array, "must be a list", errors) ? field.value : nullptr;
}

const std::string* AsText(const JsonField& field, FieldErrors& errors) {
  const bool is_text = IsType(field, &Json::is_string, "must be a string", errors);
  return is_text ? field.value->get_ptr<const std::string*>() : nullptr;
}

std::optional<bool> AsBool(const JsonField& field, FieldErrors& errors) {
  const bool is_bool = IsType(field, &Json::is_boolean, "must be true or false", errors);
  return is_bool ? std::optional(field.value->get<bool>()) : std::nullopt;
}

std::optional<std::int64_t> AsInt(const JsonField& field, std::int64_t least, std::int64_t most, FieldErrors& errors) {
  if (!IsType(field, &Json::is_number_integer, "must be an integer", errors)) return std::nullopt;
  // Compares as unsigned first, because get<std::int64_t>() returns a negative number for a value above the maximum of
  // int64.
  const bool huge =
      field.value->is_number_unsigned() && field.value->get<std::uint64_t>() > static_cast<std::uint64_t>(most);
  if (huge || field.value->get<std::int64_t>() > most) {
    errors.Add(FieldError::Invalid(field.path, *field.value, "must be less than or equal to " + std::to_string(most)));
    return std::nullopt;
  }
  if (field.value->get<std::int64_t>() < least) {
    errors.Add(
        FieldError::Invalid(field.path, *field.value, "must be greater than or equal to " + std::to_string(least)));
    return std::nullopt;
  }
  return field.value->get<std::int64_t>();
}

const Json* AsRequiredObject(const JsonField& field, FieldErrors& errors) {
  if (!field.present()) errors.Add(FieldError::Required(field.path));
  return AsObject(field, errors);
}

const std::string* AsRequiredText(const JsonField& field, FieldErrors& errors) {
  const std::string* text = AsText(field, errors);
  if (!field.present() || (text != nullptr && text->empty())) {
    errors.Add(FieldError::Required(field.path));
    return nullptr;
  }
  return text;
}

void ForEachObject(const JsonField& list, FieldErrors& errors, const std::function<void(const JsonField&)>& check,
                   std::size_t most) {
  const Json* elements = AsArray(list, errors);
  if (elements == nullptr) return;
  if (elements->size() > most) {
    errors.Add(
        FieldError::Invalid(list.path, elements->size(), "must have at most " + std::to_string(most) + " items"));
    return;
  }
  ForEachElement(list, errors, [&](const JsonField& element) {
    if (AsObject(element, errors) != nullptr) check(element);
  });
}

void ForEachElement(const JsonField& list, const FieldErrors& errors,
                    const std::function<void(const JsonField&)>& check) {
  if (!list.present() || !list.value->is_array()) return;
  for (std::size_t i = 0; i < list.value->size() && !errors.full(); ++i) check(list.Element(i));
}

std::string CheckOneOf(const JsonField& field, std::initializer_list<std::string_view> supported, FieldErrors& errors) {
  const std::string* text = AsText(field, errors);
  if (text == nullptr) return "";
  if (std::find(supported.begin(), supported.end(), *text) != supported.end()) return *text;
  errors.Add(FieldError::NotSupported(field.path, *field.value, supported));
  return "";
}

std::string CheckUniqueName(const JsonField& name, std::string (*check)(std::string_view), std::set<std::string>& names,
                            FieldErrors& errors) {
  const std::string* text = AsRequiredText(name, errors);
  if (text == nullptr) return "";
  if (std::string fault = check(*text); !fault.empty()) {
    errors.Add(FieldError::Invalid(name.path, *name.value, std::move(fault)));
  } else if (!names.insert(*text).second) {
    errors.Add(FieldError::Duplicate(name.path, *name.value));
  } else {
    return *text;
  }
  return "";
}

std::set<std::string> CheckNames(const JsonField& field, FieldErrors& errors) {
  std::set<std::string> names;
  AsArray(field, errors);
  ForEachElement(field, errors, [&](const JsonField& name) {
    const std::string* text = AsText(name, errors);
    if (text != nullptr && text->empty()) errors.Add(FieldError::Required(name.path, "must not be empty"));
    if (text != nullptr) names.insert(*text);
  });
  return names;
}

}  // namespace yad
