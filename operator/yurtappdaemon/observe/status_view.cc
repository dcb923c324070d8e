#include "operator/yurtappdaemon/observe/status_view.h"

#include <nlohmann/json.hpp>

#include "operator/api/conditions.h"

namespace yad {

std::string_view PoolStatusView::Text(std::string_view key) const {
  const Json* value = Find(*entry_, {key});
  return value != nullptr && value->is_string() ? std::string_view(value->get_ref<const std::string&>()) : "";
}

bool StatusView::is_empty() const { return !status_->is_object() || status_->empty(); }

std::optional<PoolStatusView> StatusView::LastOfTruncated() const {
  const Json& list = ListAt(*status_, {"pools"});
  if (!pools_truncated() || list.empty()) return std::nullopt;
  return PoolStatusView(list.back());
}

bool StatusView::unlisted_were_ready() const {
  const auto last = LastOfTruncated();
  return last && last->phase() == PoolPhase::kReady;
}

bool StatusView::unlisted_have_soaked() const {
  const auto last = LastOfTruncated();
  return last && (last->phase() == PoolPhase::kReady ||
                  (last->phase() == PoolPhase::kOffline && last->reason() == kNoReadyNode));
}

std::set<std::string> StatusView::BegunGroups(std::string_view revision) const {
  std::set<std::string> groups;
  if (update_revision() != revision) return groups;
  for (const Json& group : ListAt(*status_, {"begunGroups"})) {
    if (group.is_string()) groups.insert(group.get<std::string>());
  }
  return groups;
}

bool StatusView::of_older_version() const {
  const Json* complete = FindConditionIn(*status_, kCompleteCondition);
  if (complete == nullptr) return true;
  const std::int64_t generation = IntAt(*complete, {"observedGeneration"});  // 0: the CRD does not have the field
  return generation != 0 && generation != IntAt(*status_, {"observedGeneration"});
}

std::vector<PoolStatusView> StatusView::pools() const {
  const Json& list = ListAt(*status_, {"pools"});
  std::vector<PoolStatusView> pools;
  pools.reserve(list.size());
  for (const Json& entry : list) pools.emplace_back(entry);
  return pools;
}

PoolStatusIndex::PoolStatusIndex(const StatusView& status) {
  const std::vector<PoolStatusView> pools = status.pools();
  entries_.reserve(pools.size());
  for (const PoolStatusView& pool : pools) entries_.emplace(pool.name(), pool);
}

const PoolStatusView* PoolStatusIndex::Find(std::string_view pool) const {
  const auto found = entries_.find(pool);
  return found == entries_.end() ? nullptr : &found->second;
}

}  // namespace yad
