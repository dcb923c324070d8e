#include "operator/api/status_patch.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace yad {

Json StatusPatch(const Json& before, const Json& after, const std::string& uid,
                 std::initializer_list<std::string_view> come_and_go) {
  Json changed = Json::object();
  for (const auto& [key, value] : after.items()) {
    const Json* old = Find(before, {key});
    if (old == nullptr || *old != value) changed[key] = value;
  }
  for (const std::string_view key : come_and_go) {
    if (Find(before, {key}) != nullptr && !after.contains(key)) changed[std::string(key)] = nullptr;
  }
  if (changed.empty()) return nullptr;
  Json patch = Json::object();  // A braced list would copy `changed`.
  patch["metadata"]["uid"] = uid;
  patch["status"] = std::move(changed);
  return patch;
}

}  // namespace yad
