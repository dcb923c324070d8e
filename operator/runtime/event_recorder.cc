#include "operator/runtime/event_recorder.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/api/names.h"
#include "operator/api/well_known.h"
#include "operator/base/log.h"
#include "operator/base/metrics.h"
#include "operator/runtime/stop_timer.h"

namespace yad {
namespace {

constexpr std::size_t kMaxName = 253;
constexpr std::size_t kMaxField = 128;  // for reason, action and reportingInstance
constexpr std::size_t kMaxNote = 1024;
constexpr int kMaxAttempts = 8;  // The last attempt is 127 s after the first, as client-go tries for 2 minutes.
constexpr Duration kFirstRetry = std::chrono::seconds(1);
constexpr Duration kFlushTime = std::chrono::seconds(2);
constexpr Duration kDropLogPeriod = std::chrono::minutes(1);
constexpr Duration kSweepPeriod = std::chrono::minutes(1);
constexpr Duration kSeriesWindow = std::chrono::minutes(6);    // a repeat after a longer time becomes a new event
constexpr Duration kSeriesRefresh = std::chrono::seconds(30);  // minimum time between two writes of one series

// Returns valid UTF-8 of at most `max` bytes. The server rejects longer strings, and an invalid character makes the
// whole request invalid.
std::string Clean(const std::string& text, std::size_t max) {
  const std::string quoted = DumpJson(Json(text));
  return Utf8Prefix(Json::parse(quoted).get<std::string>(), max);
}

// Returns "<object>.<hex>", as in client-go. `stamp` makes the name unique.
std::string EventName(const std::string& object, std::uint64_t stamp) {
  char suffix[24];
  std::snprintf(suffix, sizeof suffix, ".%llx", static_cast<unsigned long long>(stamp));
  // RBAC objects may have names that are invalid for an Event, such as "system:node".
  std::string name = CheckDns1123Subdomain(object).empty() ? object : "event";
  name.resize(std::min(name.size(), kMaxName - std::string_view(suffix).size()));
  while (!name.empty() && (name.back() == '.' || name.back() == '-')) name.pop_back();
  return name + suffix;
}

bool NamespaceIsTerminating(const Error& error) {
  if (error.reason != Reason::kForbidden) return false;
  return std::any_of(error.causes.begin(), error.causes.end(),
                     [](const Cause& cause) { return cause.reason == "NamespaceTerminating"; }) ||
         error.message.find("is being terminated") != std::string::npos;
}

// One Event object and the state of its series.
struct Entry {
  ObjectReference regarding;
  EventType type;
  std::string reason, action, note;
  ObjectKey event;
  WallTime first;

  WallTime last;
  SteadyTime last_seen;
  std::int32_t count = 1;
  std::int32_t written = 0;  // the count that the server has; 0: the server does not have the event
  SteadyTime next_write{};   // earliest time for the next write of the series
  bool queued = false;
  int failures = 0;
};
using EntryPtr = std::shared_ptr<Entry>;

// Returns the fields that identify an event. A repeat has the same values.
auto IdentityOf(const Entry& entry) {
  const ObjectReference& regarding = entry.regarding;
  return std::tie(regarding.api_version, regarding.kind, regarding.key.ns, regarding.key.name, regarding.uid,
                  entry.reason, entry.action, entry.note, entry.type);
}

struct ByIdentity {
  bool operator()(const EntryPtr& a, const EntryPtr& b) const { return IdentityOf(*a) < IdentityOf(*b); }
};

}  // namespace

struct EventRecorder::Impl {
  Impl(Client& the_client, EventRecorderOptions the_options, Clock& the_clock)
      : client(the_client),
        options(std::move(the_options)),
        clock(the_clock),
        dropped(metrics::GetCounter("event_recorder_dropped_total", "Events that were dropped and not written.")) {}

  Client& client;
  const EventRecorderOptions options;
  Clock& clock;
  metrics::Counter& dropped;

  std::mutex mutex;
  std::condition_variable_any wake;
  // The mutex guards these members.
  std::set<EntryPtr, ByIdentity> entries;     // repeats are added to these entries
  std::multimap<SteadyTime, EntryPtr> queue;  // by the time of the next write
  std::uint64_t last_stamp = 0;
  std::uint64_t dropped_unlogged = 0;
  SteadyTime next_drop_log = SteadyTime::min();
  SteadyTime next_sweep = SteadyTime::min();

