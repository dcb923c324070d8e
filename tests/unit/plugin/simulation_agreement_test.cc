// kubectl yad simulate: comparison of simulations with rollouts by the real reconciler.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "plugin/commands/cluster_snapshot.h"
#include "plugin/commands/simulation.h"
#include "tests/unit/plugin/discovery.h"
#include "tests/unit/yurtappdaemon/world.h"

namespace yad {
namespace {

using namespace testing;  // NOLINT: the builders

using std::chrono::minutes;

// Under sanitizers, a fifth of the rollouts is run. model_test also runs this file, optimized and with all rollouts.
#ifdef NDEBUG
constexpr std::uint64_t kSeeds = 20;
#else
constexpr std::uint64_t kSeeds = 4;
#endif

// Returns the events of the pool: "updated TIME back TIME " (then rolled back), "updated TIME failed", or "" (no
// events).
std::string Story(const SimulatedPool& pool) {
  std::string story;
  if (pool.starts) story += "updated " + FormatTime(*pool.starts) + " ";
  if (pool.goes_back) story += "back " + FormatTime(*pool.goes_back) + " ";
  if (pool.failed_at && !pool.goes_back) story += "failed";
  return story;
}

// A rollout by the real reconciler in a cluster in memory.
class RealRollout {
 public:
  explicit RealRollout(std::uint64_t seed) : random_(seed) {
    if (Chance(40)) world_.kind = WorkloadKind::kStatefulSet;
    Json daemon = DaemonJson("app:0", world_.kind);
    world_.AddPools({"a", "b", "c", "d", "e", "f", "g"});
    daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}, {"rollingUpdate", {{"maxUnavailable", 7}}}};
    world_.CreateDaemon(daemon);
    world_.Converge();
    failing_ = Chance(40);
    for (const char* pool : {"a", "b", "c", "d", "e", "f", "g"}) {
      world_.cluster.Edit(kNodePoolType, {"", pool}, [this](Json& object) {
        if (Chance(15)) object["status"] = {{"readyNodeNum", 0}};
        if (Chance(15)) object["metadata"]["annotations"]["apps.openyurt.io/hold"] = "x";
        if (Chance(15)) object["metadata"]["annotations"]["apps.openyurt.io/update-windows"] = kOwnWindow;
      });
    }
    world_.Reconcile();
    world_.EditDaemon([this](Json& object) { object["spec"]["updateStrategy"]["rollingUpdate"] = Strategy(); });
    world_.SetImage("app:1");
    ServeWithDiscovery(world_.cluster, *transport_);
  }

  Simulation Simulated() {
    Client client(transport_, {});
    SimulationOptions options;
    options.failing = failing_;
    ClusterReader objects(client);
    return Simulate(*ReadRolloutSnapshot(objects, world_.Daemon(), world_.clock.WallNow()), options);
  }

  // Runs the rollout until `end`. Returns the events of each pool, in the format of Story().
  std::map<std::string, std::string> RunUntil(WallTime end) {
    Approve();
    while (world_.clock.WallNow() < end) {
      const auto result = world_.Reconcile();
      EXPECT_TRUE(result) << result.error().message;
      if (!result) break;
      Watch();
      if (result->next == ReconcileResult::Next::kNow) continue;
      Duration wait = std::chrono::minutes(10);
      if (result->next == ReconcileResult::Next::kAfter) wait = std::min(wait, result->after);
      for (const auto& [pool, heals] : heals_at_) wait = std::min<Duration>(wait, heals - world_.clock.WallNow());
      world_.clock.Advance(wait);
      Heal();
    }
    const Json daemon = world_.Daemon();
    for (const Json& pool : daemon["status"]["pools"]) {
      if (pool["phase"] == "Failed") stories_[pool["name"]] += "failed";
    }
    return stories_;
  }
  std::string strategy() { return world_.Daemon()["spec"]["updateStrategy"].dump() + (failing_ ? " failing" : ""); }

