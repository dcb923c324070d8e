#include "plugin/dashboard/live.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "operator/api/well_known.h"
#include "operator/cluster/nodepool_type.h"
#include "operator/cluster/pool_projection.h"
#include "operator/yurtappdaemon/observe/freeze.h"
#include "plugin/commands/running_reflector.h"
#include "plugin/dashboard/fleet_model.h"
#include "plugin/dashboard/watched_daemon.h"

namespace yad {
namespace {

constexpr std::chrono::seconds kPace{1};
// The interval of updates while a browser waits for the first state of a daemon.
constexpr std::chrono::milliseconds kUrgentPace{50};
// The interval at which states are computed again, because a plan also changes without an event, when a soak or a
// window ends.
constexpr std::chrono::seconds kRefresh{15};
constexpr std::size_t kKeptWatches = 4;  // of daemons that no browser shows

struct FleetProjection : Projection {
  Json entry;
};

std::unique_ptr<const Projection> ProjectFleetEntry(const Json& daemon) {
  auto projection = std::make_unique<FleetProjection>();
  projection->entry = FleetEntry(daemon);
  return projection;
}

ReflectorOptions WatchingDaemons(const std::string& ns) {
  return {.type = kYurtAppDaemonType, .ns = ns, .project = ProjectFleetEntry};
}

// Watches NodePools in the highest API version that the server can read. After a failed list, tries the next version.
ReflectorOptions WatchingPools(Client& client) {
  return {.type = kNodePoolType,
          .project = ProjectPool,
          .projected = kProjectedOfPools,
          .resolve = [&client](const FailedLists& failed, const std::stop_token& stop) -> Result<ResourceType> {
            YAD_TRY(const auto types, DiscoverNodePoolTypes(client, stop));
            return types[static_cast<std::size_t>(failed.count) % types.size()];
          }};
}

std::string EventText(const char* name, const std::string& data) {
  return std::string("event: ") + name + "\ndata: " + data + "\n\n";
}

// Holds the newest states for the feeds. Thread-safe.
class Board {
 public:
  struct States {
    std::shared_ptr<const std::string> connection;
    std::shared_ptr<const std::string> fleet;  // null: not known yet
    ShownDaemonPtr daemon;                     // null: not known yet
  };

  States Read(const std::optional<ObjectKey>& daemon) const {
    std::lock_guard lock(mutex_);
    States states{connection_, fleet_, nullptr};
    if (const auto found = daemon ? daemons_.find(*daemon) : daemons_.end(); found != daemons_.end())
      states.daemon = found->second;
    return states;
  }
  // Returns whether the text has changed.
  bool PutConnection(std::string text) {
    std::lock_guard lock(mutex_);
    if (connection_ != nullptr && *connection_ == text) return false;
    connection_ = std::make_shared<const std::string>(std::move(text));
    return true;
  }
  void PutFleet(std::string text) {
    std::lock_guard lock(mutex_);
    fleet_ = std::make_shared<const std::string>(std::move(text));
  }
  void PutDaemons(std::map<ObjectKey, ShownDaemonPtr> daemons) {
    std::lock_guard lock(mutex_);
    daemons_ = std::move(daemons);
    changed_.notify_all();
  }
  ShownDaemonPtr Await(const ObjectKey& daemon, Duration timeout) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [&] { return daemons_.contains(daemon); });
    const auto found = daemons_.find(daemon);
    return found == daemons_.end() ? nullptr : found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const std::string> connection_;
  std::shared_ptr<const std::string> fleet_;
  std::map<ObjectKey, ShownDaemonPtr> daemons_;
};

// A daemon that a browser shows or has shown. Each event stream of the daemon holds a copy of `interest`. So if
// `interest` has a use count of 1, no browser shows the daemon.
struct Slot {
  std::shared_ptr<int> interest = std::make_shared<int>();
  std::uint64_t used = 0;                  // the order of use: a greater number is more recent
  std::unique_ptr<WatchedDaemon> watched;  // used by the thread of Live only
};

class Feed : public EventFeed {
 public:
  Feed(std::shared_ptr<const Board> board, std::optional<ObjectKey> daemon, std::shared_ptr<int> interest)
      : board_(std::move(board)), daemon_(std::move(daemon)), interest_(std::move(interest)) {}

