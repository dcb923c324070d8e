// Simulates thousands of random rollouts on a fake clock, with the operator's own code. At random:
// - Pools become healthy, fail, are checked, go offline and change. Update windows and freezes begin and end.
// - Users change templates and strategies, pause, approve and roll back. The operator restarts.
// The limits must always hold. When no more changes happen, the rollout must end, or report its reason to wait.
// YAD_SEEDS=a-b runs these seeds. YAD_SEED=n runs one seed and prints its steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

#include "operator/yurtappdaemon/observe/pool_health.h"
#include "operator/yurtappdaemon/rollout/percent_groups.h"
#include "operator/yurtappdaemon/rollout/rollout.h"
#include "tests/model/rollout_limits.h"
#include "tests/model/simulated_pool.h"
#include "tests/support/test_run.h"

namespace yad {
namespace {

using std::chrono::seconds;
using testing::RolloutLimits;
using testing::SimulatedPool;
using testing::StatusOfHealth;

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
  void Log(const std::string& what) { story_ << (now_ - WallTime{}) / seconds(1) << "s " << what << "\n"; }

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
    if (Chance(40)) strategy_.checks.resize(1);
    for (std::size_t i = 0; i < groups; ++i) {
      RolloutGroup group;
      group.name = i + 1 == groups ? kDefaultGroup : "g" + std::to_string(i);
      group.manual = i + 1 < groups && Chance(30);
      if (i + 1 < groups && Chance(30)) group.percent = static_cast<int>(Pick(1, 100));
      if (Chance(30)) group.max_unavailable = Limit(1);
      if (Chance(20)) group.max_failures = Limit(0);
      strategy_.groups.push_back(std::move(group));
    }
  }
  void NewRevision() {
    update_ = ++last_revision_;
    bad_[update_] = Chance(35);
    fails_checks_[update_] = Chance(25);
    cuts_off_[update_] = Chance(15);
    // Some revisions change only an override for pools with odd names.
    alike_[update_] = Chance(25) ? last_revision_ - 1 : -1;
    if (alike_[update_] >= 0) {
      bad_[update_] = bad_[last_revision_ - 1];
      cuts_off_[update_] = cuts_off_[last_revision_ - 1];
      fails_checks_[update_] = fails_checks_[last_revision_ - 1];
    }
    Log("revision " + std::to_string(update_) + (bad_[update_] ? " (bad)" : "") +
        (cuts_off_[update_] ? " (cuts its site off)" : "") +
        (alike_[update_] >= 0 ? " (alike for pools with even names)" : ""));
  }
  // Returns true if the pool's workload is the same in both revisions.
  bool Alike(const SimulatedPool& pool, int a, int b) {
    const bool may_be_alike = pool.name[0] % 2 == 0;
    while (a != b) {
      int& newer = a > b ? a : b;
      if (!may_be_alike || newer < 0 || alike_[newer] < 0) return false;
      newer = alike_[newer];
    }
    return true;
  }
  WallTime HealsAt(const SimulatedPool& pool) {
    if (pool.broken_hardware || bad_[pool.revision]) return WallTime::max();
    return now_ + seconds(Pick(0, 40));
  }

  void Disturb() {
    SimulatedPool& pool = pools_[Pick(0, pools_.size() - 1)];
    switch (Pick(0, 14)) {
      case 0:
        pool.offline = !pool.offline;
        pool.cut_off = false;
        Log(pool.name + (pool.offline ? " goes offline" : " is back"));
        if (!pool.offline) pool.heals_at = HealsAt(pool);
        break;
      case 1:
        ++pool.wanted_inputs;
        Log(pool.name + " gets a taint");
        break;
      case 2:
        pool.heals_at = HealsAt(pool);
        Log(pool.name + " has a fit");
        break;
      case 3:
        paused_ = !paused_;
        Log(paused_ ? "paused" : "resumed");
        break;
      case 4:
        NewRevision();
        break;
      case 5:
        if (current_ >= 0 && update_ != current_) {
          update_ = current_;
          failed_.erase(update_);
          Log("undo");
        }
        break;
      case 6:
        NewStrategy();
        Log("another strategy");
        break;
      case 7:
        Approve();
        break;
      case 9:
        pool.held = !pool.held;
        Log(pool.name + (pool.held ? " is held" : " is released"));
        break;
      case 10:
        pool.opens_at = Chance(20) ? WallTime::max() : now_ + seconds(Pick(0, 200));
        Log(pool.name + " is outside its window");
        break;
      case 11:
        thaws_at_ = Chance(20) ? WallTime::max() : now_ + seconds(Pick(0, 200));
        Log("frozen");
        break;
      case 8:
        pool.exists = false;
        Log(pool.name + " loses its workload");
        break;
      default:
        Restart();
    }
  }
  void Approve() {
    for (const RolloutGroup& group : strategy_.groups) approved_.insert({update_, group.name});
    Log("approved");
  }
  // Restores phases and times from status, as a new process does.
  void Restart() {
    Log("restart");
    HealthRecord restored;
    for (const auto& [name, health] : record_) {
      const Json status = StatusOfHealth(name, health, strategy_, now_);
      const HealthRecord one = RestoreHealth(StatusView(status));
      restored.insert(one.begin(), one.end());
    }
    for (const auto& [name, health] : record_) {
      const PoolHealth& other = restored.at(name);
      const bool check_failed = health.check && !health.check->failure.empty();
      if (!check_failed) {
        EXPECT_EQ(other.state, health.state) << name;
      }
      if (health.state != PoolHealth::State::kOffline) {
        EXPECT_EQ(other.soaked, health.soaked) << name;
        EXPECT_EQ(other.verified, health.verified) << name;
      }
      EXPECT_EQ(other.check, health.check) << name;
      if (health.unhealthy_before == Duration::zero() && !health.deadline_paused) continue;  // status has at least 1 s
      EXPECT_EQ(other.Overdue(strategy_.progress_deadline, now_), health.Overdue(strategy_.progress_deadline, now_))
          << name;
    }
    record_ = std::move(restored);
  }

