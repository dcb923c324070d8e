#include "operator/api/names.h"

#include <algorithm>

namespace yad {
namespace {

constexpr std::size_t kMaxSubdomain = 253;

// The messages are Kubernetes' (k8s.io/apimachinery/pkg/util/validation), because users search for them.
constexpr char kNamePartFault[] =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr char kLabelValueFault[] =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr char kSubdomainFault[] =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr char kDnsLabelFault[] =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

// The functions of <cctype> are not used, because they depend on the locale.
bool IsLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsAlphanumeric(char c) { return IsLowerOrDigit(c) || (c >= 'A' && c <= 'Z'); }

std::string TooLong(std::size_t most) { return "must be no more than " + std::to_string(most) + " characters"; }

// Returns whether `text` is a valid label value. The name part of a label key has the same rule.
bool IsNamePart(std::string_view text) {
  return !text.empty() && IsAlphanumeric(text.front()) && IsAlphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool IsDnsLabel(std::string_view text) {
  return !text.empty() && IsLowerOrDigit(text.front()) && IsLowerOrDigit(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsLowerOrDigit(c) || c == '-'; });
}

bool IsSubdomain(std::string_view text) {
  while (true) {
    const std::size_t dot = text.find('.');
    if (!IsDnsLabel(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

}  // namespace

std::string CheckLabelKey(std::string_view key) {
  const std::size_t slash = key.find('/');
  std::string_view name = key;
  if (slash != std::string_view::npos) {
    const std::string_view prefix = key.substr(0, slash);
    name = key.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      return std::string("a qualified name ") + kNamePartFault +
             " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
    }
    if (prefix.empty()) return "prefix part must be non-empty";
    if (std::string fault = CheckDns1123Subdomain(prefix); !fault.empty()) return "prefix part " + fault;
  }
  if (name.empty()) return "name part must be non-empty";
  if (name.size() > kMaxLabelValue) return "name part " + TooLong(kMaxLabelValue);
  if (!IsNamePart(name)) return std::string("name part ") + kNamePartFault;
  return "";
}

std::string CheckAnnotationKey(std::string_view key) {
  std::string lower(key);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return CheckLabelKey(lower);
}

std::string CheckLabelValue(std::string_view value) {
  if (value.size() > kMaxLabelValue) return TooLong(kMaxLabelValue);
  if (!value.empty() && !IsNamePart(value)) return kLabelValueFault;
  return "";
}

std::string CheckDns1123Subdomain(std::string_view name) {
  if (name.size() > kMaxSubdomain) return TooLong(kMaxSubdomain);
  if (!IsSubdomain(name)) return kSubdomainFault;
  return "";
}

std::string CheckDns1123Label(std::string_view name) {
  if (name.size() > kMaxLabelValue) return TooLong(kMaxLabelValue);
  if (IsDnsLabel(name)) return "";
  return IsSubdomain(name) ? "must not contain dots" : kDnsLabelFault;
}

}  // namespace yad
