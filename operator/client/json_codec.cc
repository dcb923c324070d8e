#include "operator/client/json_codec.h"

#include <nlohmann/json.hpp>

#include "operator/client/json_document.h"

namespace yad {

Result<Json> ParseJson(std::string_view text) {
  const Result<JsonDocument> document = JsonDocument::Parse(text);
  if (!document) return Fail(document.error());
  return document->Tree();
}

Result<Json> ParseAnswer(std::string_view text) {
  const Result<JsonDocument> document = JsonDocument::Parse(text);
  if (!document) return Fail(document.error());
  return document->TreeOfAnswer();
}

std::string DumpJson(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

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
