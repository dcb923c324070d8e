#include "operator/yurtappdaemon/report/status_lists.h"

#include <cstdint>
#include <nlohmann/json.hpp>

namespace yad {
namespace {

// Calls visit(key, text or number) for each member of an entry.
template <typename Visit>
void Members(const PoolEntry& entry, Visit& visit) {
  const auto optional = [&](const char* key, std::string_view text) {
    if (!text.empty()) visit(key, text);
  };
  visit("name", entry.name);
  visit("phase", ToString(entry.phase));
  visit("lastTransitionTime", entry.since);
  optional("revision", entry.revision);
  optional("state", entry.state);
  optional("service", entry.service);
  optional("reason", entry.reason);
  optional("message", entry.message);
  optional("waitingFor", entry.waiting_for);
  if (entry.unhealthy_seconds > 0) visit("unhealthySeconds", entry.unhealthy_seconds);
  if (entry.scaled_from > 0) visit("scaledFrom", entry.scaled_from);
  optional("healthySince", entry.healthy_since);
  optional("check", entry.check);
  optional("checkStartedAt", entry.check_started);
  if (entry.check_failures > 0) visit("checkFailures", entry.check_failures);
  if (entry.workload == nullptr) return;
  visit("workload", entry.workload->object->meta().key.name);
  visit("replicas", entry.workload->state().replicas);
  visit("readyReplicas", entry.workload->state().ready_replicas);
  if (entry.misplaced > 0) visit("misplacedReplicas", entry.misplaced);
}

template <typename Visit>
void Members(const WorkloadRef* workload, Visit& visit) {
  visit("availableCondition", workload->state().available_condition);
  visit("replicas", workload->state().replicas);
  visit("readyReplicas", workload->state().ready_replicas);
  visit("workloadName", workload->object->meta().key.name);
}

bool Is(const Json& value, std::string_view text) {
  return value.is_string() && value.get_ref<const std::string&>() == text;
}
bool Is(const Json& value, std::int64_t number) {
  return value.is_number_integer() && value.get<std::int64_t>() == number;
}

struct Comparison {
  const Json& entry;
  std::size_t members = 0;
  bool same = true;

  void operator()(std::string_view key, const auto& value) {
    ++members;
    if (!same) return;
    const Json* shown = Find(entry, {key});
    same = shown != nullptr && Is(*shown, value);
  }
};

template <typename Entry>
bool Same(const Json& shown, const Entry& entry) {
  Comparison comparison{shown};
  Members(entry, comparison);
  return comparison.same && comparison.members == shown.size();
}
bool Same(const Json& shown, std::string_view name) { return Is(shown, name); }

template <typename Entry>
Json Tree(const Entry& entry) {
  Json tree = Json::object();
  const auto add = [&](const char* key, const auto& value) { tree[key] = value; };
  Members(entry, add);
  return tree;
}
Json Tree(std::string_view name) { return name; }

// Calls function(key, list) for each list.
template <typename Function>
void ForEachList(const StatusLists& lists, Function function) {
  function("nodepools", lists.nodepools);
  function("workloadSummary", lists.workloads);
  function("pools", lists.pools);
}

template <typename Entry>
bool IsShownBy(const Json& status, const char* key, const std::vector<Entry>& list) {
  const Json* shown = Find(status, {key});
  bool same = shown != nullptr && shown->is_array() && shown->size() == list.size();
  for (std::size_t i = 0; same && i < list.size(); ++i) same = Same((*shown)[i], list[i]);
  return same;
}

}  // namespace

bool StatusLists::AreShownBy(const Json& status) const {
  bool all = true;
  ForEachList(*this, [&](const char* key, const auto& list) { all = all && IsShownBy(status, key, list); });
  return all;
}

void StatusLists::AddChanged(const Json& before, Json& fields) const {
  ForEachList(*this, [&](const char* key, const auto& list) {
    if (IsShownBy(before, key, list)) return;
    Json& tree = fields[key] = Json::array();
    for (const auto& entry : list) tree.push_back(Tree(entry));
  });
}

}  // namespace yad