 private:
  // The windows open twice a day, so that the reconciler does not diagnose an unhealthy pool each minute for a whole
  // day.
  static constexpr char kOwnWindow[] =
      R"([{"start": "03:30", "duration": "10m"}, {"start": "04:00", "duration": "10m"}])";
  static constexpr char kWindows[] = R"([{"start": "03:08", "duration": "5m"}, {"start": "03:38", "duration": "5m"}])";

  bool Chance(int percent) { return std::uniform_int_distribution<int>(1, 100)(random_) <= percent; }
  int Pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  Json Strategy() {
    Json rolling = {{"maxUnavailable", Pick(1, 3)},
                    {"maxFailures", Pick(0, 2)},
                    {"minReadySeconds", 10 * Pick(0, 3)},
                    {"progressDeadlineSeconds", 60 * Pick(3, 8)},
                    {"onFailure", Chance(50) ? "Rollback" : "Pause"}};
    if (Chance(20)) rolling["partition"] = Pick(1, 3);
    if (Chance(40)) rolling["windows"] = Json::parse(kWindows);
    if (Chance(70)) rolling["groups"] = R"([{"name": "first", "pools": ["d"]}])"_json;
    if (Chance(40)) rolling["groups"].push_back(R"({"name": "n", "pools": ["b", "f"], "approval": "Manual"})"_json);
    return rolling;
  }
  // Approves group "n" in advance. Otherwise, times would differ by up to a second, because status reports late that
  // the group waits.
  void Approve() {
    Client client(transport_, {});
    ClusterReader objects(client);
    const auto snapshot = ReadRolloutSnapshot(objects, world_.Daemon(), world_.clock.WallNow());
    world_.EditDaemon([&](Json& daemon) {
      daemon["metadata"]["annotations"]["apps.openyurt.io/approve"] = snapshot->update->name + "/n";
    });
  }
  // Records the updates and rollbacks that happened since the last call.
  void Watch() {
    for (const Json& workload : world_.Workloads()) {
      const std::string pool = StringAt(workload, {"metadata", "labels", kPoolNameLabel});
      const std::string image = ImageOf(workload);
      std::string& known = images_.emplace(pool, "app:0").first->second;
      if (image == known) continue;
      known = image;
      stories_[pool] += (image == "app:1" ? "updated " : "back ") + FormatTime(world_.clock.WallNow()) + " ";
      heals_at_.erase(pool);
      if (image == "app:0" || !failing_) heals_at_[pool] = world_.clock.WallNow() + minutes(2);
    }
  }
  void Heal() {
    for (auto heal = heals_at_.begin(); heal != heals_at_.end();) {
      if (heal->second > world_.clock.WallNow()) {
        ++heal;
        continue;
      }
      world_.EditWorkload(heal->first, [](Json& workload) { workload["status"] = HealthyStatus(workload); });
      heal = heals_at_.erase(heal);
    }
  }

  std::mt19937_64 random_;
  World world_;
  const std::shared_ptr<FakeTransport> transport_ = std::make_shared<FakeTransport>();
  bool failing_ = false;
  std::map<std::string, std::string> images_;   // by pool
  std::map<std::string, std::string> stories_;  // by pool
  std::map<std::string, WallTime> heals_at_;
};

TEST(SimulationAgreementTest, RolloutsMatchTheirSimulation) {
  std::map<std::string, int> count;  // how often each word occurs in the stories
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    RealRollout rollout(seed);
    const Simulation simulation = rollout.Simulated();
    std::map<std::string, std::string> simulated;
    for (const SimulatedPool& pool : simulation.pools) {
      if (const std::string story = Story(pool); !story.empty()) simulated.emplace(pool.name, story);
    }
    const auto real = rollout.RunUntil(simulation.to + minutes(3));
    EXPECT_EQ(simulated, real) << "seed " << seed << ": " << rollout.strategy();
    for (const auto& [pool, story] : real) {
      for (const char* word : {"updated", "back", "failed"}) count[word] += story.find(word) != std::string::npos;
    }
  }
  if (kSeeds < 20) return;
  EXPECT_GT(count["updated"], 40) << "the simulated rollouts update too few pools";
  EXPECT_GT(count["back"], 0);
  EXPECT_GT(count["failed"], 0);
}

}  // namespace
}  // namespace yad
