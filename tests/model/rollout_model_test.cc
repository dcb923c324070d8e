// Visits every state that a small rollout can reach when the operator's own code decides. Each of these may happen at
// any moment:
// - A pool becomes healthy, soaks, passes or fails its checks, breaks, exceeds its deadline, goes offline or returns.
// - One pool is held or released, or its update window opens or closes.
// - A freeze begins or ends.
// - An override of another pool replaces the revision.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <string>

#include "operator/yurtappdaemon/rollout/rollout.h"

namespace yad {
namespace {

enum class Health : char {
  kNew,                     // not healthy yet after its update
  kHealthy,                 // not soaked
  kVerifying,               // healthy and soaked; its checks run
  kCheckFailed,             // healthy and soaked; a check has failed
  kSoaked,                  // healthy and soaked; its checks have passed
  kSick,                    // healthy after its update, unhealthy now
  kLate,                    // past its deadline
  kOffline,                 // for another reason than its update
  kOfflineAfterUpdate,      // went offline after its update
  kLateOfflineAfterUpdate,  // kOfflineAfterUpdate, and past its deadline
};

constexpr std::size_t kPools = 3;
enum Revision : char { kOld, kBroken, kOverridden };  // kOverridden differs from kBroken only in the last pool

struct Pool {
  Revision revision = kOld;
  Health health = Health::kSoaked;
  bool offline_since_update = false;  // it went offline after the pools of kOfflineAfterUpdate were updated
  bool was_healthy = true;            // it was healthy at its update
  bool held = false;
  bool outside_window = false;  // its update window is closed
  auto operator<=>(const Pool&) const = default;
};

struct World {
  std::array<Pool, kPools> pools;
  Revision update = kBroken;
  bool failed = false;  // the update revision is marked as failed
  bool frozen = false;
  auto operator<=>(const World&) const = default;
};

struct Bounds {
  std::size_t max_unavailable = 1;
  std::size_t max_failures = 0;
  bool rollback = false;
  bool harmful = true;        // with the new revision, no pool stays healthy for the soak time
  int max_outages = 2;        // the number of pools that go offline for other reasons
  bool holds = false;         // a pool is held and released
  bool gates = false;         // the window of a pool opens and closes, and a freeze begins and ends
  bool checks = false;        // updated pools are checked
  bool fails_checks = false;  // the new revision fails the checks in every pool
};

bool IsOffline(const Pool& pool) { return pool.health >= Health::kOffline; }
bool HasSoaked(Health health) { return health >= Health::kVerifying && health <= Health::kSoaked; }
bool IsOfflineAfterUpdate(const Pool& pool) {
  return pool.health == Health::kOfflineAfterUpdate || pool.health == Health::kLateOfflineAfterUpdate;
}

class Model {
 public:
  explicit Model(Bounds bounds) : bounds_(bounds) {
    strategy_.max_unavailable = {static_cast<int>(bounds.max_unavailable), false};
    strategy_.max_failures = {static_cast<int>(bounds.max_failures), false};
    strategy_.rollback = bounds.rollback;
    strategy_.groups.resize(2);
  }

  // Returns the number of states.
  std::size_t Explore() {
    Visit({}, "begin");
    while (!queue_.empty() && !::testing::Test::HasFailure()) {
      const World world = queue_.front();
      queue_.pop_front();
      Reconcile(world);
      for (std::size_t i = 0; i < kPools; ++i) Disturb(world, i);
      if (world.update == kBroken) {
        World next = world;
        next.update = kOverridden;
        next.failed = false;
        Visit(next, "override of the last pool");
      }
    }
    return seen_.size();
  }

 private:
  static bool Alike(std::size_t pool, Revision a, Revision b) {
    return a == b || (a != kOld && b != kOld && pool + 1 < kPools);
  }

  RolloutInput Input(const World& world) const {
    RolloutInput input{strategy_};
    const Revision target = world.failed ? kOld : world.update;
    input.target_is_current = input.revision_failed = world.failed;
    input.has_current = true;
    input.frozen = world.frozen;
    for (std::size_t i = 0; i < kPools; ++i) {
      const Pool& pool = world.pools[i];
      RolloutPool seen;
      seen.name = kNames[i];
      seen.group = i == 0 ? 0 : 1;
      seen.exists = true;
      seen.held = pool.held;
      seen.outside_window = pool.outside_window;
      seen.offline = IsOffline(pool);
      seen.on_target = Alike(i, pool.revision, target);
      seen.label_names_target = pool.revision == target;
      seen.soaked = HasSoaked(pool.health);
      seen.updated = world.failed ? seen.label_names_target && !seen.soaked : seen.on_target && pool.revision != kOld;
      seen.offline_after_update = !world.failed && seen.updated && IsOfflineAfterUpdate(pool);
      const bool checked = !world.failed && seen.updated && seen.on_target;
      seen.verified = seen.soaked && (!checked || pool.health == Health::kSoaked);
      seen.check_failed = checked && pool.health == Health::kCheckFailed;
      seen.healthy = pool.health == Health::kHealthy || seen.soaked;
      seen.been_healthy = seen.healthy || pool.health == Health::kSick;
      seen.overdue = pool.health == Health::kLate || pool.health == Health::kLateOfflineAfterUpdate;
      seen.updated_at = WallTime{} + std::chrono::seconds(2);
      seen.offline_since = WallTime{} + std::chrono::seconds(pool.offline_since_update ? 3 : 1);
      input.pools.push_back(seen);
    }
    return input;
  }

