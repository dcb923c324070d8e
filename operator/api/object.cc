#include "operator/api/object.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace yad {
namespace {

const Json* Member(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
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
  const Json* found = Member(object, "metadata");
  if (found == nullptr || !found->is_object()) return meta;
  const Json& metadata = *found;
  meta.key = {StringAt(metadata, {"namespace"}), StringAt(metadata, {"name"})};
  meta.uid = StringAt(metadata, {"uid"});
  meta.resource_version = StringAt(metadata, {"resourceVersion"});
  meta.generation = IntAt(metadata, {"generation"});
  meta.creation_timestamp = StringAt(metadata, {"creationTimestamp"});
  meta.deletion_timestamp = StringAt(metadata, {"deletionTimestamp"});
  meta.labels = StringMapAt(metadata, {"labels"});
  meta.annotations = StringMapAt(metadata, {"annotations"});
  if (const Json& owners = ListAt(metadata, {"ownerReferences"}); !owners.empty()) {
    std::vector<OwnerReference> references;
    references.reserve(owners.size());
    for (const Json& owner : owners) {
      if (!owner.is_object()) continue;
      references.push_back({StringAt(owner, {"apiVersion"}), StringAt(owner, {"kind"}), StringAt(owner, {"name"}),
                            StringAt(owner, {"uid"}), BoolAt(owner, {"controller"})});
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
  const Json* value = Find(object, path);
  return value != nullptr && value->is_string() ? value->get_ref<const std::string&>() : std::string(fallback);
}

std::int64_t IntAt(const Json& object, std::initializer_list<std::string_view> path, std::int64_t fallback) {
  const Json* value = Find(object, path);
  if (value == nullptr || !value->is_number_integer()) return fallback;
  if (value->is_number_unsigned() &&
      value->get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return fallback;
  }
  return value->get<std::int64_t>();
}

bool BoolAt(const Json& object, std::initializer_list<std::string_view> path, bool fallback) {
  const Json* value = Find(object, path);
  return value != nullptr && value->is_boolean() ? value->get<bool>() : fallback;
}

const Json& ListAt(const Json& object, std::initializer_list<std::string_view> path) {
  static const Json& none = *new Json(Json::array());
  const Json* list = Find(object, path);
  return list != nullptr && list->is_array() ? *list : none;
}

StringMap StringMapAt(const Json& object, std::initializer_list<std::string_view> path) {
  StringMap result;
  const Json* map = Find(object, path);
  if (map == nullptr || !map->is_object()) return result;
  result.reserve(map->size());
  for (const auto& [key, entry] : map->items()) {
    if (entry.is_string()) result.emplace_hint(result.end(), key, entry.get_ref<const std::string&>());
  }
  return result;
}

std::string DumpJson(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

bool IsDeeperThan(const Json& value, std::size_t levels) {
  // Keeps the open values in a list, because recursion could overflow the stack.
  std::vector<std::pair<const Json*, std::size_t>> open{{&value, 0}};  // with the number of levels above the value
  while (!open.empty()) {
    const auto [at, depth] = open.back();
    open.pop_back();
    if (!at->is_structured()) continue;
    if (depth == levels) return true;
    for (const Json& child : *at) {
      if (child.is_structured()) open.emplace_back(&child, depth + 1);
    }
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
