#include "operator/runtime/reflector.h"

#include <algorithm>
#include <exception>
#include <future>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "operator/base/log.h"
#include "operator/base/metrics.h"
#include "operator/base/synchronized.h"
#include "operator/runtime/page_size.h"

namespace yad {
namespace {

using std::chrono::seconds;

// The duration of one watch. The next watch resumes from the last version. A broken connection goes unnoticed for at
// most this time. (Missing events do not show a broken connection, because a type may have no events for a long time.)
constexpr seconds kWatchTimeout{90};
// If a watch has lasted this long, the next watch starts without a backoff.
constexpr Duration kHealthyAfter = seconds(5);
// The maximum wait while the type is missing. It is short, so that a new CRD is noticed soon.
constexpr Duration kTypeMissingCap = seconds(10);
// A list that is older than the data in the Store is rejected, because the server may lag. If the server returns only
// older lists for this long, Run fails, and the process restarts.
constexpr Duration kOlderListsRejectedFor = std::chrono::minutes(1);
// A watch that has lasted for this time without any event or bookmark is silent. After its end, the reflector lists the
// objects again. Normally, a bookmark arrives about once a minute. But after etcd was restored from a backup, no event
// or bookmark arrives until the server has reached the resourceVersion of the watch.
constexpr Duration kSilentFor = seconds(75);
// The reflector also lists the objects again if no watch has received an event or bookmark for this time. This finds a
// restored etcd even if each watch is cut before it has lasted for kSilentFor.
constexpr Duration kAllSilentFor = std::chrono::minutes(10);
constexpr char kRestored[] = ": etcd was restored from a backup, or this is another cluster";
// After this number of failed watches from the same resourceVersion, the reflector lists the objects again. Failures
// for which MayResume returns true are not counted.
constexpr int kMaxResumes = 3;
// The maximum size of a list without pages. The reflector requests a list without pages only if page_size is 0, or
// after the continue tokens of two lists have expired.
constexpr std::size_t kMaxUnpagedBytes = 512u << 20;

// Returns whether a watch from the same version may succeed later, when the server is back or permits the watch.
bool MayResume(const Error& error) {
  switch (error.reason) {
    case Reason::kTransport:
    case Reason::kTooManyRequests:
    case Reason::kServiceUnavailable:
    case Reason::kForbidden:
    case Reason::kUnauthorized:
      return true;
    default:
      return false;
  }
}

bool IsTypeMissing(const Error& error) { return error.reason == Reason::kNotFound || error.http_status == 404; }

}  // namespace

std::string_view ToString(ReflectorState state) {
  // In the order of the enum.
  constexpr std::string_view kNames[] = {"Empty",   "Listing",     "Watching", "WatchBroken",
                                         "Waiting", "TypeMissing", "Stopped"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(ReflectorState::kStopped) + 1);
  return kNames[static_cast<std::size_t>(state)];
}

struct Reflector::Impl {
  struct Shown {
    ReflectorState state = ReflectorState::kEmpty;
    std::string error;
    ResourceType type;
  };

  Impl(Client& the_client, ReflectorOptions the_options, Store& the_store,
       std::function<void(const Store::Change&)> the_on_change, Clock& the_clock)
      : client(the_client),
        options(std::move(the_options)),
        store(the_store),
        on_change(std::move(the_on_change)),
        clock(the_clock),
        list_backoff(options.backoff),
        watch_backoff(options.backoff),
        page_size(options.page_size),
        failing_since(metrics::GetGauge("informer_failing_since_timestamp_seconds",
                                        "Unix time when reads of this resource began to fail; 0: reads succeed.",
                                        MetricLabels())) {
    failing_since.Set(0);
    shown.With([&](Shown& value) { value.type = options.type; });
  }

  // ---- The state machine. Each step enters the next state.
  Status Run(const std::stop_token& stop) {
    while (!stop.stop_requested() && outcome) {
      try {
        Step(stop);
      } catch (const std::exception& exception) {
        watch.reset();
        Wait(Error{Reason::kInternalError, exception.what()}, "process", list_backoff, ReflectorState::kEmpty, stop);
      }
    }
    watch.reset();
    failing_since.Set(0);
    Enter(ReflectorState::kStopped);
    return outcome;
  }