  void Reconcile(const World& world) {
    const RolloutInput input = Input(world);
    const RolloutDecision decision = DecideRollout(input);
    World next = world;
    if (decision.roll_back) {
      CheckBlame(world);
      next.failed = true;
      Visit(next, "the revision is marked failed");
      return;
    }
    for (std::size_t i = 0; i < kPools; ++i) {
      if (decision.pools[i].step == Step::kNone) continue;
      Pool& pool = next.pools[i];
      EXPECT_FALSE(input.pools[i].on_target);
      EXPECT_FALSE(pool.held) << "updated although its site holds it";
      EXPECT_TRUE(world.failed || !(pool.outside_window || world.frozen)) << "updated although a gate is closed";
      pool.was_healthy = input.pools[i].healthy && !IsOffline(pool);
      pool.revision = world.failed ? kOld : world.update;
      pool.health = IsOffline(pool) ? Health::kOffline : Health::kNew;
      // The pools that are offline now went offline before this update.
      if (std::none_of(next.pools.begin(), next.pools.end(), [](const Pool& p) { return IsOfflineAfterUpdate(p); })) {
        for (Pool& other : next.pools) other.offline_since_update = false;
      }
    }
    Check(next);
    Visit(next, "reconcile");
  }

  // Checks that a failed revision caused more than maxFailures failures. In an outage, offline pools do not count,
  // because pools without the revision are also offline.
  void CheckBlame(const World& world) const {
    std::size_t late = 0, offline = 0, offline_late = 0, control = 0;
    for (std::size_t i = 0; i < kPools; ++i) {
      const Pool& pool = world.pools[i];
      const bool updated = pool.revision != kOld && Alike(i, pool.revision, world.update);
      late += updated && (pool.health == Health::kLate || pool.health == Health::kCheckFailed);
      offline += updated && IsOfflineAfterUpdate(pool);
      offline_late += updated && pool.health == Health::kLateOfflineAfterUpdate;
      control += !updated && IsOffline(pool) && pool.offline_since_update;
    }
    const bool outage = offline > 0 && control >= offline;
    EXPECT_GT(late + (outage ? 0 : offline_late), bounds_.max_failures)
        << "the revision is marked as failed although it has not caused enough failures";
  }

  // Checks that a harmful revision makes at most maxFailures + maxUnavailable healthy pools unhealthy or offline.
  void Check(const World& world) const {
    if (world.failed) return;
    std::size_t harmed = 0;
    for (std::size_t i = 0; i < kPools; ++i) {
      const Pool& pool = world.pools[i];
      const bool updated = pool.revision != kOld && Alike(i, pool.revision, world.update);
      const bool well = pool.health == Health::kHealthy || HasSoaked(pool.health);
      const bool proven = bounds_.fails_checks ? pool.health == Health::kSoaked : well;
      harmed += updated && pool.was_healthy && !proven && pool.health != Health::kOffline;
    }
    if (bounds_.harmful || bounds_.fails_checks) {
      EXPECT_LE(harmed, bounds_.max_failures + bounds_.max_unavailable) << "the revision reaches too many pools";
    }
  }

