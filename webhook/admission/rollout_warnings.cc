#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "operator/api/conditions.h"
#include "operator/api/update_strategy.h"
#include "operator/api/well_known.h"
#include "operator/base/time_zone.h"
#include "operator/cluster/pool_projection.h"
#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/observe/status_view.h"
#include "operator/yurtappdaemon/report/rollout_progress.h"
#include "webhook/admission/warning_list.h"
#include "webhook/admission/warnings.h"

namespace yad {
namespace {

std::string Quoted(const std::string& text) { return "\"" + text + "\""; }

// Returns the problem of an entry in the annotation `approve`; "" if the entry approves a group.
std::string ProblemOf(const std::string& entry, const std::string& update, const UpdateStrategy& strategy) {
  const std::size_t slash = entry.rfind('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == entry.size()) {
    return Quoted(entry) + " is not of the form \"<status.updateRevision>/<group>\"";
  }
  const std::string revision = entry.substr(0, slash);
  const std::string group = entry.substr(slash + 1);
  std::vector<std::string> manual;
  for (const RolloutGroup& one : strategy.rolling.groups) {
    if (one.manual && one.name == group) {
      if (update.empty() || revision == update) return "";
      return Quoted(entry) + " names another revision than status.updateRevision (" + Quoted(update) + ")";
    }
    if (one.manual) manual.push_back(one.name);
  }
  if (manual.empty()) return Quoted(entry) + " approves nothing: no group has approval Manual";
  return Quoted(entry) + " names no group with approval Manual; groups with approval Manual: " + QuoteSome(manual);
}

}  // namespace

void WarnOfGroups(const YurtAppDaemon& daemon, const std::vector<ObjectPtr>& pools, std::vector<std::string>& out) {
  const std::vector<RolloutGroup>& groups = daemon.strategy.rolling.groups;
  if (groups.size() == 1) {  // only the default group
    if (daemon.strategy.rolling.prefetch) {
      out.emplace_back(
          "spec.updateStrategy.rollingUpdate.prefetch: has no effect without groups, because the pools of "
          "the first group do not wait for their images");
    }
    return;
  }
  std::set<std::string_view> names;
  std::size_t selected = 0;
  std::vector<std::size_t> members(groups.size());
  std::map<std::string_view, std::size_t> group_of;
  for (const ObjectPtr& object : pools) {
    const NodePool& pool = PoolProjectionOf(object).pool;
    names.insert(pool.name);
    const std::size_t group = daemon.strategy.rolling.GroupOf(pool);
    group_of.emplace(pool.name, group);
    if (!daemon.pools.Selects(pool)) continue;
    ++members[group];
    ++selected;
  }
  std::size_t left = selected;  // the pools that no earlier group selects by name or by selector
  Warnings warnings(out);
  for (std::size_t i = 0; i + 1 < groups.size(); ++i) {
    const std::string path = "spec.updateStrategy.rollingUpdate.groups[" + std::to_string(i) + "]";
    std::vector<std::string> unknown;
    for (const std::string& name : groups[i].pools) {
      if (!names.contains(name)) {
        unknown.push_back(name);
      } else if (group_of.at(name) < i) {
        warnings.Add(path + ".pools", Quoted(name) + " belongs to group " + Quoted(groups[group_of.at(name)].name) +
                                          " already: a pool belongs to the first group that selects it");
      }
    }
    if (!unknown.empty()) {
      warnings.Add(path + ".pools",
                   "no NodePool is named " + QuoteSome(unknown) + "; the group does not wait for missing pools");
    } else if (members[i] == 0 && groups[i].percent == 0) {
      warnings.Add(path, "group " + Quoted(groups[i].name) + " has no NodePool now that the YurtAppDaemon selects");
    } else if (selected > 0 && left == 0) {
      warnings.Add(path, "group " + Quoted(groups[i].name) + " has no NodePool now: earlier groups have all pools");
    }
    left -= members[i];
  }
}

void WarnOfTimeZones(const YurtAppDaemon& daemon, std::vector<std::string>& out) {
  const std::vector<UpdateWindow>& windows = daemon.strategy.rolling.windows;
  Warnings warnings(out);
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (windows[i].time_zone.empty()) continue;
    const auto zone = TimeZone::Find(windows[i].time_zone);
    if (zone || zone.error().reason == Reason::kInvalid) continue;
    warnings.Add(
        "spec.updateStrategy.rollingUpdate.windows[" + std::to_string(i) + "].timeZone",
        Quoted(windows[i].time_zone) + " can't be checked, and the window stays closed: " + zone.error().message);
  }
}

