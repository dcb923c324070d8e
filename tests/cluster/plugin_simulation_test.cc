// Compares the results of kubectl yad simulate with the operator's rollouts.
#include <random>
#include <set>

#include "tests/cluster/plugin_fixture.h"

namespace yad::testing {
namespace {

// The steps of a rollout as a string, by pool.
using Stories = std::map<std::string, std::string>;

// Rolls out random daemons that share six pools. Each pool has a node, and one pool is held by its site.
class PluginSimulationTest : public PluginTest {
 protected:
  static constexpr int kDaemons = 10;

  void StartPools() {
    StartOperator();
    for (const char* pool : {"a", "b", "c", "d", "e", "f"}) AddNode(AddPool(pool));
    YadOut({"hold", Pool("e"), "--reason", "stocktaking"});
  }
  // Creates a daemon with app:1. Returns its next spec, with app:2 and a random strategy.
  Json NextSpec(const std::string& name, bool failing) {
    Json daemon = Daemon(name, 1);
    daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}};
    CreateDaemon(daemon);
    Json rolling = {{"maxUnavailable", Pick(1, 3)},
                    {"maxFailures", Pick(0, 2)},
                    {"minReadySeconds", Pick(0, 2)},
                    {"progressDeadlineSeconds", failing ? 5 : 600},
                    {"onFailure", Chance(50) ? "Rollback" : "Pause"},
                    {"groups", Json::array()}};
    if (Chance(20)) rolling["partition"] = Pick(1, 3);
    if (Chance(70)) rolling["groups"].push_back({{"name", "first"}, {"pools", {Pool("d")}}});
    if (Chance(40))
      rolling["groups"].push_back({{"name", "north"}, {"pools", {Pool("b"), Pool("f")}}, {"approval", "Manual"}});
    daemon["spec"]["updateStrategy"]["rollingUpdate"] = rolling;
    SetImageIn(daemon, "example.org/app:2");
    // The new pod does not match any node.
    if (failing) {
      daemon["spec"]["workloadTemplate"][TemplateField(kind())]["spec"]["template"]["spec"]["nodeSelector"] = {
          {"no-such", "node"}};
    }
    return daemon["spec"];
  }
  // Returns the output of `simulate` for the daemon with this spec.
  Json Simulate(const std::string& name, const Json& spec, bool failing) {
    Json manifest = GetDaemon(name);
    manifest.erase("status");
    manifest["metadata"] = {{"name", name}, {"namespace", ns()}};
    manifest["spec"] = spec;
    std::vector<std::string> arguments{"simulate", "-f", "-", "-o", "json", "--duration=1s"};
    if (failing) arguments.emplace_back("--failing");
    return Json::parse(YadOut(arguments, kDone, manifest.dump()));
  }
  static Stories StoriesOf(const Json& simulation) {
    static const std::map<std::string, std::string> kStories{
        {"Updated", "updated"}, {"Failed", "updated failed"}, {"RolledBack", "updated back"}, {"Unchanged", ""}};
    Stories stories;
    for (const Json& pool : simulation["pools"]) {
      const std::string result = pool["result"];
      const auto story = kStories.find(result);
      stories[pool["name"]] = story == kStories.end() ? result : story->second;
    }
    return stories;
  }
  // Starts the rollout, and approves its groups.
  void Roll(const std::string& name, const Json& spec) {
    kube().Edit(kYurtAppDaemonType, name, [&](Json& daemon) { daemon["spec"] = spec; });
    const std::string revision = StringAt(WaitUntilObserved(name), {"status", "updateRevision"});
    kube().MergePatch(kYurtAppDaemonType, name,
                      {{"metadata", {{"annotations", {{kApproveAnnotation, revision + "/north"}}}}}});
  }
  // Returns the times at which the operator updated the daemon's workloads after `since`, by pool.
  std::map<std::string, std::vector<std::string>> UpdatesOf(const std::string& name, WallTime since) {
    std::map<std::string, std::string> pools;  // by workload
    for (const auto& [pool, workload] : ByPool(name)) pools[NameOf(workload)] = pool;
    std::map<std::string, std::vector<std::string>> updates;
    for (const AuditedRequest& write : WritesSince(since)) {
      const auto pool = pools.find(write.name);
      const bool updates_it = (write.verb == "update" || write.verb == "patch") && write.resource == type().resource &&
                              write.subresource.empty() && write.code == 200;
      if (updates_it && pool != pools.end()) updates[pool->second].push_back(write.received);
    }
    return updates;
  }
  // Expects that the operator updated the pools in the order of the simulation.
  void ExpectOrder(const std::string& name, const Json& simulation, WallTime since) {
    const auto updates = UpdatesOf(name, since);
    for (const Json& a : simulation["pools"]) {
      for (const Json& b : simulation["pools"]) {
        if (StringAt(a, {"starts"}) >= StringAt(b, {"starts"}) || !a.contains("starts")) continue;
        EXPECT_LT(updates.at(a["name"]).front(), updates.at(b["name"]).front()) << name << ": " << a << b;
      }
    }
  }
  Stories RealStories(const std::string& name, WallTime since) {
    auto updates = UpdatesOf(name, since);
    const Json daemon = GetDaemon(name);
    Stories stories;
    for (const Json& pool : daemon["status"]["pools"]) {
      const std::string waiting = StringAt(pool, {"waitingFor"});
      std::string story = waiting.empty() ? "" : "WaitingFor" + waiting;
      const std::size_t count = updates[pool["name"]].size();
      if (count > 0) story = "updated";
      if (count > 1) story += " back";
      if (count > 2) story += " and more";
      if (pool["phase"] == "Failed") story += " failed";
      stories[pool["name"]] = story;
    }
    return stories;
  }
  bool Chance(int percent) { return Pick(1, 100) <= percent; }
  int Pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  std::mt19937_64 random_{static_cast<std::uint64_t>(kind()) + 1};
};
INSTANTIATE_ONE_KIND(PluginSimulationTest, WorkloadKind::kDeployment);

