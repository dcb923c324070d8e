#include "plugin/manifest/preview.h"

#include <cctype>
#include <map>
#include <nlohmann/json.hpp>

#include "operator/api/well_known.h"
#include "operator/yurtappdaemon/plan/plan.h"
#include "operator/yurtappdaemon/plan/services.h"
#include "plugin/manifest/yaml.h"
#include "plugin/view/unified_diff.h"

namespace yad {
namespace {

bool IsAlphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// Returns a string that identifies a change. Two pools have equal strings if their workloads change in the same way.
std::string KindOfChange(const std::string& pool, const Json& before, const Json& after) {
  const std::string text =
      before.is_null() ? ToYaml(Shown(after)) : UnifiedDiff(ToYaml(Shown(before)), ToYaml(Shown(after)));
  const std::string name = StringAt(after, {"metadata", "name"});
  return (before.is_null() ? "created\n" : "") + ReplaceWord(ReplaceWord(text, name, "{workload}"), pool, "{pool}");
}

}  // namespace

std::string ReplaceWord(const std::string& text, const std::string& word, const std::string& by) {
  if (word.empty()) return text;
  std::string result;
  std::size_t begin = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    const std::size_t end = at + word.size();
    const bool alone = (at == 0 || !IsAlphanumeric(text[at - 1])) && (end == text.size() || !IsAlphanumeric(text[end]));
    if (alone) {
      result.append(text, begin, at - begin).append(by);
      begin = end;
    }
    at = alone ? end : at + 1;
  }
  return result.append(text, begin, std::string::npos);
}

Json Shown(Json workload) {
  if (!workload.is_object()) return workload;
  workload.erase("status");
  Json& metadata = workload["metadata"];
  if (metadata.is_object()) {
    for (const char* field : {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"})
      metadata.erase(field);
  }
  return workload;
}

Result<Preview> MakePreview(const Snapshot& snapshot) {
  Preview preview;
  PlanMemo memo;
  ServiceMemo service_memo;
  Plan plan = MakePlan(snapshot, memo);
  PlanServices(snapshot, service_memo, plan);
  std::map<std::string, std::size_t> known;  // kinds of changes, with their indices in preview.changes
  const auto add = [&](const std::string& pool, const Json& before, Json after) {
    if (after == before) return;
    const auto [found, is_new] = known.try_emplace(KindOfChange(pool, before, after), preview.changes.size());
    if (is_new) preview.changes.push_back({{}, before, std::move(after)});
    preview.changes[found->second].pools.push_back(pool);
  };
  for (const PoolPlan& pool : plan.pools) {
    if (!pool.failure_reason.empty()) {
      preview.failures.push_back({pool.pool, pool.failure_reason, pool.failure_message});
      continue;
    }
    if (pool.service && pool.service->action != ServiceAction::kNone) {
      const ObjectPtr& live = pool.service->live;
      const Json before = live == nullptr || live->meta().deleting() ? Json() : live->Parse();
      add(pool.pool, before, ServiceToWrite(snapshot.daemon, pool, before.is_null() ? nullptr : &before));
    }
    if (pool.action == WorkloadAction::kNone) continue;
    const Json before = pool.action == WorkloadAction::kCreate ? Json() : pool.workload->object->Parse();
    YAD_TRY(auto after,
            before.is_null() ? NewWorkload(snapshot.daemon, pool) : MergedWorkload(snapshot.daemon, pool, before));
    add(pool.pool, before, std::move(after));
  }
  for (const Removal& removal : plan.removals) {
    preview.removals.push_back(
        {removal.workload.pool, TypeOf(snapshot.daemon.kind).kind, removal.workload.object->meta().key.name});
  }
  for (const ServiceRemoval& removal : plan.service_removals) {
    preview.removals.push_back({removal.service.pool, kServiceType.kind, removal.service.object->meta().key.name});
  }
  return preview;
}

}  // namespace yad