  bool Healthy(const SimulatedPool& pool) const { return pool.exists && !pool.offline && now_ >= pool.heals_at; }

  RolloutInput Input() {
    RolloutInput input{strategy_};
    const bool rolled_back = current_ >= 0 && current_ != update_ && failed_.contains(update_);
    target_ = rolled_back ? current_ : update_;
    input.paused = paused_;
    input.frozen = now_ < thaws_at_;
    input.revision_failed = rolled_back;
    input.target_is_current = target_ == current_;
    input.has_current = current_ >= 0;
    for (const auto& [revision, group] : approved_) {
      if (revision == update_) input.approved.insert(group);
    }
    for (const SimulatedPool& pool : pools_) input.pools.push_back(Seen(pool, input.target_is_current));
    const PoolGroups groups = Groups();
    for (std::size_t i = 0; i < pools_.size(); ++i) input.pools[i].group = groups.of_pool[i];
    return input;
  }

  PoolGroups Groups() const {
    RollingUpdate strategy = strategy_;
    std::vector<NodePool> pools(pools_.size());
    std::vector<const NodePool*> all;
    for (std::size_t i = 0; i < pools_.size(); ++i) {
      pools[i].name = pools_[i].name;
      strategy.groups[pools_[i].group].pools.insert(pools_[i].name);
      all.push_back(&pools[i]);
    }
    return AssignGroups(strategy, all, std::to_string(update_), "");
  }

  RolloutPool Seen(const SimulatedPool& pool, bool back) {
    RolloutPool seen;
    seen.name = pool.name;
    seen.offline = pool.offline;
    seen.exists = pool.exists;
    seen.held = pool.held;
    seen.outside_window = now_ < pool.opens_at;
    const auto before = record_.find(pool.name);
    const PoolObservation observed{pool.offline, Healthy(pool), pool.exists && pool.updated_online,
                                   pool.exists ? std::to_string(pool.revision) : "", 1};
    const PoolHealth health = Observe(before == record_.end() ? nullptr : &before->second, observed, strategy_, now_);
    record_[pool.name] = health;
    seen.overdue = health.Overdue(strategy_.progress_deadline, now_);
    seen.offline_since = health.since;
    if (!pool.exists) return seen;
    seen.label_names_target = pool.revision == target_;
    seen.pool_changed = pool.inputs != pool.wanted_inputs;
    seen.on_target = !seen.pool_changed && Alike(pool, pool.revision, target_);
    seen.healthy = health.state == PoolHealth::State::kHealthy;
    seen.been_healthy = health.been_healthy;
    seen.soaked = health.soaked;
    if (back) {
      seen.updated = seen.label_names_target && !health.soaked;
    } else {
      const bool like_current = current_ >= 0 && Alike(pool, pool.revision, current_);
      seen.updated = seen.label_names_target ? !like_current : seen.on_target && current_ >= 0 && !like_current;
    }
    seen.joining = pool.joining && (seen.updated || back);
    seen.offline_after_update = !back && seen.updated && health.state == PoolHealth::State::kOfflineAfterUpdate;
    seen.updated_at = std::min(pool.updated_at, health.since);
    Verify(pool, back, seen);
    return seen;
  }

