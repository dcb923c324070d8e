// Thousands of random rollouts in virtual time, on the shipped decision: pools that heal, fail, go offline and change,
// templates and strategies that change in the middle, pauses, approvals, rollbacks, and operators that restart at any
// point and remember what status says. All the time the limits hold; when the world has come to rest, the rollout has
// ended or says what it waits for.
//
// YAD_SEEDS=a-b runs these seeds; YAD_SEED=n one, with its story.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

#include "operator/yurtappdaemon/pool_health.h"
#include "operator/yurtappdaemon/rollout.h"
#include "tests/support/test_run.h"

namespace yad {
namespace {

using std::chrono::seconds;

struct SimulatedPool {
  std::string name;
  std::size_t group = 0;
  bool offline = false;
  bool exists = true;
  int revision = 0;  // that its workload is on
  int inputs = 0;    // version of the pool that it was rendered for
  int wanted_inputs = 0;
  WallTime heals_at;             // healthy from then on; max: never
  bool broken_hardware = false;  // nothing ever gets healthy there
};

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed) : random_(seed) {
    pools_.resize(Pick(1, 8));
    for (std::size_t i = 0; i < pools_.size(); ++i) pools_[i].name = std::string(1, static_cast<char>('a' + i));
    NewStrategy();
    for (SimulatedPool& pool : pools_) {
      pool.group = Pick(0, strategy_.groups.size() - 1);
      pool.offline = Chance(10);
      pool.broken_hardware = Chance(4);
      pool.heals_at = pool.broken_hardware ? WallTime::max() : now_;
    }
    current_ = Chance(90) ? 0 : -1;
  }

  void Run() {
    NewRevision();
    const int steps = static_cast<int>(Pick(20, 60));
    for (int step = 0; step < steps && !::testing::Test::HasFailure(); ++step) {
      if (Chance(25)) Disturb();
      Reconcile();
      Advance();
    }
    ComeToRest();
  }
  std::string story() const { return story_.str(); }