  void Step(const std::stop_token& stop) {
    switch (shown.With([](const Shown& value) { return value.state; })) {
      case ReflectorState::kEmpty:
      case ReflectorState::kTypeMissing:
        return StartList(stop);
      case ReflectorState::kListing:
        return FinishList(stop);
      case ReflectorState::kWatchBroken:
        return Resume(stop);
      case ReflectorState::kWatching:
        return Follow(stop);
      case ReflectorState::kWaiting:
      case ReflectorState::kStopped:
        return Enter(ReflectorState::kEmpty);
    }
  }

  // kEmpty -> kListing.
  void StartList(const std::stop_token& stop) {
    Enter(ReflectorState::kListing);
    watch.reset();
    if (options.resolve) {
      Result<ResourceType> resolved = options.resolve(failed_lists, stop);
      if (!resolved) return ListFailed(resolved.error(), "discover", stop);
      options.type = *std::move(resolved);
      shown.With([&](Shown& value) { value.type = options.type; });
    }
  }

  // Reads a list into the Store (state kListing). After a success, the next state is kWatchBroken, from which Resume
  // opens a watch at the list's version.
  void FinishList(const std::stop_token& stop) {
    std::vector<ObjectPtr> objects;
    const Result<std::string> version = PagedList(objects, stop);
    if (!version) return ListFailed(version.error(), "list", stop);
    if (version->empty()) {
      return ListFailed(Error{Reason::kDecode, "the list has no resourceVersion"}, "list", stop);
    }
    // A list from a server that lags, or from a restored etcd, must never delete objects in the Store.
    if (CompareResourceVersions(*version, last_version) == -1) return RejectOlderList(*version, stop);
    older_lists_since.reset();
    if (std::string proof = WentBack(objects, *version); !proof.empty()) {
      outcome = Fail(Reason::kUnknown, Resource() + ": " + std::move(proof) + kRestored);
      return;
    }
    last_version = *version;
    failed_resumes = 0;
    failed_lists = {};
    list_backoff.Reset();
    const std::vector<Store::Change> changes = store.Replace(std::move(objects), last_version);
    Succeeded(/*watched=*/false);
    log::Debug("listed",
               {{"resource", options.type.resource}, {"objects", store.size()}, {"resourceVersion", last_version}});
    received = true;
    Enter(ReflectorState::kWatchBroken);
    for (const Store::Change& change : changes) on_change(change);
  }

  // kWatchBroken -> kWatching.
  void Resume(const std::stop_token& stop) {
    const WatchOptions request{.ns = options.ns,
                               .label_selector = options.label_selector,
                               .field_selector = options.field_selector,
                               .resource_version = last_version,
                               .timeout = kWatchTimeout};
    Result<std::unique_ptr<Watch>> opened = client.OpenWatch(options.type, request, stop);
    opened_at = clock.Now();
    version_at_open = last_version;
    if (received) silent_since = opened_at;
    received = false;
    if (!opened) return WatchFailed(opened.error(), stop);
    watch = std::move(*opened);
    shown.With([](Shown& value) { value.error.clear(); });
    Enter(ReflectorState::kWatching);
  }

  // kWatching: handles one event.
  void Follow(const std::stop_token& stop) {
    Result<std::optional<WatchEvent>> next = watch->Next();
    if (!next) return WatchFailed(next.error(), stop);
    if (!*next) return WatchEnded(stop);
    received = true;
    const WatchEvent& event = **next;
    ObjectMeta meta = ParseMeta(event.object);
    const std::string version = meta.resource_version;
    if (version.empty()) {
      return WatchFailed(Error{Reason::kDecode, "an event of the watch has no metadata.resourceVersion"}, stop);
    }
    std::optional<Store::Change> change;
    if (event.type == WatchEventType::kBookmark) {
      store.Advance(version);
    } else if (meta.key.name.empty()) {
      log::Warn("ignored a watch event without metadata.name", {{"resource", options.type.resource}});
    } else {
      ObjectPtr object = KnownOrKept(std::move(meta), event.object);
      change =
          event.type == WatchEventType::kDeleted ? store.Remove(std::move(object)) : store.Apply(std::move(object));
    }
    // The version is set last, so that an event is not skipped if its handling throws.
    if (CompareResourceVersions(version, last_version) != -1) last_version = version;
    if (last_version != version_at_open) Succeeded(/*watched=*/true);
    if (change) on_change(*change);
  }