  // Visits the states that one pool can reach without a reconcile.
  void Disturb(const World& world, std::size_t i) {
    const Pool& pool = world.pools[i];
    const bool harmed = bounds_.harmful && pool.revision != kOld;
    const auto become = [&](Health health, const char* what) {
      World next = world;
      next.pools[i].health = health;
      if (HasSoaked(pool.health) && health == Health::kOffline) next.pools[i].was_healthy = false;
      next.pools[i].offline_since_update = IsOffline(next.pools[i]) && !IsOffline(pool);
      if (IsOffline(pool) && IsOffline(next.pools[i])) next.pools[i].offline_since_update = pool.offline_since_update;
      Visit(next, std::string(kNames[i]) + what);
    };
    const auto outages = std::count_if(world.pools.begin(), world.pools.end(),
                                       [](const Pool& p) { return p.health == Health::kOffline; });
    const bool may_fall = outages < bounds_.max_outages;
    if (i == 1) MoveGates(world, i);
    switch (pool.health) {
      case Health::kNew:
      case Health::kSick:
        if (!harmed) become(Health::kHealthy, " becomes healthy");
        become(Health::kLate, " is late");
        if (pool.revision != kOld) become(Health::kOfflineAfterUpdate, " goes offline after its update");
        break;
      case Health::kHealthy:
        if (!harmed) become(bounds_.checks && pool.revision != kOld ? Health::kVerifying : Health::kSoaked, " soaks");
        become(Health::kSick, " breaks");
        if (pool.revision != kOld) become(Health::kOfflineAfterUpdate, " goes offline after its update");
        break;
      case Health::kVerifying:
        if (!bounds_.fails_checks) become(Health::kSoaked, " passes its checks");
        become(Health::kCheckFailed, " fails a check");
        become(Health::kOfflineAfterUpdate, " goes offline after its update");
        break;
      case Health::kCheckFailed:
        become(Health::kVerifying, " repeats its check");
        break;
      case Health::kSoaked:
        if (may_fall) become(Health::kOffline, " goes offline");
        if (pool.revision == kOld && i == 1) become(Health::kSick, " breaks");
        break;
      case Health::kLate:
        if (!harmed) become(Health::kHealthy, " recovers");
        break;
      case Health::kOffline:
        become(pool.revision == kOld ? Health::kSoaked : Health::kNew, " returns");
        break;
      case Health::kOfflineAfterUpdate:
        become(Health::kNew, " returns");
        become(Health::kLateOfflineAfterUpdate, " is offline for too long after its update");
        break;
      case Health::kLateOfflineAfterUpdate:
        become(Health::kLate, " returns late");
        break;
    }
  }

  void MoveGates(const World& world, std::size_t i) {
    if (bounds_.holds) {
      World next = world;
      next.pools[i].held = !next.pools[i].held;
      Visit(next, std::string(kNames[i]) + (next.pools[i].held ? " is held" : " is released"));
    }
    if (!bounds_.gates) return;
    World next = world;
    next.pools[i].outside_window = !next.pools[i].outside_window;
    Visit(next, std::string("the window of ") + kNames[i] + (next.pools[i].outside_window ? " closes" : " opens"));
    next = world;
    next.frozen = !world.frozen;
    Visit(next, next.frozen ? "a freeze begins" : "the freeze ends");
  }

  void Visit(const World& world, const std::string& how) {
    if (seen_.emplace(world, how).second) queue_.push_back(world);
    if (::testing::Test::HasFailure()) ADD_FAILURE() << "after: " << how;
  }

  static constexpr std::array<const char*, kPools> kNames = {"a", "b", "c"};
  const Bounds bounds_;
  RollingUpdate strategy_;
  std::map<World, std::string> seen_;
  std::deque<World> queue_;
};

TEST(RolloutModelTest, InvariantsHoldInEveryReachableState) {
  std::size_t states = 0;
  for (const std::size_t max_unavailable : {1U, 2U}) {
    for (const std::size_t max_failures : {0U, 1U}) {
      for (const bool rollback : {false, true}) {
        for (const bool harmful : {false, true}) {
          SCOPED_TRACE(::testing::Message() << "maxUnavailable " << max_unavailable << " maxFailures " << max_failures
                                            << " rollback " << rollback << " harmful " << harmful);
          const std::size_t explored = Model({max_unavailable, max_failures, rollback, harmful}).Explore();
          EXPECT_GT(explored, 100U);
          states += explored;
        }
      }
    }
  }
  RecordProperty("states", std::to_string(states));
}

TEST(RolloutModelTest, InvariantsHoldWhileUpdatesAreChecked) {
  for (const std::size_t max_failures : {0U, 1U}) {
    for (const bool rollback : {false, true}) {
      for (const bool fails_checks : {false, true}) {
        SCOPED_TRACE(::testing::Message()
                     << "maxFailures " << max_failures << " rollback " << rollback << " fails checks " << fails_checks);
        Bounds bounds{/*max_unavailable=*/max_failures + 1, max_failures, rollback, /*harmful=*/false,
                      /*max_outages=*/1};
        bounds.checks = true;
        bounds.fails_checks = fails_checks;
        EXPECT_GT(Model(bounds).Explore(), 100U);
      }
    }
  }
}

TEST(RolloutModelTest, InvariantsHoldWhenASiteHoldsItsPool) {
  for (const bool rollback : {false, true}) {
    SCOPED_TRACE(rollback);
    Bounds bounds{.max_unavailable = 1, .max_failures = 0, .rollback = rollback, .harmful = true, .max_outages = 1};
    bounds.holds = true;
    EXPECT_GT(Model(bounds).Explore(), 100U);
  }
}

TEST(RolloutModelTest, NoUpdateStartsWhileAGateIsClosed) {
  for (const bool rollback : {false, true}) {
    for (const bool harmful : {false, true}) {
      SCOPED_TRACE(::testing::Message() << "rollback " << rollback << " harmful " << harmful);
      Bounds bounds{
          .max_unavailable = 1, .max_failures = 0, .rollback = rollback, .harmful = harmful, .max_outages = 0};
      bounds.gates = true;
      EXPECT_GT(Model(bounds).Explore(), 100U);
    }
  }
}

}  // namespace
}  // namespace yad
