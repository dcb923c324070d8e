#include "operator/json/list_text.h"

#include <simdjson.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "operator/json/json_document.h"

namespace yad {

Result<ListText> ListText::Split(std::string answer, const ResourceType& type) {
  namespace ondemand = simdjson::ondemand;
  ListText list;
  list.text_ = std::move(answer);
  const std::string& text = list.text_;
  list.text_.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  const auto reject = [&type](const std::string& why) {
    return Fail(Reason::kDecode, "the response to a list of " + type.resource + " " + why);
  };

  ondemand::parser parser;
  ondemand::document document;
  ondemand::array items;
  // If this fails, JsonDocument::Parse below returns the error.
  if (!parser.iterate(text.data(), text.size(), text.capacity()).get(document) &&
      !document["items"].get_array().get(items)) {
    for (auto item : items) {
      ondemand::object object;
      std::string_view found;
      if (item.get_object().get(object) || object.raw_json().get(found)) {
        return reject("has an item that is not an object: " + Excerpt(text));
      }
      const auto begin = static_cast<std::size_t>(found.data() - text.data());
      list.items_.push_back({begin, begin + found.size()});
    }
  }

  // Parses the list without its items: `around` is the list with null in place of the items.
  std::string around = text.substr(0, list.items_.empty() ? text.size() : list.items_.front().begin);
  if (!list.items_.empty()) around.append("null").append(text, list.items_.back().end);
  const Result<JsonDocument> parsed = JsonDocument::Parse(around);
  if (!parsed) return reject("is " + parsed.error().message);
  const Json members = parsed->Tree();
  // "items" may be null, because Go writes null for an empty slice. But it must exist, because a response that is not a
  // list must not count as an empty list.
  const Json* found = Find(members, {"items"});
  const Json expected = list.items_.empty() ? Json::array() : Json::array({nullptr});
  if (found == nullptr || (*found != expected && !(found->is_null() && list.items_.empty()))) {
    return reject("has no items: " + Excerpt(text));
  }
  list.resource_version_ = StringAt(members, {"metadata", "resourceVersion"});
  list.continue_token_ = StringAt(members, {"metadata", "continue"});
  list.head_ = DumpJson({{"apiVersion", type.ApiVersion()}, {"kind", type.kind}});
  list.head_.pop_back();
  return list;
}

Result<JsonDocument> ListText::Item(std::size_t index) const {
  const Range& range = items_[index];
  const auto members = std::string_view(text_).substr(range.begin + 1, range.end - range.begin - 1);
  const bool empty = members[members.find_first_not_of(" \t\r\n")] == '}';
  std::string item;
  item.reserve(head_.size() + 1 + members.size());
  item.append(head_).append(empty ? "" : ",").append(members);
  // `head_` sets apiVersion and kind. If the item has its own, these members come later and are used, because the last
  // member with a key counts.
  Result<JsonDocument> document = JsonDocument::Parse(item);
  if (!document) return Fail(Reason::kDecode, "an item of a list is " + document.error().message);
  return document;
}

}  // namespace yad