  void Queue(const EntryPtr& entry, SteadyTime when) {
    entry->queued = true;
    queue.emplace(std::max(when, clock.Now()), entry);  // behind the entries that are due already
    wake.notify_all();
  }

  // Counts a dropped event. Returns the number of dropped events to log, or 0 if it is too early for another log line.
  // The caller logs after it has released the lock.
  std::uint64_t CountDropped() {
    dropped.Increment();
    ++dropped_unlogged;
    const SteadyTime now = clock.Now();
    if (now < next_drop_log) return 0;
    next_drop_log = now + kDropLogPeriod;
    return std::exchange(dropped_unlogged, 0);
  }

  static void LogDropped(std::uint64_t count, const std::string& why) {
    if (count > 0) log::Warn("events were dropped", {{"count", count}, {"error", why}});
  }

  void Forget(const EntryPtr& entry) {
    const auto found = entries.find(entry);
    if (found != entries.end() && *found == entry) entries.erase(found);
  }

  // Removes entries that have not been repeated for kSeriesWindow. A later repeat becomes a new event.
  void Sweep(SteadyTime now) {
    if (now < next_sweep) return;
    next_sweep = now + kSweepPeriod;
    std::erase_if(entries,
                  [&](const EntryPtr& entry) { return !entry->queued && now - entry->last_seen > kSeriesWindow; });
  }

  void Record(const ObjectReference& regarding, EventType type, const std::string& reason, const std::string& action,
              const std::string& note) {
    auto made = std::make_shared<Entry>();
    made->regarding = regarding;
    made->type = type;
    made->reason = Clean(reason, kMaxField);
    made->action = Clean(action.empty() ? reason : action, kMaxField);
    made->note = Clean(note, kMaxNote);
    const SteadyTime now = clock.Now();
    made->first = made->last = clock.WallNow();
    made->last_seen = now;

    std::uint64_t to_log = 0;
    {
      std::lock_guard lock(mutex);
      Sweep(now);
      const auto found = entries.find(made);
      if (found != entries.end() && now - (*found)->last_seen <= kSeriesWindow) {
        const EntryPtr& entry = *found;
        entry->last = made->last;
        entry->last_seen = now;
        if (entry->count < std::numeric_limits<std::int32_t>::max()) ++entry->count;
        if (!entry->queued) Queue(entry, entry->next_write);
        return;
      }
      if (queue.size() >= options.capacity) {
        to_log = CountDropped();
      } else {
        // Names must be unique, even if the clock returns the same time twice.
        const auto stamp = static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(made->last.time_since_epoch()).count());
        last_stamp = std::max(stamp, last_stamp + 1);
        made->event = {regarding.key.ns.empty() ? "default" : regarding.key.ns,
                       EventName(regarding.key.name, last_stamp)};
        // Makes room for new entries. If a removed event is repeated, the repeat becomes a new event.
        if (entries.size() >= 4 * options.capacity)
          std::erase_if(entries, [](const EntryPtr& entry) { return !entry->queued; });
        entries.erase(made);  // an equal entry that is too old for a series
        entries.insert(made);
        Queue(made, now);
      }
    }
    LogDropped(to_log, "the queue is full");
  }

  Json Series(std::int32_t count, WallTime last) const {
    return {{"count", count}, {"lastObservedTime", FormatMicroTime(last)}};
  }

  Result<Json> Create(const Entry& entry, std::int32_t count, WallTime last, std::stop_token stop) {
    Json event = {{"apiVersion", kEventType.ApiVersion()},
                  {"kind", kEventType.kind},
                  {"metadata", {{"name", entry.event.name}, {"namespace", entry.event.ns}}},
                  {"eventTime", FormatMicroTime(entry.first)},
                  {"reportingController", options.controller},
                  {"reportingInstance", Clean(options.instance, kMaxField)},
                  {"action", entry.action},
                  {"reason", entry.reason},
                  {"note", entry.note},
                  {"type", entry.type == EventType::kWarning ? "Warning" : "Normal"}};
    Json& regarding = event["regarding"];
    const auto set = [&](const char* field, const std::string& value) {
      if (!value.empty()) regarding[field] = value;
    };
    set("apiVersion", entry.regarding.api_version);
    set("kind", entry.regarding.kind);
    set("namespace", entry.regarding.key.ns);
    set("name", entry.regarding.key.name);
    set("uid", entry.regarding.uid);
    set("resourceVersion", entry.regarding.resource_version);
    if (count > 1) event["series"] = Series(count, last);
    return client.Create(kEventType, event, {}, stop);
  }

