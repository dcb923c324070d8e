#include "plugin/dashboard/daemon_timeline.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "operator/api/conditions.h"
#include "operator/yurtappdaemon/observe/pod_facts.h"
#include "operator/yurtappdaemon/observe/status_view.h"

namespace yad {
namespace {

constexpr std::size_t kNamedInEntry = 5;
constexpr std::chrono::seconds kClose{5};

// A change of a pool, as the verb of a sentence.
struct PoolChange {
  std::string of_one;   // "is Ready"
  std::string of_many;  // "are Ready"
};

PoolChange Is(const std::string& what) { return {"is " + what, "are " + what}; }

// Returns the change of a pool; nullopt if its phase and its revision are the same. `before` is null for a new pool.
std::optional<PoolChange> ChangeOf(const PoolFacts* before, const PoolFacts& after) {
  if (before == nullptr) return PoolChange{"joins", "join"};
  if (before->phase == after.phase && before->revision == after.revision) return std::nullopt;
  if (before->revision != after.revision && !after.revision.empty())
    return PoolChange{"gets " + after.revision, "get " + after.revision};
  return Is(after.phase + (after.reason.empty() ? "" : " (" + after.reason + ")"));
}

// Groups pools by their change, in the order in which the changes were added.
class Changes {
 public:
  void Add(const PoolChange& change, const std::string& pool) {
    auto [it, added] = pools_.try_emplace(change.of_one);
    if (added) order_.push_back(change);
    it->second.push_back(pool);
  }
  void AppendTo(std::vector<TimelineEntry>& entries, WallTime at) const {
    for (const PoolChange& change : order_) {
      const std::vector<std::string>& names = pools_.at(change.of_one);
      const bool one = names.size() == 1;
      entries.push_back({at, (one ? "pool " : std::to_string(names.size()) + " pools (") +
                                 NameSome(names, kNamedInEntry) + (one ? " " + change.of_one : ") " + change.of_many)});
    }
  }

 private:
  std::map<std::string, std::vector<std::string>> pools_;
  std::vector<PoolChange> order_;
};

// Returns whether both entries describe the same change. One may be a change of condition Progressing, and the other
// the operator's Event about this change. Their times may differ by some seconds.
bool Same(const TimelineEntry& a, const TimelineEntry& b) {
  return a.what == b.what && a.at - b.at <= kClose && b.at - a.at <= kClose;
}

}  // namespace

DaemonMoment MomentOf(const Json& daemon, std::vector<PoolFacts> pools) {
  DaemonMoment moment;
  moment.revision = StringAt(daemon, {"status", "updateRevision"});
  if (const Json* progressing = FindCondition(daemon, kProgressingCondition)) {
    moment.progress = StringAt(*progressing, {"reason"});
    moment.message = StringAt(*progressing, {"message"});
  }
  moment.pools = std::move(pools);
  return moment;
}

std::vector<TimelineEntry> ChangesBetween(const DaemonMoment& before, const DaemonMoment& after, WallTime now) {
  std::vector<TimelineEntry> entries;
  if (before.revision != after.revision && !after.revision.empty())
    entries.push_back({now, "the spec has the new revision " + after.revision});
  std::unordered_map<std::string_view, const PoolFacts*> old;
  for (const PoolFacts& pool : before.pools) old.emplace(pool.name, &pool);
  Changes changes;
  for (const PoolFacts& pool : after.pools) {
    const auto found = old.find(pool.name);
    const auto change = ChangeOf(found == old.end() ? nullptr : found->second, pool);
    if (change) changes.Add(*change, pool.name);
    if (found != old.end()) old.erase(found);
  }
  for (const PoolFacts& pool : before.pools) {
    if (old.contains(pool.name)) changes.Add({"leaves", "leave"}, pool.name);
  }
  changes.AppendTo(entries, now);
  if (before.progress != after.progress && !after.progress.empty())
    entries.push_back({now, after.progress + (after.message.empty() ? "" : ": " + after.message)});
  return entries;
}

std::vector<TimelineEntry> FirstTimeline(const DaemonMoment& moment) {
  std::map<std::string, Changes> by_time;
  for (const PoolFacts& pool : moment.pools) {
    if (ParseTime(pool.since) == WallTime()) continue;
    by_time[pool.since].Add(Is(pool.phase + (pool.revision.empty() ? "" : " on " + pool.revision)), pool.name);
  }
  std::vector<TimelineEntry> entries;
  for (const auto& [at, changes] : by_time) changes.AppendTo(entries, ParseTime(at));
  return entries;
}

std::vector<TimelineEntry> TimelineOfEvents(const std::vector<Json>& events) {
  std::vector<TimelineEntry> entries;
  for (const Json& event : events)
    entries.push_back({TimeOfEvent(event), StringAt(event, {"reason"}) + ": " + StringAt(event, {"message"})});
  return entries;
}

std::vector<TimelineEntry> JoinTimelines(std::vector<TimelineEntry> a, const std::vector<TimelineEntry>& b) {
  for (const TimelineEntry& entry : b) {
    if (std::none_of(a.begin(), a.end(), [&](const TimelineEntry& other) { return Same(entry, other); }))
      a.push_back(entry);
  }
  std::stable_sort(a.begin(), a.end(), [](const auto& x, const auto& y) { return x.at > y.at; });
  if (a.size() > kMaxTimeline) a.resize(kMaxTimeline);
  return a;
}

}  // namespace yad
