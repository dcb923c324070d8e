#include "operator/api/conditions.h"

#include <algorithm>
#include <utility>

namespace yad {

std::string Utf8Prefix(std::string text, std::size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0) == 0x80) --limit;
  text.resize(limit);
  return text;
}

std::string Cut(std::string text, std::size_t limit) {
  return text.size() <= limit ? text : Utf8Prefix(std::move(text), limit - 3) + "...";
}

std::string NameSome(const std::vector<std::string>& names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

const Json* FindCondition(const Json& object, std::string_view type) {
  const Json* status = Find(object, {"status"});
  return status == nullptr ? nullptr : FindConditionIn(*status, type);
}

const Json* FindConditionIn(const Json& status, std::string_view type) {
  for (const Json& condition : ListAt(status, {"conditions"})) {
    if (StringAt(condition, {"type"}) == type) return &condition;
  }
  return nullptr;
}

bool IsTrue(const Json* condition) { return condition != nullptr && StringAt(*condition, {"status"}) == "True"; }

Conditions::Conditions(const Json& old_status, std::int64_t generation, WallTime now)
    : generation_(generation), now_(FormatTime(now)), list_(ListAt(old_status, {"conditions"})) {}

void Conditions::Set(const Condition& condition, bool upstream) {
  Json entry = {{"type", condition.type}, {"status", condition.status}, {"lastTransitionTime", now_}};
  if (!condition.reason.empty()) entry["reason"] = condition.reason;
  if (!condition.message.empty()) entry["message"] = Cut(condition.message, kMaxMessage);
  if (!upstream) entry["observedGeneration"] = generation_;
  for (Json& existing : list_) {
    if (StringAt(existing, {"type"}) != condition.type) continue;
    if (StringAt(existing, {"status"}) == condition.status) {
      if (const std::string since = StringAt(existing, {"lastTransitionTime"}); !since.empty()) {
        entry["lastTransitionTime"] = since;
      }
    }
    existing = std::move(entry);
    return;
  }
  list_.push_back(std::move(entry));
}

void Conditions::Remove(std::string_view type) {
  for (auto it = list_.begin(); it != list_.end();) it = StringAt(*it, {"type"}) == type ? list_.erase(it) : it + 1;
}

bool Conditions::Has(std::string_view type) const {
  return std::any_of(list_.begin(), list_.end(), [&](const Json& c) { return StringAt(c, {"type"}) == type; });
}

}  // namespace yad
