#include "operator/api/update_strategy.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/base/file.h"

namespace yad {
namespace {

std::optional<IntOrPercent> IntOrPercentAt(const Json& object, std::string_view field) {
  const Json* value = Find(object, {field});
  if (value == nullptr) return std::nullopt;
  if (value->is_number_integer()) return IntOrPercent{value->get<int>(), false};
  if (!value->is_string()) return std::nullopt;
  return IntOrPercent{std::stoi(value->get_ref<const std::string&>()), true};  // std::stoi stops at "%".
}

RolloutGroup ParseGroup(const Json& object) {
  RolloutGroup group;
  group.name = StringAt(object, {"name"});
  for (const Json& pool : ListAt(object, {"pools"})) group.pools.insert(pool.get<std::string>());
  if (const Json* selector = Find(object, {"nodepoolSelector"}); selector != nullptr && selector->is_object()) {
    if (auto parsed = LabelSelector::Parse(*selector, "nodepoolSelector")) group.selector = *std::move(parsed);
  }
  group.percent = static_cast<int>(IntAt(object, {"percent"}));
  group.max_unavailable = IntOrPercentAt(object, "maxUnavailable");
  group.max_failures = IntOrPercentAt(object, "maxFailures");
  group.manual = StringAt(object, {"approval"}) == "Manual";
  return group;
}

Prefetch ParsePrefetch(const Json& object) {
  Prefetch prefetch;
  prefetch.ahead = static_cast<std::size_t>(IntAt(object, {"ahead"}, static_cast<std::int64_t>(prefetch.ahead)));
  prefetch.timeout = std::chrono::seconds(IntAt(object, {"timeoutSeconds"}, prefetch.timeout.count()));
  prefetch.waits = StringAt(object, {"onTimeout"}) == "Wait";
  return prefetch;
}

}  // namespace

std::size_t IntOrPercent::Of(std::size_t total) const {
  const auto number = static_cast<std::size_t>(value);
  return percent ? (total * number + 99) / 100 : number;
}

std::string IntOrPercent::ToString() const { return std::to_string(value) + (percent ? "%" : ""); }

bool RolloutGroup::Selects(const NodePool& pool) const {
  return pools.contains(pool.name) || (selector && selector->Matches(pool.labels));
}

std::size_t RollingUpdate::GroupOf(const NodePool& pool) const {
  std::size_t index = 0;
  while (index + 1 < groups.size() && !groups[index].Selects(pool)) ++index;
  return index;
}

UpdateStrategy ParseUpdateStrategy(const Json& strategy) {
  UpdateStrategy parsed;
  const std::string type = StringAt(strategy, {"type"});
  if (type == "RollingUpdate") parsed.type = UpdateStrategyType::kRollingUpdate;
  if (type == "OnDelete") parsed.type = UpdateStrategyType::kOnDelete;
  RollingUpdate& rolling = parsed.rolling;
  if (const Json* object = Find(strategy, {"rollingUpdate"}); object != nullptr && object->is_object()) {
    rolling.max_unavailable = IntOrPercentAt(*object, "maxUnavailable").value_or(rolling.max_unavailable);
    rolling.partition = IntOrPercentAt(*object, "partition").value_or(rolling.partition);
    rolling.max_failures = IntOrPercentAt(*object, "maxFailures").value_or(rolling.max_failures);
    rolling.min_ready = std::chrono::seconds(IntAt(*object, {"minReadySeconds"}));
    rolling.progress_deadline =
        std::chrono::seconds(IntAt(*object, {"progressDeadlineSeconds"}, kDefaultProgressDeadlineSeconds));
    rolling.rollback = StringAt(*object, {"onFailure"}) == "Rollback";
    rolling.windows = ParseUpdateWindows(ListAt(*object, {"windows"}));
    rolling.checks = ParseChecks(ListAt(*object, {"checks"}));
    if (const Json* prefetch = Find(*object, {"prefetch"}); prefetch != nullptr && prefetch->is_object())
      rolling.prefetch = ParsePrefetch(*prefetch);
    for (const Json& group : ListAt(*object, {"groups"})) rolling.groups.push_back(ParseGroup(group));
  }
  rolling.groups.push_back({});
  rolling.groups.back().name = kDefaultGroup;
  return parsed;
}

std::vector<std::string> ApprovalEntries(const std::string& annotation) {
  std::vector<std::string> entries;
  for (std::size_t begin = 0; begin <= annotation.size();) {
    const std::size_t end = std::min(annotation.find(',', begin), annotation.size());
    entries.push_back(Trim(annotation.substr(begin, end - begin)));
    begin = end + 1;
  }
  return entries;
}

}  // namespace yad
