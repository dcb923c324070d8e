#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "plugin/manifest/yaml.h"

namespace yad {
namespace {

constexpr std::size_t kIndent = 2;

// If the first character of `text` is allowed in a JSON string, but YAML does not allow it or may read it as the end of
// a line, returns its number of bytes; otherwise returns 0. These characters are DEL, U+0080 to U+009F, U+2028, U+2029
// and the byte order mark.
std::size_t BytesToEscape(std::string_view text) {
  if (text.starts_with('\x7F')) return 1;
  if (text.starts_with('\xC2') && text.size() > 1 && static_cast<unsigned char>(text[1]) < 0xA0) return 2;
  const bool three =
      text.starts_with("\xE2\x80\xA8") || text.starts_with("\xE2\x80\xA9") || text.starts_with("\xEF\xBB\xBF");
  return three ? 3 : 0;
}

std::string QuotedScalar(const std::string& text) {
  // A JSON string is valid YAML, except for these characters.
  const std::string json = DumpJson(Json(text));
  std::string result;
  for (std::size_t i = 0; i < json.size();) {
    const std::size_t bytes = BytesToEscape(std::string_view(json).substr(i));
    const auto byte = [&](std::size_t at) { return static_cast<unsigned>(static_cast<unsigned char>(json[i + at])); };
    char escaped[16] = {json[i]};
    if (bytes == 1 || bytes == 2) {
      std::snprintf(escaped, sizeof(escaped), "\\x%02X", byte(bytes - 1));  // U+0085 is C2 85
    } else if (bytes == 3) {
      std::snprintf(escaped, sizeof(escaped), "\\u%04X", (byte(0) & 15) << 12 | (byte(1) & 63) << 6 | (byte(2) & 63));
    }
    result += escaped;
    i += std::max<std::size_t>(bytes, 1);
  }
  return result;
}

// Returns whether YAML can contain the string without escapes.
bool HasOnlyPrintable(const std::string& text, bool newlines) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) < 0x20 && !(newlines && text[i] == '\n')) return false;
    if (BytesToEscape(std::string_view(text).substr(i)) > 0) return false;
  }
  // Returns false if the string has bytes that are not UTF-8. The JSON writer replaces them with U+FFFD, which is
  // "\xEF\xBF\xBD".
  return DumpJson(Json(text)).find("\xEF\xBF\xBD") == std::string::npos;
}

// Returns the string in single quotes, which are easier to read than double quotes if the string contains many double
// quotes, as JSON does.
std::string SingleQuoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result.append(c == '\'' ? 2 : 1, c);
  return result + "'";
}

// Returns whether a reader of YAML 1.1 or 1.2 may read the plain string as another value: a null, a boolean, a number,
// a date or a merge.
bool MeansSomethingElse(const std::string& text) {
  static const std::set<std::string_view> words{"null", "true", "false", "yes", "no", "on",
                                                "off",  "y",    "n",     "~",   "<<", "="};
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return c < 0x80 ? static_cast<char>(std::tolower(c)) : static_cast<char>(c); });
  if (words.contains(lower)) return true;
  // Strings that begin like a number: 1, -1, +1, .5, 1e3, 0x1F, 0o17, 1_000, 1:30, 2026-01-01, .inf, .nan
  const std::size_t first = text.find_first_not_of("+-.");
  if (first == std::string::npos) return true;
  if ((text[first] >= '0' && text[first] <= '9')) {
    return text.find_first_not_of("0123456789abcdefABCDEFxXoOtTzZ_+-.: ") == std::string::npos;
  }
  return first > 0 && (lower.ends_with("inf") || lower.ends_with("nan"));
}

bool IsPlain(const std::string& text) {
  if (text.empty() || !HasOnlyPrintable(text, false) || MeansSomethingElse(text)) return false;
  // A string that begins with an indicator is quoted. "-", "?" and ":" are indicators only before a space, but are
  // always quoted to be safe.
  if (std::string_view("-?:,[]{}#&*!|>'\"%@` ").find(text.front()) != std::string_view::npos) return false;
  if (text.back() == ' ' || text.back() == ':') return false;
  return text.find(": ") == std::string::npos && text.find(" #") == std::string::npos &&
         text.find_first_of("{}[],") == std::string::npos;
}

std::string OneLine(const std::string& text) {
  if (IsPlain(text)) return text;
  const bool has_quotes = text.find_first_of("\"\\") != std::string::npos;
  return has_quotes && HasOnlyPrintable(text, false) ? SingleQuoted(text) : QuotedScalar(text);
}

// Returns whether the string can be written as a literal block. A string of one line can't.
bool IsBlock(const std::string& text) {
  const std::size_t newline = text.find('\n');
  if (newline == std::string::npos || newline == 0 || !HasOnlyPrintable(text, true)) return false;
  return text.front() != ' ' && text.find(" \n") == std::string::npos && text.back() != ' ' && !text.ends_with("\n\n");
}

class Writer {
 public:
  std::string Take() { return std::move(out_); }

  // Writes a value and the end of its last line. If `continued`, the first line of an object or a list already has its
  // indentation.
  void Value(const Json& value, std::size_t indent, bool continued) {
    if (value.is_object() && !value.empty()) {
      Members(value, indent, continued);
    } else if (value.is_array() && !value.empty()) {
      Items(value, indent, continued);
    } else {
      Scalar(value, indent);
    }
  }

 private:
  void Members(const Json& object, std::size_t indent, bool continued) {
    for (const auto& [key, value] : object.items()) {
      if (!continued) out_.append(indent, ' ');
      continued = false;
      out_ += OneLine(key) + ":";
      const bool on_next_lines = value.is_structured() && !value.empty();
      out_ += on_next_lines ? '\n' : ' ';
      Value(value, on_next_lines && value.is_array() ? indent : indent + kIndent, false);
    }
  }

  void Items(const Json& list, std::size_t indent, bool continued) {
    for (const Json& item : list) {
      if (!continued) out_.append(indent, ' ');
      continued = false;
      out_ += "- ";
      Value(item, indent + kIndent, true);
    }
  }

  // Writes a scalar, an empty object or an empty list, and the end of its line.
  void Scalar(const Json& value, std::size_t indent) {
    if (!value.is_string()) {
      out_ += value.dump() + "\n";
      return;
    }
    const std::string& text = value.get_ref<const std::string&>();
    if (!IsBlock(text)) {
      out_ += OneLine(text) + "\n";
      return;
    }
    out_ += text.back() == '\n' ? "|\n" : "|-\n";
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      if (end > begin) out_.append(indent, ' ').append(text, begin, end - begin);
      out_ += '\n';
      begin = end + 1;
    }
  }

  std::string out_;
};

}  // namespace

std::string ToYaml(const Json& value) {
  Writer writer;
  writer.Value(value, value.is_structured() ? 0 : kIndent, false);
  return writer.Take();
}

}  // namespace yad