  std::string Next() override {
    Board::States now = board_->Read(daemon_);
    std::string text;
    if (now.connection != nullptr && now.connection != last_.connection)
      text += EventText("connection", *now.connection);
    if (now.fleet != nullptr && now.fleet != last_.fleet) text += EventText("fleet", *now.fleet);
    if (now.daemon != nullptr && now.daemon != last_.daemon) text += DaemonText(*now.daemon);
    if (now.daemon == nullptr) now.daemon = last_.daemon;
    last_ = std::move(now);
    return text;
  }

 private:
  std::string DaemonText(const ShownDaemon& now) const {
    const ShownDaemon* before = last_.daemon != nullptr && !last_.daemon->gone ? last_.daemon.get() : nullptr;
    if (now.gone) return last_.daemon != nullptr && last_.daemon->gone ? "" : EventText("gone", "{}");
    std::string text;
    if (before == nullptr || before->head != now.head) text += EventText("daemon", now.head);
    if (const std::string pools = PoolsChange(before, now); !pools.empty()) text += EventText("pools", pools);
    return text;
  }

  const std::shared_ptr<const Board> board_;
  const std::optional<ObjectKey> daemon_;
  const std::shared_ptr<int> interest_;
  Board::States last_;
};

}  // namespace

struct Live::Impl {
  Impl(Client& the_client, LiveOptions the_options, std::function<void()> on_change, Clock& the_clock)
      : client(the_client), options(std::move(the_options)), changed(std::move(on_change)), clock(the_clock) {
    const auto notify = [this] { Notify(false); };
    daemons = std::make_unique<RunningReflector>(client, WatchingDaemons(options.ns), notify);
    pools = std::make_unique<RunningReflector>(client, WatchingPools(client), notify);
    if (options.operator_ns)
      freeze = std::make_unique<RunningReflector>(client, WatchingFreeze(*options.operator_ns), notify);
    thread = std::jthread([this](const std::stop_token& stop) { Run(stop); });
  }

  void Notify(bool at_once) {
    std::lock_guard lock(mutex);
    news = true;
    urgent = urgent || at_once;
    if (urgent) wake.notify_all();
  }

  std::shared_ptr<int> Follow(const ObjectKey& key) {
    std::shared_ptr<int> interest;
    {
      std::lock_guard lock(mutex);
      std::shared_ptr<Slot>& slot = slots[key];
      if (slot == nullptr) slot = std::make_shared<Slot>();
      slot->used = ++uses;
      interest = slot->interest;
    }
    Notify(true);
    return interest;
  }

  void Run(const std::stop_token& stop) {
    SteadyTime refreshed{};
    bool all_known = false;
    while (!stop.stop_requested()) {
      bool refresh = clock.Now() - refreshed >= kRefresh;
      {
        std::unique_lock lock(mutex);
        wake.wait_for(lock, stop, all_known ? Duration(kPace) : Duration(kUrgentPace), [this] { return urgent; });
        refresh = refresh || news || !all_known;
        news = urgent = false;
      }
      if (stop.stop_requested()) return;
      bool differs = PublishConnection();
      if (refresh) {
        refreshed = clock.Now();
        differs = PublishFleet() || differs;
        all_known = PublishDaemons();
      }
      if (differs || refresh) changed();
    }
  }

  bool PublishConnection() {
    const std::string error = daemons->error();
    return board->PutConnection(DumpJson({{"connected", error.empty()}, {"error", error}}));
  }

  KnownFreeze FreezeAt(WallTime now) const {
    const auto unknown = [](const std::string& why) {
      return Fail(Reason::kNotSynced, why.empty() ? "" : "the freeze can't be read: " + why);
    };
    if (freeze == nullptr) return unknown(options.operator_ns.error().message);
    const auto list = freeze->store().List();
    if (!list) return unknown(freeze->error());
    return FreezeAmong(*list, now);
  }