  // ---- Lists
  Result<std::string> PagedList(std::vector<ObjectPtr>& objects, const std::stop_token& stop) {
    // After two attempts, requests the whole list in one response. A continue token can expire (410) during each
    // attempt if the list has thousands of pages.
    for (int attempt = 1;; ++attempt) {
      const bool paged = attempt <= 2 && options.page_size > 0;
      objects.clear();
      Result<std::string> version = Pages(objects, paged, stop);
      if (version || !paged || version.error().reason != Reason::kExpired || stop.stop_requested()) return version;
      log::Info("a continue token expired; listing again", {{"resource", options.type.resource}});
    }
  }

  Result<std::string> Pages(std::vector<ObjectPtr>& objects, bool paged, const std::stop_token& stop) {
    ListOptions request{
        .ns = options.ns, .label_selector = options.label_selector, .field_selector = options.field_selector};
    // The request has no resourceVersion, so that the server returns its newest data. Each page is requested before the
    // previous page is parsed, so that the server prepares it during the parsing.
    SteadyTime asked_at;
    const auto ask = [&] {
      asked_at = clock.Now();
      request.limit = paged ? page_size.limit() : 0;
      request.max_bytes = paged ? PageSize::kMaxBytes : kMaxUnpagedBytes;
      return std::async(std::launch::async,
                        [this, request, stop] { return client.ListAsText(options.type, request, stop); });
    };
    for (std::future<Result<ListText>> coming = ask();;) {
      const Result<ListText> page = coming.get();
      if (!page && paged && page_size.Halve(page.error(), clock.Now() - asked_at)) {
        coming = ask();
        continue;
      }
      if (!page) return Fail(page.error());
      page_size.Adapt(page->bytes());
      const std::string& more = page->continue_token();
      if (!more.empty()) {
        if (more == request.continue_token) {
          return Fail(Reason::kDecode, "the list gives the same continue token twice");
        }
        request.continue_token = more;
        coming = ask();
      }
      for (std::size_t i = 0; i < page->size(); ++i) {
        YAD_TRY(const JsonDocument item, page->Item(i));
        objects.push_back(KnownOrKept(ParseMeta(item), item));
      }
      if (more.empty()) return page->resource_version();
    }
  }

  // Returns the Store's object if it has the same version, so that another list of a large cluster does not need twice
  // the memory. Otherwise, makes a new object.
  ObjectPtr KnownOrKept(ObjectMeta meta, const JsonDocument& object) const {
    const Result<ObjectPtr> known = store.Get(meta.key);
    if (known && !meta.resource_version.empty() && (*known)->meta().resource_version == meta.resource_version &&
        (*known)->meta().uid == meta.uid) {
      return *known;
    }
    Json part = object.TreeOfObject(options.projected);
    if (options.transform) {
      options.transform(part);
      return std::make_shared<const StoredObject>(part, options.project);
    }
    const bool keeps_content = !options.keeps_content || options.keeps_content(meta);
    const KeptParts keep = {options.keeps_status, known ? known->get() : nullptr};
    StoredObject stored(std::move(meta), part, object, options.project, keep);
    return keeps_content ? std::make_shared<const StoredObject>(std::move(stored))
                         : StoredObject::WithoutContent(std::move(stored));
  }

  // Detects that etcd was restored from a backup: the list is new, but an object in it is older than in the Store.
  // Returns a description of this object, or "".
  std::string WentBack(const std::vector<ObjectPtr>& objects, const std::string& version) const {
    for (const ObjectPtr& object : objects) {
      const ObjectMeta& meta = object->meta();
      const Result<ObjectPtr> known = store.Get(meta.key);
      if (!known) continue;
      const std::string& seen = (*known)->meta().resource_version;
      if (CompareResourceVersions(meta.resource_version, seen) == -1 && CompareResourceVersions(seen, version) != 1) {
        return meta.key.ToString() + " has version " + meta.resource_version + " in the list of version " + version +
               ", and had version " + seen + " before";
      }
    }
    return "";
  }

