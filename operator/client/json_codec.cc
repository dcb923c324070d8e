#include "operator/client/json_codec.h"

#include <nlohmann/json.hpp>

namespace yad {
namespace {

// Counts brackets outside strings: far cheaper than a parser with a callback, and right for every text that is JSON.
bool NestsTooDeeply(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxParseDepth) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

}  // namespace

Result<Json> ParseJson(std::string_view text) {
  Json::parser_callback_t shallow;  // Costs too much to be used where it is not needed.
  if (NestsTooDeeply(text)) {
    shallow = [](int depth, Json::parse_event_t event, Json&) {
      const bool begins = event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
      return !begins || depth < kMaxParseDepth;
    };
  }
  Json value = Json::parse(text, shallow, /*allow_exceptions=*/false);
  if (value.is_discarded()) {
    return Fail(Reason::kDecode,
                text.empty() ? "an empty text where JSON was expected" : "no valid JSON: " + Excerpt(text));
  }
  return value;
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
