#include "operator/json/json_codec.h"

#include <nlohmann/json.hpp>

#include "operator/json/json_document.h"

namespace yad {

Result<Json> ParseJson(std::string_view text) {
  YAD_TRY(const JsonDocument document, JsonDocument::Parse(text));
  return document.Tree();
}

Result<Json> ParseAnswer(std::string_view text) {
  YAD_TRY(const JsonDocument document, JsonDocument::Parse(text));
  return document.TreeOfAnswer();
}

std::string DumpJsonAsGo(const Json& value) {
  const std::string text = DumpJson(value);
  std::string escaped;
  std::size_t copied = 0;
  // Replaces characters without regard to JSON's syntax. This is safe, because these characters can occur only inside
  // strings.
  for (std::size_t at = text.find_first_of("<>&\xe2"); at != std::string::npos;
       at = text.find_first_of("<>&\xe2", at)) {
    constexpr std::string_view kSeparators[] = {"\u2028", "\u2029"};
    std::string_view escape = text[at] == '<' ? "\\u003c" : text[at] == '>' ? "\\u003e" : "\\u0026";
    std::size_t size = 1;
    if (text[at] == '\xe2') {
      const std::string_view here = std::string_view(text).substr(at, kSeparators[0].size());
      if (here != kSeparators[0] && here != kSeparators[1]) {
        ++at;
        continue;
      }
      escape = here == kSeparators[0] ? "\\u2028" : "\\u2029";
      size = here.size();
    }
    escaped.append(text, copied, at - copied).append(escape);
    at = copied = at + size;
  }
  return copied == 0 ? text : escaped.append(text, copied);
}

std::string Excerpt(std::string_view text, std::size_t limit) {
  std::string out;
  for (const char c : text) {
    if (out.size() >= limit) {
      out += "...";
      break;
    }
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\t' || c == '\r') {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else {
      out += byte < 0x20 || byte >= 0x7f ? '?' : c;
    }
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

}  // namespace yad
