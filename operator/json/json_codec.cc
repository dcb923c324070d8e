#include "operator/json/json_codec.h"

#include <nlohmann/json.hpp>

#include "operator/json/json_document.h"

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

}  // namespace yad
