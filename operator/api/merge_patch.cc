#include "operator/api/merge_patch.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace yad {
namespace {

bool Has(const Json& object, const std::string& key) { return object.is_object() && object.contains(key); }
const Json& MemberOr(const Json& object, const std::string& key) {
  static const Json& null = *new Json(nullptr);
  return Has(object, key) ? object.at(key) : null;
}

}  // namespace

Json MergePatch(const Json& last, const Json& wanted, const Json& live) {
  Json patch = Json::object();
  for (const auto& [key, wish] : wanted.items()) {
    const Json& now = MemberOr(live, key);
    if (wish.is_object() && now.is_object()) {
      if (Json inner = MergePatch(MemberOr(last, key), wish, now); !inner.empty()) patch[key] = std::move(inner);
    } else if (wish != now) {
      patch[key] = wish;
    }
  }
  if (!last.is_object()) return patch;
  for (const auto& [key, said] : last.items()) {
    if (!Has(wanted, key) && Has(live, key)) patch[key] = nullptr;
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