  // Takes the first entry of the queue, and releases the lock while it writes the entry. Then queues the entry again,
  // drops it, or keeps it for repeats.
  void WriteNext(std::unique_lock<std::mutex>& lock, std::stop_token stop, std::stop_token hard_stop) {
    const EntryPtr entry = queue.begin()->second;
    queue.erase(queue.begin());
    const std::int32_t count = entry->count;
    const WallTime last = entry->last;
    const bool create = entry->written == 0;
    lock.unlock();
    Result<Json> written = create ? Create(*entry, count, last, hard_stop)
                                  : client.Patch(kEventType, entry->event, PatchType::kMerge,
                                                 {{"series", Series(count, last)}}, {}, hard_stop);
    lock.lock();

    entry->queued = false;
    const SteadyTime now = clock.Now();
    if (written) {
      entry->written = count;
      entry->failures = 0;
      if (count > 1) entry->next_write = now + kSeriesRefresh;
    } else if (create && written.error().reason == Reason::kAlreadyExists) {
      entry->written = 1;  // an earlier attempt was successful, but its response was lost
    } else if (!create && written.error().reason == Reason::kNotFound) {
      entry->written = 0;  // the event has expired
    } else if (Retry(*entry, written.error(), stop)) {
      Duration delay = kFirstRetry * (1 << (entry->failures - 1));
      if (written.error().retry_after) delay = std::max<Duration>(delay, *written.error().retry_after);
      Queue(entry, now + delay);
      return;
    } else {
      Drop(entry, written.error(), create, lock);
      return;
    }
    if (entry->count > entry->written) Queue(entry, entry->written == 0 ? now : entry->next_write);
  }

  static bool Retry(Entry& entry, const Error& error, const std::stop_token& stop) {
    return !stop.stop_requested() && IsTransient(error) && ++entry.failures < kMaxAttempts;
  }

  void Drop(const EntryPtr& entry, const Error& error, bool create, std::unique_lock<std::mutex>& lock) {
    Forget(entry);
    // Neither counts nor logs the drop if the namespace is terminating or deleted, because its events are deleted
    // anyway.
    if (NamespaceIsTerminating(error) || (create && error.reason == Reason::kNotFound)) return;
    const std::uint64_t to_log = CountDropped();
    lock.unlock();
    LogDropped(to_log, error.ToString());
    lock.lock();
  }

  void Run(std::stop_token stop) {
    StopTimer timer(clock);
    const std::stop_token hard_stop = timer.Begin(SteadyTime::max());
    const std::stop_callback flush(stop, [&] { timer.Move(clock.Now() + kFlushTime); });

    std::unique_lock lock(mutex);
    for (;;) {
      const bool stopping = stop.stop_requested();
      if (stopping && (queue.empty() || hard_stop.stop_requested())) break;
      const SteadyTime next = queue.empty() ? SteadyTime::max() : queue.begin()->first;
      if (stopping || next <= clock.Now()) {
        WriteNext(lock, stop, hard_stop);
      } else {
        clock.WaitUntil(wake, lock, stop, next, [&] { return !queue.empty() && queue.begin()->first < next; });
      }
    }
    const std::size_t left = queue.size();
    lock.unlock();
    if (left > 0) log::Warn("events were not written before the stop", {{"count", left}});
  }
};

EventRecorder::EventRecorder(Client& client, EventRecorderOptions options, Clock& clock)
    : impl_(std::make_unique<Impl>(client, std::move(options), clock)) {}

EventRecorder::~EventRecorder() = default;

void EventRecorder::Record(const ObjectReference& regarding, EventType type, const std::string& reason,
                           const std::string& action, const std::string& note) {
  try {
    impl_->Record(regarding, type, reason, action, note);
  } catch (const std::exception& exception) {
    impl_->dropped.Increment();
    log::Err("an event could not be recorded", {{"reason", reason}, {"what", exception.what()}});
  }
}

std::size_t EventRecorder::remembered() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->entries.size();
}

void EventRecorder::Run(std::stop_token stop) { impl_->Run(stop); }

}  // namespace yad
