#include "operator/api/object.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace yad {
namespace {

const Json* Member(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string AsString(const Json* value, std::string_view fallback) {
  return value != nullptr && value->is_string() ? value->get_ref<const std::string&>() : std::string(fallback);
}

std::int64_t AsInt(const Json* value, std::int64_t fallback) {
  if (value == nullptr || !value->is_number_integer()) return fallback;
  if (value->is_number_unsigned() &&
      value->get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return fallback;
  }
  return value->get<std::int64_t>();
}

bool AsBool(const Json* value, bool fallback) {
  return value != nullptr && value->is_boolean() ? value->get<bool>() : fallback;
}

StringMap AsStringMap(const Json* value) {
  StringMap result;
  if (value == nullptr || !value->is_object()) return result;
  result.reserve(value->size());
  for (const auto& [key, entry] : value->items()) {
    if (entry.is_string()) result.emplace_hint(result.end(), key, entry.get_ref<const std::string&>());
  }
  return result;
}

// Returns the length of `text` as a JSON string, with quotes and escapes.
std::size_t QuotedSize(std::string_view text) {
  std::size_t size = 2 + text.size();
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '\b' || c == '\f' || c == '\n' || c == '\r' || c == '\t') {
      size += 1;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      size += 5;  // \u00XX
    }
  }
  return size;
}

const std::string& Lookup(const StringMap& map, const std::string& key) {
  static const std::string& empty = *new std::string;
  const auto found = map.find(key);
  return found == map.end() ? empty : found->second;
}

}  // namespace

const OwnerReference* ObjectMeta::controller() const {
  if (owners == nullptr) return nullptr;
  const auto found = std::find_if(owners->begin(), owners->end(), [](const auto& owner) { return owner.controller; });
  return found == owners->end() ? nullptr : &*found;
}

const std::string& ObjectMeta::Label(const std::string& name) const { return Lookup(labels, name); }

const std::string& ObjectMeta::Annotation(const std::string& name) const { return Lookup(annotations, name); }

ObjectMeta ParseMeta(const Json& object) {
  ObjectMeta meta;
  const Json* metadata = Member(object, "metadata");
  if (metadata == nullptr || !metadata->is_object()) return meta;
  const auto text = [metadata](std::string_view key) { return AsString(Member(*metadata, key), ""); };
  meta.key = {text("namespace"), text("name")};
  meta.uid = text("uid");
  meta.resource_version = text("resourceVersion");
  meta.generation = AsInt(Member(*metadata, "generation"), 0);
  meta.creation_timestamp = text("creationTimestamp");
  meta.deletion_timestamp = text("deletionTimestamp");
  meta.labels = AsStringMap(Member(*metadata, "labels"));
  meta.annotations = AsStringMap(Member(*metadata, "annotations"));
  const Json* owners = Member(*metadata, "ownerReferences");
  if (owners != nullptr && owners->is_array() && !owners->empty()) {
    std::vector<OwnerReference> references;
    references.reserve(owners->size());
    for (const Json& owner : *owners) {
      if (!owner.is_object()) continue;
      references.push_back({AsString(Member(owner, "apiVersion"), ""), AsString(Member(owner, "kind"), ""),
                            AsString(Member(owner, "name"), ""), AsString(Member(owner, "uid"), ""),
                            AsBool(Member(owner, "controller"), false)});
    }
    meta.owners = std::make_shared<const std::vector<OwnerReference>>(std::move(references));
  }
  return meta;
}

const Json* Find(const Json& object, std::initializer_list<std::string_view> path) {
  const Json* at = &object;
  for (std::string_view step : path) {
    at = Member(*at, step);
    if (at == nullptr) return nullptr;
  }
  return at;
}

std::string StringAt(const Json& object, std::initializer_list<std::string_view> path, std::string_view fallback) {
  return AsString(Find(object, path), fallback);
}

std::int64_t IntAt(const Json& object, std::initializer_list<std::string_view> path, std::int64_t fallback) {
  return AsInt(Find(object, path), fallback);
}

bool BoolAt(const Json& object, std::initializer_list<std::string_view> path, bool fallback) {
  return AsBool(Find(object, path), fallback);
}

const Json& ListAt(const Json& object, std::initializer_list<std::string_view> path) {
  static const Json& none = *new Json(Json::array());
  const Json* list = Find(object, path);
  return list != nullptr && list->is_array() ? *list : none;
}

StringMap StringMapAt(const Json& object, std::initializer_list<std::string_view> path) {
  return AsStringMap(Find(object, path));
}

std::string DumpJson(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

bool IsDeeperThan(const Json& value, std::size_t levels) {
  // Visits one level after the other, because recursion could overflow the stack.
  std::vector<const Json*> level;
  if (value.is_structured()) level.push_back(&value);
  for (std::size_t depth = 0; !level.empty(); ++depth) {
    if (depth == levels) return true;
    std::vector<const Json*> next;
    for (const Json* at : level) {
      for (const Json& child : *at) {
        if (child.is_structured()) next.push_back(&child);
      }
    }
    level = std::move(next);
  }
  return false;
}

JsonSize MeasureJson(const Json& value) {
  JsonSize size;
  std::vector<const Json*> open{&value};
  while (!open.empty()) {
    const Json& node = *open.back();
    open.pop_back();
    ++size.values;
    if (node.is_string()) {
      size.text += QuotedSize(node.get_ref<const std::string&>());
    } else if (!node.is_structured()) {
      size.text += node.dump().size();
    } else {
      size.text += 2 + (node.empty() ? 0 : node.size() - 1);  // brackets and commas
      for (auto member = node.begin(); member != node.end(); ++member) {
        if (node.is_object()) size.text += QuotedSize(member.key()) + 1;
        open.push_back(&*member);
      }
    }
  }
  return size;
}

std::uint64_t Fnv1a64(std::string_view text, std::uint64_t seed) {
  for (const char c : text) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return seed;
}

std::uint32_t Fnv1a32(std::string_view text, std::uint32_t seed) {
  for (const char c : text) seed = (seed ^ static_cast<unsigned char>(c)) * 0x01000193U;
  return seed;
}

}  // namespace yad