 private:
  std::size_t Pick(std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random_);
  }
  bool Chance(int percent) { return Pick(1, 100) <= static_cast<std::size_t>(percent); }
  void Tell(const std::string& what) { story_ << (now_ - WallTime{}) / seconds(1) << "s " << what << "\n"; }

  IntOrPercent Limit(int low) {
    return Chance(60) ? IntOrPercent{static_cast<int>(Pick(low, 3)), false}
                      : IntOrPercent{static_cast<int>(Pick(low, 100)), true};
  }
  void NewStrategy() {
    const std::size_t groups = strategy_.groups.empty() ? Pick(1, 3) : strategy_.groups.size();
    strategy_ = {};
    strategy_.max_unavailable = Limit(1);
    if (Chance(20)) strategy_.partition = Limit(0);
    if (Chance(50)) strategy_.max_failures = Limit(0);
    strategy_.min_ready = seconds(Chance(50) ? 0 : Pick(1, 30));
    strategy_.progress_deadline = seconds(60);
    strategy_.rollback = Chance(50);
    for (std::size_t i = 0; i < groups; ++i) {
      RolloutGroup group;
      group.name = i + 1 == groups ? kDefaultGroup : "g" + std::to_string(i);
      group.manual = i + 1 < groups && Chance(30);
      if (Chance(30)) group.max_unavailable = Limit(1);
      strategy_.groups.push_back(std::move(group));
    }
  }
  void NewRevision() {
    update_ = ++last_revision_;
    bad_[update_] = Chance(35);
    Tell("revision " + std::to_string(update_) + (bad_[update_] ? " (bad)" : ""));
  }
  WallTime HealsAt(const SimulatedPool& pool) {
    if (pool.broken_hardware || bad_[pool.revision]) return WallTime::max();
    return now_ + seconds(Pick(0, 40));
  }

  void Disturb() {
    SimulatedPool& pool = pools_[Pick(0, pools_.size() - 1)];
    switch (Pick(0, 11)) {
      case 0:
        pool.offline = !pool.offline;
        Tell(pool.name + (pool.offline ? " goes offline" : " is back"));
        if (!pool.offline) pool.heals_at = HealsAt(pool);
        break;
      case 1:
        ++pool.wanted_inputs;
        Tell(pool.name + " gets a taint");
        break;
      case 2:
        pool.heals_at = HealsAt(pool);
        Tell(pool.name + " has a fit");
        break;
      case 3:
        paused_ = !paused_;
        Tell(paused_ ? "paused" : "resumed");
        break;
      case 4:
        NewRevision();
        break;
      case 5:
        if (current_ >= 0 && update_ != current_) {
          update_ = current_;
          failed_.erase(update_);
          Tell("undo");
        }
        break;
      case 6:
        NewStrategy();
        Tell("another strategy");
        break;
      case 7:
        Approve();
        break;
      case 8:
        pool.exists = false;
        Tell(pool.name + " loses its workload");
        break;
      default:
        Restart();
    }
  }
  void Approve() {
    for (const RolloutGroup& group : strategy_.groups) approved_.insert({update_, group.name});
    Tell("approved");
  }
  // What a new process knows: phases and times, as status lists them.
  void Restart() {
    Tell("restart");
    HealthRecord restored;
    for (const auto& [name, health] : record_) {
      Json entry = {{"name", name}, {"revision", health.revision}, {"lastTransitionTime", FormatTime(health.since)}};
      if (health.state == PoolHealth::State::kOffline) {
        entry["phase"] = "Offline";
      } else if (health.Soaked(strategy_.min_ready, now_)) {
        entry["phase"] = "Ready";
      } else if (health.state == PoolHealth::State::kHealthy) {
        entry["phase"] = "Soaking";
      } else if (health.Overdue(strategy_.progress_deadline, now_)) {
        entry["phase"] = "Failed";
        entry["reason"] = "ProgressDeadlineExceeded";
      } else {
        entry["phase"] = "Updating";
      }
      const HealthRecord one = RestoreHealth(Json{{"pools", Json::array({entry})}});
      restored.insert(one.begin(), one.end());
    }
    // It changes nothing.
    for (const auto& [name, health] : record_) {
      const PoolHealth& other = restored.at(name);
      EXPECT_EQ(other.Soaked(strategy_.min_ready, now_), health.Soaked(strategy_.min_ready, now_)) << name;
      EXPECT_EQ(other.Overdue(strategy_.progress_deadline, now_), health.Overdue(strategy_.progress_deadline, now_))
          << name;
    }
    record_ = std::move(restored);
  }

  bool Healthy(const SimulatedPool& pool) const { return pool.exists && !pool.offline && now_ >= pool.heals_at; }

  RolloutInput Input() {
    RolloutInput input{strategy_};
    const bool rolled_back = current_ >= 0 && current_ != update_ && failed_.contains(update_);
    goal_ = rolled_back ? current_ : update_;
    input.paused = paused_;
    input.rolled_back = rolled_back;
    input.back = goal_ == current_;
    input.can_roll_back = current_ >= 0;
    for (const auto& [revision, group] : approved_) {
      if (revision == update_) input.approved.insert(group);
    }
    for (const SimulatedPool& pool : pools_) {
      RolloutPool seen;
      seen.name = pool.name;
      seen.group = pool.group;
      seen.offline = pool.offline;
      seen.exists = pool.exists;
      PoolHealth::State state = Healthy(pool) ? PoolHealth::State::kHealthy : PoolHealth::State::kUnhealthy;
      if (pool.offline) state = PoolHealth::State::kOffline;
      const auto before = record_.find(pool.name);
      const PoolHealth health = Observe(before == record_.end() ? nullptr : &before->second, state,
                                        pool.exists ? std::to_string(pool.revision) : "", strategy_, now_);
      record_[pool.name] = health;
      if (pool.exists) {
        seen.moved_here = pool.revision == goal_;
        seen.pool_changed = pool.inputs != pool.wanted_inputs;
        seen.on_goal = seen.moved_here && !seen.pool_changed;
        seen.healthy = state == PoolHealth::State::kHealthy;
        seen.soaked = health.Soaked(strategy_.min_ready, now_);
        seen.overdue = health.Overdue(strategy_.progress_deadline, now_);
      }
      input.pools.push_back(seen);
    }
    return input;
  }

  static bool Disturbed(const RolloutPool& pool) { return !pool.offline && !(pool.healthy && pool.soaked); }
  bool Counts(const RolloutInput& input, const RolloutPool& pool) const {
    return Disturbed(pool) && (input.back || !(pool.overdue && pool.on_goal));
  }

  void Reconcile() {
    for (;;) {
      const RolloutInput input = Input();
      const RolloutDecision decision = DecideRollout(input);
      if (decision.roll_back) {
        EXPECT_FALSE(failed_.contains(update_)) << "marked again: a rollback loops";
        failed_.insert(update_);
        Tell("revision " + std::to_string(update_) + " has failed");
        continue;
      }
      Check(input, decision);
      Apply(input, decision);
      last_ = decision;
      return;
    }
  }

  void Check(const RolloutInput& input, const RolloutDecision& decision) {
    std::size_t online = 0, counted = 0, disturbs = 0, failed = 0, moves = 0;
    std::map<std::size_t, std::size_t> group_pools, group_counted, group_disturbs;
    for (std::size_t i = 0; i < input.pools.size(); ++i) {
      const RolloutPool& pool = input.pools[i];
      online += !pool.offline;
      ++group_pools[pool.group];
      counted += Counts(input, pool);
      group_counted[pool.group] += Counts(input, pool);
      failed += !input.back && !pool.offline && pool.overdue && pool.on_goal;
      if (decision.pools[i].step == Step::kNone) continue;
      EXPECT_TRUE(pool.exists && !pool.on_goal) << pool.name << " moves without need";
      if (!pool.offline && !Disturbed(pool)) {
        ++disturbs;
        ++group_disturbs[pool.group];
      }
      moves += decision.pools[i].step == Step::kMove && !pool.pool_changed;
    }
    const std::size_t limit = std::max<std::size_t>(strategy_.max_unavailable.Of(online), 1);
    if (disturbs > 0) {
      EXPECT_LE(counted + disturbs, limit) << "more than maxUnavailable pools are disturbed";
    }
    for (const auto& [group, number] : group_disturbs) {
      const auto& own = strategy_.groups[group].max_unavailable;
      if (own) {
        EXPECT_LE(group_counted[group] + number, std::max<std::size_t>(own->Of(group_pools[group]), 1));
      }
    }
    if (failed > strategy_.max_failures.Of(input.pools.size())) {
      EXPECT_EQ(moves, 0U) << "the budget is overrun";
    }
    if (input.paused) {
      EXPECT_EQ(disturbs + moves, 0U) << "paused";
    }
    if (input.back || input.paused) return;
    // Groups: nobody moves behind one that is not done; and the partition.
    std::size_t open = 0;
    for (std::size_t i = 0; i < input.pools.size(); ++i) {
      if (decision.pools[i].step == Step::kMove && !input.pools[i].pool_changed)
        open = std::max(open, input.pools[i].group);
    }
    for (const RolloutPool& pool : input.pools) {
      if (pool.group >= open || pool.offline || (pool.on_goal && (pool.overdue || !Disturbed(pool)))) continue;
      ADD_FAILURE() << "a later group moves before " << pool.name;
    }
  }

  void Apply(const RolloutInput& input, const RolloutDecision& decision) {
    for (std::size_t i = 0; i < pools_.size(); ++i) {
      SimulatedPool& pool = pools_[i];
      const RolloutDecision::Pool& decided = decision.pools[i];
      if (!input.pools[i].exists) {
        pool.exists = true;
        pool.revision = decided.make_from_goal || current_ < 0 ? goal_ : current_;
      } else if (decided.step != Step::kNone) {
        if (decided.step == Step::kMove) pool.revision = goal_;
        Tell(pool.name + " to " + std::to_string(pool.revision));
      } else {
        continue;
      }
      pool.inputs = pool.wanted_inputs;
      pool.heals_at = HealsAt(pool);
      record_[pool.name] = {pool.offline ? PoolHealth::State::kOffline : PoolHealth::State::kUnhealthy,
                            std::to_string(pool.revision), now_, Duration::zero(), std::nullopt};
    }
    // status.currentRevision, as BuildStatus finds it.
    if (input.rolled_back || strategy_.partition.Of(pools_.size()) > 0) return;
    for (const RolloutPool& pool : Input().pools) {
      if (!pool.on_goal || (!pool.offline && Disturbed(pool))) return;
    }
    if (current_ != goal_) Tell("current is " + std::to_string(goal_));
    current_ = goal_;
  }

  void Advance() {
    now_ += seconds(Pick(1, 25));
    for (SimulatedPool& pool : pools_) {
      if (!pool.offline && Healthy(pool) && Chance(2)) pool.heals_at = HealsAt(pool);
    }
  }

  // Nothing happens any more but time: within a bound the rollout ends, or says what it waits for.
  void ComeToRest() {
    Tell("rest");
    const int rounds = static_cast<int>(pools_.size()) * 30 + 60;
    for (int i = 0; i < rounds && !::testing::Test::HasFailure(); ++i) {
      Reconcile();
      now_ += seconds(5);
    }
    int moved_late = 0;
    const RolloutInput input = Input();
    const RolloutDecision decision = DecideRollout(input);
    for (const auto& pool : decision.pools) moved_late += pool.step != Step::kNone;
    EXPECT_EQ(moved_late, 0) << "it never ends";
    for (const RolloutPool& pool : input.pools) {
      story_ << pool.name << ": group " << pool.group << (pool.offline ? " offline" : "")
             << (pool.on_goal ? " on the goal" : "") << (pool.moved_here ? " moved" : "")
             << (pool.pool_changed ? " changed" : "") << (pool.healthy ? " healthy" : "")
             << (pool.soaked ? " soaked" : "") << (pool.overdue ? " overdue" : "") << "\n";
    }
    switch (decision.state) {
      case RolloutState::kComplete:
        for (std::size_t i = 0; i < input.pools.size(); ++i) {
          const RolloutPool& pool = input.pools[i];
          EXPECT_TRUE(pool.on_goal || decision.pools[i].held || pool.offline || decision.pools[i].waits) << pool.name;
        }
        break;
      case RolloutState::kMoving:
        // It waits for pools of which it can name one; none of them is offline.
        EXPECT_FALSE(decision.waiting.empty());
        for (const std::string_view name : decision.waiting) {
          const auto pool = std::find_if(pools_.begin(), pools_.end(), [&](const auto& p) { return p.name == name; });
          EXPECT_FALSE(pool->offline) << name;
          EXPECT_FALSE(Healthy(*pool) && input.pools[static_cast<std::size_t>(pool - pools_.begin())].soaked &&
                       pool->revision == goal_)
              << name;
        }
        break;
      case RolloutState::kWaitingForApproval:
        EXPECT_TRUE(strategy_.groups[decision.group].manual);
        break;
      case RolloutState::kBudgetExceeded:
        EXPECT_GT(decision.failed, decision.failures_allowed);
        break;
      case RolloutState::kPaused:
        EXPECT_TRUE(paused_);
        break;
    }
    ++ends()[decision.state];
  }

 public:
  static std::map<RolloutState, int>& ends() {
    static std::map<RolloutState, int> count;
    return count;
  }

 private:
  std::mt19937 random_;
  std::ostringstream story_;
  WallTime now_ = WallTime{} + seconds(1'000'000);
  RollingUpdate strategy_;
  std::vector<SimulatedPool> pools_;
  std::map<int, bool> bad_;
  std::set<int> failed_;
  std::set<std::pair<int, std::string>> approved_;
  HealthRecord record_;
  RolloutDecision last_;
  bool paused_ = false;
  int last_revision_ = 0, update_ = 0, current_ = 0, goal_ = 0;
};

TEST(RolloutSimulatorTest, RandomRolloutsKeepTheirLimitsAndEndOrSayWhatTheyWaitFor) {
  const testing::SeedRange seeds = testing::SeedsToRun({1, testing::RunsEverything() ? 100'000U : 2'000U});
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    Simulation simulation(seed);
    simulation.Run();
    if (::testing::Test::HasFailure()) {
      FAIL() << "seed " << seed << "; once more: YAD_SEED=" << seed << "\n" << simulation.story();
    }
  }
  std::ostringstream ends;
  for (const auto& [state, count] : Simulation::ends()) ends << " " << static_cast<int>(state) << ":" << count;
  RecordProperty("ends", ends.str());
  // None of the ways to end is left out.
  if (seeds.last - seeds.first > 1000) {
    EXPECT_EQ(Simulation::ends().size(), 5U) << ends.str();
  }
}

}  // namespace
}  // namespace yad