  // ---- Failures.
  void ListFailed(const Error& error, const char* verb, const std::stop_token& stop) {
    watch.reset();
    ++failed_lists.count;
    failed_lists.last = error;
    // The Store keeps its objects, even if the type is missing because its CRD was deleted. A failed list must not look
    // like an empty list.
    Wait(error, verb, list_backoff, IsTypeMissing(error) ? ReflectorState::kTypeMissing : ReflectorState::kEmpty, stop);
  }

  void RejectOlderList(const std::string& version, const std::stop_token& stop) {
    if (!older_lists_since) older_lists_since = clock.Now();
    const std::string what =
        "the server's list (version " + version + ") is older than an earlier response (version " + last_version + ")";
    if (clock.Now() - *older_lists_since < kOlderListsRejectedFor) {
      return ListFailed(
          Error{Reason::kUnknown,
                what + "; if this lasts for a minute, this process exits, and a new one reads everything again"},
          "list", stop);
    }
    outcome = Fail(Reason::kUnknown, Resource() + ": " + what + ", and this has lasted for " +
                                         std::to_string(kOlderListsRejectedFor / seconds(1)) + " s" + kRestored);
  }

  void WatchFailed(const Error& error, const std::stop_token& stop) {
    // A load balancer may cut idle connections. The watch worked until then, so this is not a failure. A connection
    // that hangs is a failure: the client closes it after kWatchTimeout.
    const bool cut = Lived() && clock.Now() - opened_at < kWatchTimeout;
    if (cut && error.reason == Reason::kTransport) return WatchEnded(stop);
    const bool progress = last_version != version_at_open;
    watch_failing = true;
    if (progress || Lived()) watch_backoff.Reset();
    if (progress) failed_resumes = 0;
    watch.reset();
    bool relist = error.reason == Reason::kExpired || IsTypeMissing(error);
    if (!relist && !MayResume(error)) relist = ++failed_resumes >= kMaxResumes;
    Wait(error, "watch", watch_backoff, relist ? ReflectorState::kEmpty : ReflectorState::kWatchBroken, stop);
  }

  // Handles a watch that has ended, usually by the server's timeout. The next step is:
  // - a new watch after a backoff, if the old watch was shorter than kHealthyAfter;
  // - a list, if the old watch was silent, or if all watches of the last ten minutes were silent;
  // - a new watch in all other cases.
  void WatchEnded(const std::stop_token& stop) {
    const bool lived = Lived();
    const SteadyTime now = clock.Now();
    const bool silent = !received && watch && (now - opened_at >= kSilentFor || now - silent_since >= kAllSilentFor);
    if (lived || last_version != version_at_open) {
      watch_backoff.Reset();
      failed_resumes = 0;
      Succeeded(/*watched=*/true);
    }
    watch.reset();
    if (silent) log::Info("the watch received no data; listing again", {{"resource", Resource()}});
    if (lived) return Enter(silent ? ReflectorState::kEmpty : ReflectorState::kWatchBroken);
    Pause(watch_backoff.Next(), ReflectorState::kWaiting, ReflectorState::kWatchBroken, stop);
  }

  bool Lived() const { return watch && clock.Now() - opened_at >= kHealthyAfter; }

  void Wait(const Error& error, const char* verb, Backoff& backoff, ReflectorState next, const std::stop_token& stop) {
    if (stop.stop_requested()) return;  // `stop` caused the error.
    const std::string what = "cannot " + std::string(verb) + " " + Resource() + ": " + error.ToString();
    shown.With([&](Shown& value) { value.error = what; });
    if (failing_since.Value() == 0)
      failing_since.Set(std::chrono::duration<double>(clock.WallNow().time_since_epoch()).count());
    Report(error, verb);
    Duration delay = backoff.Next();
    if (next == ReflectorState::kTypeMissing) delay = std::min(delay, kTypeMissingCap);
    if (error.retry_after) delay = std::max<Duration>(delay, *error.retry_after);
    Pause(delay, next == ReflectorState::kTypeMissing ? next : ReflectorState::kWaiting, next, stop);
  }

  void Pause(Duration delay, ReflectorState meanwhile, ReflectorState next, const std::stop_token& stop) {
    Enter(meanwhile);
    if (clock.Sleep(delay, stop)) Enter(next);
  }

