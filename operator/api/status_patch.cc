#include "operator/api/status_patch.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace yad {

Json StatusPatch(const Json& before, const Json& after, const std::string& uid, std::string_view comes_and_goes) {
  Json changed = Json::object();
  for (const auto& [key, value] : after.items()) {
    const Json* old = Find(before, {key});
    if (old == nullptr || *old != value) changed[key] = value;
  }
  if (Find(before, {comes_and_goes}) != nullptr && !after.contains(comes_and_goes))
    changed[std::string(comes_and_goes)] = nullptr;
  if (changed.empty()) return nullptr;
  return {{"metadata", {{"uid", uid}}}, {"status", std::move(changed)}};
}

}  // namespace yad
