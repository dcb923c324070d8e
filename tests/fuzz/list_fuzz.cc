// Splits the response to a list into its items. Unless the response is rejected, they must be the items that a parser
// of the whole response finds.
#include <string>

#include "operator/json/json_document.h"
#include "operator/json/list_text.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/json_mutator.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using yad::Json;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const yad::ResourceType type{"apps", "v1", "deployments", "Deployment", true};
  const auto list = yad::ListText::Split(text, type);
  if (!list) return 0;
  // Reading an item parses it, so this may fail for an accepted response.
  Json items = Json::array();
  for (std::size_t i = 0; i < list->size(); ++i) {
    const auto item = list->Item(i);
    if (!item) return 0;
    items.push_back(item->TreeOfObject());
  }
  const auto parsed = yad::JsonDocument::Parse(text);
  const Json whole = parsed ? parsed->Tree() : Json();
  YAD_CHECK(whole.is_object() && whole.contains("items"), text);
  if (yad::IsDeeperThan(whole, yad::kMaxJsonDepth)) return 0;  // the parser drops levels that are too deep
  Json wanted = whole.at("items").is_null() ? Json::array() : whole.at("items");
  YAD_CHECK(wanted.size() == items.size(), text);
  for (Json& item : wanted) {
    item.emplace("apiVersion", type.ApiVersion());
    item.emplace("kind", type.kind);
    if (const auto metadata = item.find("metadata"); metadata != item.end() && metadata->is_object()) {
      metadata->erase("managedFields");
    }
  }
  YAD_CHECK(items == wanted, text);
  YAD_CHECK(list->resource_version() == yad::StringAt(whole, {"metadata", "resourceVersion"}), text);
  YAD_CHECK(list->continue_token() == yad::StringAt(whole, {"metadata", "continue"}), text);
  return 0;
}

YAD_FUZZ_JSON();