  // Logs each kind of failure once, not each attempt.
  void Report(const Error& error, const char* verb) {
    std::string kind = std::string(verb) + " " + std::string(ToString(error.reason));
    if (kind == reported)
      return log::Debug("reading still fails", {{"resource", Resource()}, {"verb", verb}, {"error", error}});
    reported = std::move(kind);
    const std::string ns = options.ns.empty() ? "*" : options.ns;
    switch (error.reason) {
      case Reason::kForbidden:
        return log::Err("not allowed: the role lacks a verb",
                        {{"verb", verb}, {"resource", Resource()}, {"namespace", ns}, {"error", error}});
      case Reason::kUnauthorized:
        return log::Err("not authenticated: the server rejects the operator's credentials",
                        {{"verb", verb}, {"resource", Resource()}, {"error", error}});
      case Reason::kNotFound:
        return log::Warn("the server does not know this type; waiting until its CRD is installed",
                         {{"resource", Resource()}, {"version", options.type.version}, {"error", error}});
      case Reason::kExpired:  // Normal: etcd was compacted.
        return log::Info("the watch's version is too old; listing again", {{"resource", Resource()}, {"error", error}});
      default:
        return log::Warn("reading failed; trying again",
                         {{"verb", verb}, {"resource", Resource()}, {"namespace", ns}, {"error", error}});
    }
  }

  void Succeeded(bool watched) {
    shown.With([](Shown& value) { value.error.clear(); });
    if (watched) watch_failing = false;
    if (watch_failing) return;
    failing_since.Set(0);
    if (reported.empty()) return;
    reported.clear();
    log::Info("reading works again", {{"resource", Resource()}, {"resourceVersion", last_version}});
  }

  void Enter(ReflectorState next) {
    shown.With([next](Shown& value) { value.state = next; });
  }

  // Returns the resource as RBAC rules and kubectl name it, such as "deployments.apps".
  std::string Resource() const {
    return options.type.group.empty() ? options.type.resource : options.type.resource + "." + options.type.group;
  }

  // Returns the label `resource`, and the label `selector` if this reflector reads only selected objects.
  metrics::Labels MetricLabels() const {
    metrics::Labels labels{{"resource", Resource()}};
    const bool both = !options.label_selector.empty() && !options.field_selector.empty();
    const std::string selector = options.label_selector + (both ? "," : "") + options.field_selector;
    if (!selector.empty()) labels["selector"] = selector;
    return labels;
  }

  Client& client;
  ReflectorOptions options;  // `type` is the last version that `resolve` returned
  Store& store;
  const std::function<void(const Store::Change&)> on_change;
  Clock& clock;

  // Only the thread that calls Run uses these members.
  // Lists and watches have separate backoffs, because a successful list must not reset the backoff of watches that
  // always fail.
  Backoff list_backoff;  // reset by a successful list
  Backoff watch_backoff;
  PageSize page_size;
  std::unique_ptr<Watch> watch;
  std::string last_version;  // resourceVersion of the last list, event or bookmark; never decreases
  std::string version_at_open;
  bool received = true;       // the open watch has reported an event, or a list was read since the last watch
  SteadyTime silent_since{};  // since then, no watch has reported an event
  SteadyTime opened_at{};
  int failed_resumes = 0;  // number of failed watches since the last event or list (see kMaxResumes)
  FailedLists failed_lists;
  std::optional<SteadyTime> older_lists_since;
  Status outcome;              // an Error ends Run
  bool watch_failing = false;  // true from a failed watch until a watch makes progress, even if lists succeed
  std::string reported;        // verb and reason of the last failure that was logged

  metrics::Gauge& failing_since;  // shared by all reflectors with the same MetricLabels

  Synchronized<Shown> shown;
};

Reflector::Reflector(Client& client, ReflectorOptions options, Store& store,
                     std::function<void(const Store::Change&)> on_change, Clock& clock)
    : impl_(std::make_shared<Impl>(client, std::move(options), store, std::move(on_change), clock)) {}

Status Reflector::Run(std::stop_token stop) { return impl_->Run(stop); }

ResourceType Reflector::type() const {
  return impl_->shown.With([](const Impl::Shown& shown) { return shown.type; });
}

ReflectorState Reflector::state() const {
  return impl_->shown.With([](const Impl::Shown& shown) { return shown.state; });
}

std::string Reflector::last_error() const {
  return impl_->shown.With([](const Impl::Shown& shown) { return shown.error; });
}

}  // namespace yad