TEST_P(PluginSimulationTest, RolloutsOfRandomDaemonsMatchTheirSimulations) {
  struct Case {
    bool failing = false;
    Json spec, simulation;
    Stories wanted;
  };
  StartPools();
  std::map<std::string, Case> cases;  // by the name of the daemon
  for (int i = 0; i < kDaemons; ++i) {
    Case& one = cases["web-" + std::to_string(i)];
    one.failing = Chance(50);
    one.spec = NextSpec("web-" + std::to_string(i), one.failing);
  }
  for (auto& [name, one] : cases) {
    WaitUntilReady(name);
    one.simulation = Simulate(name, one.spec, one.failing);
    one.wanted = StoriesOf(one.simulation);
  }
  const WallTime since = Now();
  for (const auto& [name, one] : cases) Roll(name, one.spec);
  std::set<std::string> kinds;
  // A pool that is slow to recover after its rollback is Failed for a while.
  const auto expect_stories = [&] {
    for (const auto& [name, one] : cases) {
      Eventually(name + " has made the updates of its simulation", [&] {
        const Stories real = RealStories(name, since);
        return real == one.wanted ? std::string()
                                  : ::testing::PrintToString(real) + " instead of " +
                                        ::testing::PrintToString(one.wanted) + ": " + one.spec["updateStrategy"].dump();
      });
    }
  };
  expect_stories();
  Barrier();
  expect_stories();  // the operator has made no other writes
  for (const auto& [name, one] : cases) {
    ExpectOrder(name, one.simulation, since);
    for (const auto& [pool, story] : one.wanted) kinds.insert(story);
  }
  EXPECT_THAT(kinds, ::testing::IsSupersetOf({"updated", "updated failed", "updated back", "WaitingForHold"}))
      << "the random rollouts are too similar";
}

}  // namespace
}  // namespace yad::testing
