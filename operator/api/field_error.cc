#include "operator/api/field_error.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/conditions.h"

namespace yad {
namespace {

// Values in messages are truncated, because a long value would hide the description of the error.
constexpr std::size_t kMaxValueLength = 256;

std::string ValueText(const Json& value) {
  if (IsDeeperThan(value, kMaxJsonDepth)) return "...";
  std::string text = DumpJson(value);
  return text.size() <= kMaxValueLength ? text : Utf8Prefix(std::move(text), kMaxValueLength) + "...";
}

struct Words {
  const char* text;
  const char* cause;
  bool with_value;
};

const Words& WordsFor(FieldError::Type type) {
  static constexpr Words kWords[] = {
      // in the order of the enum
      {"Required value", "FieldValueRequired", false},  {"Invalid value", "FieldValueInvalid", true},
      {"Forbidden", "FieldValueForbidden", false},      {"Unsupported value", "FieldValueNotSupported", true},
      {"Duplicate value", "FieldValueDuplicate", true}, {"Invalid value", "FieldValueTypeInvalid", true}};
  static_assert(std::size(kWords) == static_cast<std::size_t>(FieldError::Type::kTypeInvalid) + 1);
  return kWords[static_cast<std::size_t>(type)];
}

std::string Body(const FieldError& error) {
  const Words& words = WordsFor(error.type);
  std::string text = words.text;
  if (words.with_value) text.append(": ").append(error.value);
  if (!error.detail.empty()) text.append(": ").append(error.detail);
  return text;
}

}  // namespace

FieldError FieldError::Required(std::string path, std::string detail) {
  return {Type::kRequired, std::move(path), "", std::move(detail)};
}

FieldError FieldError::Invalid(std::string path, const Json& value, std::string detail) {
  return {Type::kInvalid, std::move(path), ValueText(value), std::move(detail)};
}

FieldError FieldError::Forbidden(std::string path, std::string detail) {
  return {Type::kForbidden, std::move(path), "", std::move(detail)};
}

FieldError FieldError::NotSupported(std::string path, const Json& value,
                                    std::initializer_list<std::string_view> supported) {
  std::string detail;
  for (std::string_view one : supported) {
    detail.append(detail.empty() ? "supported values: \"" : ", \"").append(one).append("\"");
  }
  return {Type::kNotSupported, std::move(path), ValueText(value), std::move(detail)};
}

FieldError FieldError::Duplicate(std::string path, const Json& value) {
  return {Type::kDuplicate, std::move(path), ValueText(value), ""};
}

FieldError FieldError::TypeInvalid(std::string path, const Json& value, std::string detail) {
  return {Type::kTypeInvalid, std::move(path), ValueText(value), std::move(detail)};
}

std::string FieldError::ToString() const { return path + ": " + Body(*this); }

Cause FieldError::ToCause() const { return {path, WordsFor(type).cause, Body(*this)}; }

std::string Describe(const FieldErrors& errors) {
  if (errors.size() == 1) return errors.front().ToString();
  std::string text = "[";
  for (const FieldError& error : errors) {
    if (text.size() > 1) text += ", ";
    text += error.ToString();
  }
  return text + "]";
}

std::vector<Cause> ToCauses(const FieldErrors& errors) {
  std::vector<Cause> causes;
  for (const FieldError& error : errors) causes.push_back(error.ToCause());
  return causes;
}

Error ToError(const FieldErrors& errors) {
  return {Reason::kInvalid, Describe(errors), 0, std::nullopt, ToCauses(errors)};
}

}  // namespace yad