  // Publishes the list of daemons if it has changed. Returns whether it has changed.
  bool PublishFleet() {
    auto list = daemons->store().List();
    if (!list) return false;
    std::sort(list->begin(), list->end(),
              [](const ObjectPtr& a, const ObjectPtr& b) { return a->meta().key < b->meta().key; });
    const WallTime now = clock.WallNow();
    std::vector<Json> shown;
    for (const ObjectPtr& object : *list) shown.push_back(ProjectionOf<FleetProjection>(object).entry);
    Json fleet = MakeFleet(options.context, options.ns, FreezeAt(now), shown);
    std::string text = DumpJson(fleet);
    if (text == fleet_text) return false;
    fleet_text = std::move(text);
    fleet["now"] = FormatTime(now);
    board->PutFleet(DumpJson(fleet));
    return true;
  }

  // Publishes the states of the daemons in `slots`. Returns whether all of them are known.
  bool PublishDaemons() {
    const auto followed = Followed();
    SharedObjects shared;
    shared.now = clock.WallNow();
    shared.freeze = FreezeAt(shared.now);
    shared.pools = pools->store().List();
    if (!shared.pools) shared.pools = Fail(Reason::kNotSynced, pools->error());
    std::map<ObjectKey, ShownDaemonPtr> states;
    bool all = true;
    for (const auto& [key, slot] : followed) {
      if (slot->watched == nullptr)
        slot->watched = std::make_unique<WatchedDaemon>(client, key, [this] { Notify(false); });
      const auto object = daemons->store().Get(key);
      const bool known = object.has_value() || object.error().reason == Reason::kNotFound;
      const bool ready = known && pools->answered();
      ShownDaemonPtr state = ready ? slot->watched->Update(object.value_or(nullptr), shared) : nullptr;
      if (state == nullptr) state = board->Read(key).daemon;
      // A missing state usually arrives soon, so `all` becomes false, and Run tries again after kUrgentPace. If the
      // watch of the daemons has an error, the state will not arrive soon, so `all` does not change.
      if (state == nullptr) all = all && !daemons->error().empty();
      if (state != nullptr) states.emplace(key, std::move(state));
    }
    board->PutDaemons(std::move(states));
    return all;
  }

  // Drops slots that no browser shows, but keeps the kKeptWatches most recent of them. Returns the remaining slots.
  std::map<ObjectKey, std::shared_ptr<Slot>> Followed() {
    // Slots are destroyed after the mutex is released: their reflectors may need the mutex before they stop.
    std::vector<std::shared_ptr<Slot>> forgotten;
    std::lock_guard lock(mutex);
    std::vector<std::pair<std::uint64_t, ObjectKey>> idle;
    for (const auto& [key, slot] : slots) {
      if (slot->interest.use_count() == 1) idle.emplace_back(slot->used, key);
    }
    std::sort(idle.begin(), idle.end());
    for (std::size_t i = 0; i + kKeptWatches < idle.size(); ++i) {
      const auto found = slots.find(idle[i].second);
      forgotten.push_back(std::move(found->second));
      slots.erase(found);
    }
    return slots;
  }

  Client& client;
  const LiveOptions options;
  const std::function<void()> changed;
  Clock& clock;
  const std::shared_ptr<Board> board = std::make_shared<Board>();

  std::mutex mutex;
  std::condition_variable_any wake;
  bool news = true;     // guarded by mutex
  bool urgent = false;  // guarded by mutex
  std::uint64_t uses = 0;
  std::map<ObjectKey, std::shared_ptr<Slot>> slots;  // guarded by mutex

  // Only the thread of Run uses these members.
  std::string fleet_text;

  std::unique_ptr<RunningReflector> daemons, pools, freeze;
  std::jthread thread;  // destroyed first
};

Live::Live(Client& client, LiveOptions options, std::function<void()> changed, Clock& clock)
    : impl_(std::make_unique<Impl>(client, std::move(options), std::move(changed), clock)) {}

Live::~Live() = default;

std::unique_ptr<EventFeed> Live::Open(const std::optional<ObjectKey>& daemon) {
  return std::make_unique<Feed>(impl_->board, daemon, daemon ? impl_->Follow(*daemon) : nullptr);
}

ShownDaemonPtr Live::StateOf(const ObjectKey& daemon, Duration timeout) {
  const auto interest = impl_->Follow(daemon);
  return impl_->board->Await(daemon, timeout);
}

}  // namespace yad
