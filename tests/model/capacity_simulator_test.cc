// Simulates random histories of a small pool of the autoscaler:
// - Pods are created and deleted, and nodes fail and return.
// - Each cache lags independently. The operator's process may exit after any write.
//
// After each write, every node must be leased completely or not at all, and no node with a pod may have left the pool.
// When all pods are deleted, every node must be as at the start.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "operator/base/log.h"
#include "tests/support/test_run.h"
#include "tests/unit/capacity/world.h"

namespace yad::testing {
namespace {

constexpr int kNodes = 4;

class Life {
 public:
  explicit Life(std::uint64_t seed)
      : random_(seed),
        world_(
            Json{{"maxNodes", Roll(2) * 3},
                 {"oneNodePerPod", Roll(2) == 0},
                 {"scaleUp", {{"pendingSeconds", Roll(3)}, {"joinTimeoutSeconds", 10}, {"retryAfterSeconds", 5}}},
                 {"scaleDown", {{"idleSeconds", Roll(10)}, {"unhealthySeconds", 5}, {"maxPerCycle", 1 + Roll(2)}}}}) {
    if (Roll(2) == 0) {
      world_.cluster.Edit(kNodePoolType, {"", "hangzhou"}, [](Json& pool) {
        pool["spec"] = {{"labels", {{"region", "east"}}}};
      });
    }
    for (int i = 0; i < kNodes; ++i) world_.AddNode(NodeName(i));
    for (int i = 0; i < kNodes; ++i) before_.push_back(LabelsOf(NodeName(i)));
    world_.cluster.SetFaults([this](const WriteRecord& request, const Json&) { return OnRequest(request); });
    world_.Sync();
  }

  std::string Play(int steps) {
    for (int step = 0; step < steps && fault_.empty(); ++step) Step();
    if (!fault_.empty()) return fault_;
    // From now on, the process does not exit, and no cache lags.
    dies_at_ = -1;
    died_ = false;
    for (int i = 0; i < next_pod_; ++i) world_.DeletePod(PodName(i));
    for (int i = 0; i < kNodes; ++i) {
      world_.SetReady(NodeName(i), true);
      if (!world_.NodeNow(NodeName(i)).meta.annotations.contains(kQuarantineAnnotation)) continue;
      world_.cluster.Edit(kNodeType, {"", NodeName(i)}, [](Json& node) { node["metadata"].erase("annotations"); });
    }
    world_.Run(250);
    for (int i = 0; i < kNodes; ++i) {
      if (LabelsOf(NodeName(i)) != before_[static_cast<std::size_t>(i)] || !world_.PhaseOf(NodeName(i)).empty())
        return NodeName(i) + " is not as it was: " + world_.cluster.Get(kNodeType, {"", NodeName(i)})->dump();
    }
    return fault_;
  }
  int leases() const { return leases_; }

 private:
  static std::string NodeName(int i) { return "n" + std::to_string(i); }
  static std::string PodName(int i) { return "p" + std::to_string(i); }
  int Roll(int sides) { return static_cast<int>(random_() % static_cast<unsigned>(sides)); }
  Json LabelsOf(const std::string& node) { return (*world_.cluster.Get(kNodeType, {"", node}))["metadata"]["labels"]; }

  void Step() {
    switch (Roll(12)) {
      case 0:
        world_.AddPod(PodName(next_pod_++), Roll(2) == 0 ? "1" : "3");
        break;
      case 1:
        if (next_pod_ > 0) world_.DeletePod(PodName(Roll(next_pod_)));
        break;
      case 2:
        world_.SetReady(NodeName(Roll(kNodes)), Roll(3) > 0);
        break;
      case 3: {  // A scheduler that does not see the taint binds a pod.
        const std::string node = NodeName(Roll(kNodes));
        if (world_.PhaseOf(node) == "Releasing" && LeftToRelease(node)) world_.AddPod(PodName(next_pod_++), "1", node);
        break;
      }
      case 4:
        world_.clock.Advance(std::chrono::seconds(Roll(40)));
        break;
      case 5:
        world_.Restart();
        break;
      default:
        world_.clock.Advance(std::chrono::seconds(1));
        world_.Schedule();
    }
    if (Roll(4) > 0) world_.SyncNodes();
    if (Roll(4) > 0) world_.SyncPods();
    if (Roll(4) > 0) world_.SyncAutoscalers();
    dies_at_ = Roll(3) == 0 ? Roll(3) : -1;
    died_ = false;
    (void)world_.Pass();
    CheckNodes();
    if (!died_) return;
    world_.Restart();
    world_.Sync();
  }

  // Returns true in the first 20 s of phase Releasing, while a scheduler might not see the taint yet.
  bool LeftToRelease(const std::string& node) {
    const auto lease = ParseLease(world_.NodeNow(node).meta.Annotation(kLeaseAnnotation));
    return world_.clock.WallNow() - lease->since < std::chrono::seconds(20);
  }

  std::optional<FakeCluster::Fault> OnRequest(const WriteRecord& request) {
    if (request.method != "PATCH") return std::nullopt;
    // A process that has exited does not send requests.
    if (died_) return FakeCluster::Fault{Fail(Reason::kTransport, "the process has exited")};
    if (dies_at_ < 0 || dies_at_-- > 0) return std::nullopt;
    died_ = true;
    return FakeCluster::Fault{Fail(Reason::kTransport, "the process exits now"), true};
  }

  void CheckNodes() {
    std::set<std::string> expected;
    for (int i = 0; i < kNodes && fault_.empty(); ++i) {
      const Json object = *world_.cluster.Get(kNodeType, {"", NodeName(i)});
      const Node node = ParseNode(object);
      const std::string& annotation = node.meta.Annotation(kLeaseAnnotation);
      const bool in_pool = !node.pool().empty();
      if (in_pool != !annotation.empty()) fault_ = "half leased: " + object.dump();
      if (!in_pool) {
        for (const Json& pod : world_.cluster.List(kPodType)) {
          if (ParsePod(pod).node == node.meta.key.name) fault_ = "left under a pod: " + object.dump();
        }
        if (node.meta.labels.contains("region") || !node.taints.empty()) fault_ = "half given back: " + object.dump();
        continue;
      }
      ++leases_;
      const auto lease = ParseLease(annotation);
      if (!lease) {
        fault_ = "junk: " + annotation;
      } else if (lease->phase != LeasePhase::kReleasing && !node.taints.empty()) {
        fault_ = "the taint stayed: " + object.dump();
      }
    }
  }

  std::mt19937_64 random_;
  CapacityWorld world_;
  std::vector<Json> before_;
  std::string fault_;
  int next_pod_ = 0;
  int dies_at_ = -1;
  bool died_ = false;
  int leases_ = 0;
};

TEST(CapacitySimulatorTest, NoNodeIsPartlyLeasedAndNoNodeWithAPodIsReleased) {
  log::Configure(log::Level::kError, log::Format::kText);
  const SeedRange seeds = SeedsToRun({1, RunsEverything() ? 1000U : 20U});
  int leases = 0;
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    Life life(seed);
    ASSERT_EQ(life.Play(120), "") << "YAD_SEED=" << seed;
    leases += life.leases();
  }
  EXPECT_GT(leases, 0);
}

}  // namespace
}  // namespace yad::testing