void WarnOfIgnoredGates(const YurtAppDaemon& daemon, const YurtAppDaemon* before, const std::vector<ObjectPtr>& pools,
                        std::vector<std::string>& out) {
  const UpdateStrategyType type = daemon.strategy.type;
  if (type == UpdateStrategyType::kRollingUpdate) return;
  const bool is_new = before == nullptr || before->strategy.type != type;
  std::vector<std::string> held, with_windows;
  for (const ObjectPtr& object : pools) {
    const NodePool& pool = PoolProjectionOf(object).pool;
    if (!daemon.pools.Selects(pool)) continue;
    if (pool.hold) held.push_back(pool.name);
    if (is_new && pool.windows.windows && !pool.windows.windows->empty()) with_windows.push_back(pool.name);
  }
  const std::string strategy = type == UpdateStrategyType::kAll ? "All" : "OnDelete";
  Warnings warnings(out);
  if (!held.empty())
    warnings.Add("spec.updateStrategy.type", strategy + " ignores the hold of NodePool " + QuoteSome(held));
  if (!with_windows.empty()) {
    warnings.Add("spec.updateStrategy.type",
                 strategy + " ignores the update windows of NodePool " + QuoteSome(with_windows));
  }
}

void WarnOfFailedTemplate(const YurtAppDaemon& daemon, const YurtAppDaemon* before, std::vector<std::string>& out) {
  const UpdateStrategyType type = daemon.strategy.type;
  if (before == nullptr || type == UpdateStrategyType::kOnDelete) return;
  const bool to_all = type == UpdateStrategyType::kAll;
  if (to_all && before->strategy.type == type) return;
  const Json* progressing = FindConditionIn(before->status, kProgressingCondition);
  const std::string reason = progressing == nullptr ? "" : StringAt(*progressing, {"reason"});
  if (reason != kRollingBack && reason != kRolledBack) return;
  if (!to_all && daemon.workload_template == before->workload_template && daemon.overrides == before->overrides) return;
  const auto without_replicas = [](const YurtAppDaemon& one) {
    Json content = {{"template", one.workload_template}, {"overrides", one.overrides}};
    if (Json& spec = content["template"]["spec"]; spec.is_object()) spec.erase("replicas");
    for (Json& entry : content["overrides"]) {
      if (entry.is_object()) entry.erase("replicas");
    }
    return content;
  };
  if (without_replicas(daemon) != without_replicas(*before)) return;
  const std::string undo_first = "run `kubectl yad undo " + daemon.meta.key.name + "` first";
  if (to_all) {
    Warnings(out).Add(
        "spec.updateStrategy.type",
        "All rolls out the template, which has failed and was rolled back, to all pools at once: " + undo_first);
    return;
  }
  Warnings(out).Add(TemplatePath(daemon.kind),
                    "has failed and was rolled back, and the change of replicas rolls it out again: " + undo_first);
}

std::string ApprovalWarning(const Json& object, const Json& old_object) {
  const std::string text = StringAt(object, {"metadata", "annotations", kApproveAnnotation});
  if (text.empty() || text == StringAt(old_object, {"metadata", "annotations", kApproveAnnotation})) return "";
  const Json* strategy = Find(object, {"spec", "updateStrategy"});
  const auto parsed = ParseYurtAppDaemon(object);
  if (strategy == nullptr || !parsed) return "";
  const std::string update = StringAt(old_object, {"status", "updateRevision"});
  for (const std::string& entry : ApprovalEntries(text)) {
    if (const std::string problem = ProblemOf(entry, update, parsed->strategy); !problem.empty()) {
      return std::string("metadata.annotations[") + kApproveAnnotation + "]: " + problem;
    }
  }
  return "";
}

}  // namespace yad
