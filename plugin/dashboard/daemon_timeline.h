// The recent changes of one YurtAppDaemon. Pure.
#ifndef PLUGIN_DASHBOARD_DAEMON_TIMELINE_H_
#define PLUGIN_DASHBOARD_DAEMON_TIMELINE_H_

#include <string>
#include <vector>

#include "plugin/dashboard/pool_model.h"

namespace yad {

inline constexpr std::size_t kMaxTimeline = 50;

// The Events of the core API. They refer to their object with the field `involvedObject`.
inline const ResourceType kCoreEventType{"", "v1", "events", "Event", true};

struct TimelineEntry {
  WallTime at;
  std::string what;

  bool operator==(const TimelineEntry&) const = default;
};

// The parts of a daemon's state that the timeline compares.
struct DaemonMoment {
  std::string revision;  // updateRevision
  std::string progress;  // the reason of condition Progressing
  std::string message;
  std::vector<PoolFacts> pools;
};
DaemonMoment MomentOf(const Json& daemon, std::vector<PoolFacts> pools);

// Returns the changes between two moments. Pools with the same change share an entry.
std::vector<TimelineEntry> ChangesBetween(const DaemonMoment& before, const DaemonMoment& after, WallTime now);
// Returns an entry for each time at which pools entered their current phase. The timeline begins with these entries,
// because there is no earlier moment to compare with.
std::vector<TimelineEntry> FirstTimeline(const DaemonMoment& moment);
// Returns one entry for each Event.
std::vector<TimelineEntry> TimelineOfEvents(const std::vector<Json>& events);

// Merges two lists. The result is sorted, newest first, and has at most kMaxTimeline entries. Entries with the same
// text at about the same time are combined.
std::vector<TimelineEntry> JoinTimelines(std::vector<TimelineEntry> a, const std::vector<TimelineEntry>& b);

}  // namespace yad

#endif  // PLUGIN_DASHBOARD_DAEMON_TIMELINE_H_