  // Checks the pool, as RolloutPoolBuilder::Verify does.
  void Verify(const SimulatedPool& pool, bool back, RolloutPool& seen) {
    PoolHealth& health = record_[pool.name];
    const bool follows = back ? health.check.has_value() : seen.updated;
    const bool on_target = seen.on_target || seen.label_names_target;
    const std::string failure = health.check ? health.check->failure : "";
    const bool leaves = !on_target && (health.check || (current_ >= 0 && pool.revision != current_));
    if (!strategy_.checks.empty() && leaves && !pool.created && !pool.joining) {
      if (health.soaked && !health.verified) health.check = CheckProgress{"c", {}, 0, failure};
      return;
    }
    if (!on_target || !follows || pool.created || pool.joining || strategy_.checks.empty()) {
      if (health.soaked) {
        health.verified = true;
        health.check.reset();
      }
      return;
    }
    if (health.soaked && !health.verified && !pool.offline) {
      if (!health.check || health.check->since == WallTime()) health.check = CheckProgress{"c", now_, 0, failure};
      if (now_ >= health.check->since + pool.check_takes) {
        if (fails_checks_[pool.revision]) {
          health.check->failure = "failed";
        } else {
          health.verified = true;
          health.check.reset();
        }
      }
    }
    if (back) return;
    seen.verified = health.verified;
    seen.check_failed = health.check && !health.check->failure.empty();
  }

  void Reconcile() {
    for (;;) {
      const RolloutInput input = Input();
      const RolloutDecision decision = DecideRollout(input);
      if (decision.roll_back) {
        EXPECT_FALSE(failed_.contains(update_)) << "the revision is marked as failed twice, so the rollback loops";
        failed_.insert(update_);
        Log("revision " + std::to_string(update_) + " has failed");
        continue;
      }
      RolloutLimits(input).Check(decision);
      Apply(input, decision);
      last_ = decision;
      return;
    }
  }

  void Apply(const RolloutInput& input, const RolloutDecision& decision) {
    for (std::size_t i = 0; i < pools_.size(); ++i) {
      SimulatedPool& pool = pools_[i];
      const RolloutDecision::Pool& decided = decision.pools[i];
      if (decision.outage() && input.pools[i].offline_after_update) record_[pool.name].deadline_paused = true;
      if (!input.pools[i].exists) {
        pool.exists = true;
        pool.revision = decided.make_from_target || current_ < 0 ? target_ : current_;
        pool.created = true;
        pool.joining = Chance(50);
      } else if (decided.step != Step::kNone) {
        if (decided.step == Step::kUpdate && pool.revision != target_) pool.joining = pool.created = false;
        if (decided.step == Step::kUpdate) pool.revision = target_;
        Log(pool.name + " to " + std::to_string(pool.revision));
      } else {
        continue;
      }
      pool.updated_online = !pool.offline;
      pool.updated_at = now_;
      pool.check_takes = seconds(Pick(0, 60));
      pool.inputs = pool.wanted_inputs;
      pool.heals_at = HealsAt(pool);
      pool.goes_dark_at = cuts_off_[pool.revision] && !pool.offline ? now_ + seconds(Pick(1, 20)) : WallTime::max();
      PoolHealth& health = record_[pool.name] = {};
      health.state = pool.offline ? PoolHealth::State::kOffline : PoolHealth::State::kUnhealthy;
      health.revision = std::to_string(pool.revision);
      health.since = now_;
      was_healthy_[pool.name] = input.pools[i].healthy;
    }
    // Updates the current revision as BuildStatus does.
    if (input.revision_failed || strategy_.partition.Of(pools_.size()) > 0) return;
    for (const RolloutPool& pool : Input().pools) {
      const bool through =
          pool.offline ? !pool.offline_after_update : (pool.soaked && pool.verified) || (pool.healthy && !pool.updated);
      if (!pool.on_target || !through) return;
    }
    if (current_ != target_) Log("current is " + std::to_string(target_));
    current_ = target_;
  }

  void Advance() {
    now_ += seconds(Pick(1, 25));
    CutOff();
    for (SimulatedPool& pool : pools_) {
      if (!pool.offline && Healthy(pool) && Chance(2)) pool.heals_at = HealsAt(pool);
    }
  }

  void CutOff() {
    for (SimulatedPool& pool : pools_) {
      if (now_ < pool.goes_dark_at) continue;
      pool.goes_dark_at = WallTime::max();
      if (!pool.offline) Log(pool.name + " is cut off by its revision");
      pool.offline = pool.cut_off = true;
    }
  }

