#include "operator/api/merge_patch.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace yad {
namespace {

// json::contains returns false if the value is not an object.
const Json& MemberOrNull(const Json& object, const std::string& key) {
  static const Json& null = *new Json(nullptr);
  return object.contains(key) ? object.at(key) : null;
}

}  // namespace

Json MergePatch(const Json& last, const Json& wanted, const Json& live) {
  Json patch = Json::object();
  for (const auto& [key, value] : wanted.items()) {
    const Json& current = MemberOrNull(live, key);
    if (value.is_object() && current.is_object()) {
      if (Json inner = MergePatch(MemberOrNull(last, key), value, current); !inner.empty())
        patch[key] = std::move(inner);
    } else if (value != current) {
      patch[key] = value;
    }
  }
  if (!last.is_object()) return patch;
  for (const auto& [key, value] : last.items()) {
    if (!wanted.contains(key) && live.contains(key)) patch[key] = nullptr;
  }
  return patch;
}

Json StatusPatch(const Json& before, const Json& after, const std::string& uid,
                 std::initializer_list<std::string_view> removable) {
  Json last = Json::object();
  for (const std::string_view key : removable) last[std::string(key)] = nullptr;
  Json changed = MergePatch(last, after, before);
  if (changed.empty()) return nullptr;
  Json patch = Json::object();  // A braced list would copy `changed`.
  patch["metadata"]["uid"] = uid;
  patch["status"] = std::move(changed);
  return patch;
}

}  // namespace yad
