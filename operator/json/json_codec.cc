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

}  // namespace yad