  // Lets only time pass. Checks that the rollout soon ends, or reports its reason to wait.
  void ComeToRest() {
    Log("rest");
    const int rounds = static_cast<int>(pools_.size()) * 30 + 60;
    for (int i = 0; i < rounds && !::testing::Test::HasFailure(); ++i) {
      Reconcile();
      now_ += seconds(5);
      CutOff();
    }
    int moved_late = 0;
    const RolloutInput input = Input();
    const RolloutDecision decision = DecideRollout(input);
    for (const auto& pool : decision.pools) moved_late += pool.step != Step::kNone;
    EXPECT_EQ(moved_late, 0) << "the rollout does not end";
    for (const RolloutPool& pool : input.pools) {
      story_ << pool.name << ": group " << pool.group << (pool.offline ? " offline" : "")
             << (pool.on_target ? " on the target" : "") << (pool.updated ? " updated" : "")
             << (pool.label_names_target ? " labelled" : "") << (pool.joining ? " joining" : "")
             << (pool.offline_after_update ? " offline after its update" : "")
             << (pool.outside_window ? " outside its window" : "") << (pool.pool_changed ? " changed" : "")
             << (pool.healthy ? " healthy" : "") << (pool.soaked ? " soaked" : "")
             << (pool.verified ? "" : " not verified") << (pool.check_failed ? " failed a check" : "")
             << (pool.overdue ? " overdue" : "") << "\n";
    }
    CheckEnd(input, decision);
    ++ends()[decision.state];
  }

  // Checks that an ended rollout is complete, and that a reported reason to wait is true.
  void CheckEnd(const RolloutInput& input, const RolloutDecision& decision) const {
    switch (decision.state) {
      case RolloutState::kComplete:
        for (std::size_t i = 0; i < input.pools.size(); ++i) {
          const RolloutPool& pool = input.pools[i];
          EXPECT_TRUE(pool.on_target || decision.pools[i].waits_for_user || pool.offline || decision.pools[i].waits)
              << pool.name;
        }
        break;
      case RolloutState::kProgressing:
        EXPECT_FALSE(decision.waiting.empty());
        for (const std::string_view name : decision.waiting) {
          const auto pool = std::find_if(pools_.begin(), pools_.end(), [&](const auto& p) { return p.name == name; });
          const RolloutPool& seen = input.pools[static_cast<std::size_t>(pool - pools_.begin())];
          EXPECT_FALSE(pool->held && !seen.on_target) << name;
          EXPECT_TRUE(!pool->offline || seen.offline_after_update) << name;
          const bool done = Healthy(*pool) && seen.soaked && seen.verified && pool->revision == target_;
          EXPECT_FALSE(done && !pool->offline) << name;
        }
        break;
      case RolloutState::kWaitingForApproval:
        EXPECT_TRUE(strategy_.groups[decision.group].manual);
        break;
      case RolloutState::kWaitingForWindow:
        EXPECT_FALSE(input.frozen);
        EXPECT_GT(decision.delayed, 0U);
        EXPECT_TRUE(std::any_of(input.pools.begin(), input.pools.end(),
                                [](const RolloutPool& pool) { return pool.outside_window && !pool.on_target; }));
        break;
      case RolloutState::kFrozen:
        EXPECT_TRUE(input.frozen);
        EXPECT_GT(decision.delayed, 0U);
        break;
      case RolloutState::kBudgetExceeded:
        EXPECT_TRUE(decision.failed > decision.failures_allowed || decision.failed_group);
        break;
      case RolloutState::kOutage:
        EXPECT_TRUE(RolloutLimits(input).IsOutage());
        break;
      case RolloutState::kPaused:
        EXPECT_TRUE(paused_);
        break;
    }
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
  std::map<int, bool> bad_, cuts_off_, fails_checks_;
  std::map<int, int> alike_;
  std::map<std::string, bool> was_healthy_;
  std::set<int> failed_;
  std::set<std::pair<int, std::string>> approved_;
  HealthRecord record_;
  RolloutDecision last_;
  bool paused_ = false;
  WallTime thaws_at_ = {};  // the end of the freeze
  int last_revision_ = 0, update_ = 0, current_ = 0, target_ = 0;
};

TEST(RolloutSimulatorTest, RandomRolloutsKeepTheirLimitsAndEndOrReportWhyTheyWait) {
  const testing::SeedRange seeds = testing::SeedsToRun({1, testing::RunsEverything() ? 100'000U : 2'000U});
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    Simulation simulation(seed);
    simulation.Run();
    if (::testing::Test::HasFailure()) {
      FAIL() << "seed " << seed << "; repeat with YAD_SEED=" << seed << "\n" << simulation.story();
    }
  }
  std::ostringstream ends;
  for (const auto& [state, count] : Simulation::ends()) ends << " " << static_cast<int>(state) << ":" << count;
  RecordProperty("ends", ends.str());
  // A large run contains every way to end.
  if (seeds.last - seeds.first > 1000) {
    EXPECT_EQ(Simulation::ends().size(), 8U) << ends.str();
  }
}

}  // namespace
}  // namespace yad
