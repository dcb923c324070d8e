// Checks plans for random snapshots. The invariants must hold, and a simple planner must expect the same pods on the
// same nodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "operator/api/well_known.h"
#include "operator/capacity/capacity_plan.h"
#include "operator/capacity/fit.h"
#include "operator/capacity/survey.h"
#include "tests/support/test_run.h"
#include "tests/unit/capacity/snapshot.h"

namespace yad::testing {
namespace {

using Random = std::mt19937_64;

int Roll(Random& random, int sides) { return static_cast<int>(random() % static_cast<unsigned>(sides)); }
const char* Pick(Random& random, std::initializer_list<const char*> words) {
  return words.begin()[Roll(random, static_cast<int>(words.size()))];
}

Json RandomSpec(Random& random) {
  Json spec{{"mode", Pick(random, {"Auto", "Auto", "Auto", "Manual", "Drain"})},
            {"minNodes", Roll(random, 3)},
            {"maxNodes", Roll(random, 2) * (6 + Roll(random, 6))},
            {"oneNodePerPod", Roll(random, 3) == 0},
            {"scaleUp", {{"maxPerCycle", 1 + Roll(random, 4)}}},
            {"scaleDown", {{"maxPerCycle", 1 + Roll(random, 3)}}}};
  for (int i = Roll(random, 3); i > 0; --i) {
    Json entry{{"name", "s" + std::to_string(i)}, {"count", Roll(random, 3)}};
    if (Roll(random, 2) == 0) entry["nodeSelector"]["matchLabels"] = {{"size", Pick(random, {"s", "l"})}};
    spec["standby"].push_back(entry);
  }
  return spec;
}

Json RandomShortages(Random& random) {
  Json shortages = Json::array();
  for (int i = Roll(random, 3); i > 0; --i) {
    Json requirements = Json::object();
    if (Roll(random, 3) > 0) requirements["size"] = Pick(random, {"s", "l"});
    shortages.push_back({{"requirements", requirements},
                         {"reason", Pick(random, {"NoCapacity", "JoinTimeout", "Unschedulable"})},
                         {"pods", {"shop/p" + std::to_string(Roll(random, 8))}},
                         {"since", FormatTime(Ago(300))},
                         {"retryAt", FormatTime(Ago(Roll(random, 240) - 180))}});
  }
  return shortages;
}

void AddRandomNode(Snapshot& snapshot, const std::string& name, Random& random) {
  StringMap labels{{"size", Pick(random, {"s", "l"})}};
  const char* cpu = Pick(random, {"1", "2", "4"});
  Node* node = nullptr;
  if (Roll(random, 2) == 0) {
    node = &snapshot.Free(name, cpu, labels);
    if (Roll(random, 8) == 0) node->meta.labels[kNodePoolLabel] = Pick(random, {"hangzhou", "beijing"});
  } else {
    const auto phase = static_cast<LeasePhase>(Roll(random, 5));
    const std::string for_pod = Roll(random, 2) == 0 ? "uid-p" + std::to_string(Roll(random, 9)) : "";
    node = &snapshot.Leased(name, phase, Roll(random, 900), for_pod, labels);
  }
  if (Roll(random, 3) == 0) Snapshot::NotReady(*node, Roll(random, 400));
  if (Roll(random, 10) == 0) node->unschedulable = true;
  if (Roll(random, 10) == 0) node->meta.annotations[kQuarantineAnnotation] = "x";
  if (Roll(random, 10) == 0) node->taints.push_back({"t", "", "NoSchedule"});
  if (Roll(random, 6) == 0) node->meta.creation_timestamp = FormatTime(Ago(Roll(random, 200)));
  for (int work = Roll(random, 4) - 1; work > 0; --work) {
    Pod& pod = snapshot.Running("r" + std::to_string(work) + name, name, Pick(random, {"500m", "1"}));
    pod.of_node = Roll(random, 3) == 0;
    pod.terminal = Roll(random, 5) == 0;
  }
}

void AddRandomPod(Snapshot& snapshot, const std::string& name, Random& random) {
  StringMap selector;
  if (Roll(random, 2) == 0) selector["size"] = Pick(random, {"s", "l"});
  Pod& pod = snapshot.Waiting(name, Pick(random, {"500m", "1", "2", "3"}), selector);
  pod.created = Ago(Roll(random, 40));
  pod.priority = Roll(random, 2);
  if (Roll(random, 12) == 0) pod.deleting = true;
  if (Roll(random, 3) == 0) {
    Placement placement = *pod.placement;
    placement.tolerations = {{"pool", true, "", ""}};
    pod.placement = std::make_shared<const Placement>(placement);
  }
}

Snapshot RandomSnapshot(std::uint64_t seed) {
  Random random(seed);
  const Json spec = RandomSpec(random);
  const Json shortages = RandomShortages(random);
  Snapshot snapshot(Autoscaler(spec, shortages));
  snapshot.pool_gone = Roll(random, 12) == 0;
  snapshot.stopped = Roll(random, 12) == 0;
  if (Roll(random, 4) == 0) snapshot.pool.taints = {{"pool", "", "NoSchedule"}};
  const int pods = Roll(random, 9);
  for (int i = Roll(random, 10); i > 0; --i) AddRandomNode(snapshot, "n" + std::to_string(i), random);
  for (int i = 0; i < pods; ++i) AddRandomPod(snapshot, "p" + std::to_string(i), random);
  return snapshot;
}

const Node& NodeOf(const Snapshot& snapshot, const std::string& name) {
  return *std::find_if(snapshot.nodes.begin(), snapshot.nodes.end(),
                       [&](const Node& node) { return node.meta.key.name == name; });
}
const Pod& PodOf(const Snapshot& snapshot, const std::string& key) {
  return *std::find_if(snapshot.pods.begin(), snapshot.pods.end(),
                       [&](const Pod& pod) { return pod.key.ToString() == key; });
}

bool HasWork(const Snapshot& snapshot, const std::string& node) {
  return std::any_of(snapshot.pods.begin(), snapshot.pods.end(),
                     [&](const Pod& pod) { return pod.node == node && !pod.terminal && !pod.of_node; });
}

std::optional<NodeLease> LeaseOf(const Snapshot& snapshot, const Node& node) {
  const std::string& annotation = node.meta.Annotation(kLeaseAnnotation);
  auto lease = annotation.empty() ? Fail(Reason::kInvalid, "") : ParseLease(annotation);
  if (!lease || lease->pool != "hangzhou" || node.pool() != "hangzhou") return std::nullopt;
  (void)snapshot;
  return *lease;
}

NodeShape Joined(const Snapshot& snapshot, const Node& node) {
  NodeShape shape{&node.meta.key.name, node.meta.labels, node.taints};
  shape.labels[kNodePoolLabel] = "hangzhou";
  if (!LeaseOf(snapshot, node))
    shape.taints.insert(shape.taints.end(), snapshot.pool.taints.begin(), snapshot.pool.taints.end());
  return shape;
}

Resources RoomOf(const Snapshot& snapshot, const Node& node) {
  Resources room = node.allocatable;
  for (const Pod& pod : snapshot.pods) {
    if (pod.node == node.meta.key.name && !pod.terminal) room.Subtract(pod.requests);
  }
  return room;
}

// Checks the invariants of one plan.
class PlanInvariants {
 public:
  PlanInvariants(const Snapshot& snapshot, const CapacityPlan& plan)
      : snapshot_(snapshot), plan_(plan), spec_(snapshot.autoscaler) {
    for (const Node& node : snapshot.nodes) leased_before_ += LeaseOf(snapshot, node).has_value();
  }

  void Check() {
    CheckLeases();
    CheckExpectations();
    CheckReleases();
    CheckShortages();
  }

 private:
  bool MayLease() const { return spec_.mode == CapacityMode::kAuto && !snapshot_.pool_gone && !snapshot_.stopped; }
  void CheckLeases() {
    std::set<std::string> asked;
    for (const CapacityPlan::Lease& lease : plan_.leases) {
      for (const Pod* pod : lease.pods) {
        EXPECT_TRUE(asked.insert(pod->key.ToString()).second) << "the pod is in two leases: " << pod->key.ToString();
        EXPECT_TRUE(pod->waits());
        EXPECT_GE(kNow - pod->created, spec_.pending);
      }
      if (lease.node == nullptr) continue;
      EXPECT_TRUE(IsFree(*lease.node, spec_)) << lease.node->meta.key.name;
      EXPECT_TRUE(leased_nodes_.insert(lease.node->meta.key.name).second) << "the node is leased twice";
      if (spec_.one_node_per_pod) {
        EXPECT_LE(lease.pods.size(), 1U);
      }
      for (const Pod* pod : lease.pods)
        EXPECT_EQ(plan_.expectations.at(pod->key.ToString()), lease.node->meta.key.name);
    }
    EXPECT_LE(leased_nodes_.size(), static_cast<std::size_t>(spec_.max_leases));
    if (spec_.max_nodes > 0 && !leased_nodes_.empty()) {
      EXPECT_LE(leased_before_ + static_cast<int>(leased_nodes_.size()), spec_.max_nodes);
    }
    if (!MayLease()) {
      EXPECT_TRUE(plan_.leases.empty());
    }
  }
  // Checks that each node has room for all its expected pods.
  void CheckExpectations() {
    std::map<std::string, Resources> rooms;
    for (const auto& [key, name] : plan_.expectations) {
      const Pod& pod = PodOf(snapshot_, key);
      const Node& node = NodeOf(snapshot_, name);
      EXPECT_TRUE(pod.waits()) << key;
      EXPECT_TRUE(MayRunOn(*pod.placement, Joined(snapshot_, node))) << key << " on " << name;
      rooms.try_emplace(name, RoomOf(snapshot_, node)).first->second.Subtract(pod.requests);
      ++pods_on_[name];
    }
    for (const auto& [name, room] : rooms) {
      EXPECT_TRUE(room.milli_cpu >= 0 && room.memory >= 0 && room.pods >= 0)
          << "more pods are expected than fit: " << name;
    }
    if (spec_.one_node_per_pod) {
      for (const auto& [name, count] : pods_on_) EXPECT_EQ(count, 1) << name;
    }
  }
  void CheckReleases() const {
    int limited = 0;
    for (const CapacityPlan::Release& release : plan_.releases) {
      const std::string& name = release.node->meta.key.name;
      EXPECT_TRUE(LeaseOf(snapshot_, *release.node)) << "a node without a lease is released: " << name;
      EXPECT_FALSE(HasWork(snapshot_, name)) << "a node with a running pod is released: " << name;
      EXPECT_FALSE(pods_on_.contains(name)) << "a node with an expected pod is released: " << name;
      EXPECT_FALSE(leased_nodes_.contains(name));
      limited += !release.begun && release.cause != CapacityPlan::Release::Cause::kNotJoined;
    }
    EXPECT_LE(limited, spec_.max_releases);
    if (MayLease() && limited > 0) {
      EXPECT_GE(plan_.leased - plan_.releasing, spec_.min_nodes);
    }
    if (snapshot_.stopped) {
      for (const CapacityPlan::Release& release : plan_.releases) EXPECT_TRUE(release.begun);
      for (const CapacityPlan::Change& change : plan_.changes) EXPECT_EQ(change.before.phase, LeasePhase::kReleasing);
    }
    EXPECT_EQ(plan_.leased, leased_before_);
    EXPECT_EQ(plan_.leased, plan_.idle + plan_.in_use + plan_.joining + plan_.releasing);
  }
  // Checks that each pod that has waited long enough is expected on a node or is part of a shortage. One exception: the
  // plan has used all leases of a cycle.
  void CheckShortages() const {
    std::set<std::string> told;
    for (const Shortage& shortage : plan_.shortages) {
      for (const std::string& pod : shortage.pods) {
        EXPECT_TRUE(told.insert(pod).second) << pod << " is in two shortages";
        EXPECT_FALSE(plan_.expectations.contains(pod)) << pod << " has a node";
      }
    }
    for (const Pod& pod : snapshot_.pods) {
      const bool counts = pod.waits() && kNow - pod.created >= spec_.pending;
      if (!counts || told.contains(pod.key.ToString()) || plan_.expectations.contains(pod.key.ToString())) continue;
      EXPECT_EQ(leased_nodes_.size(), static_cast<std::size_t>(spec_.max_leases))
          << pod.key.ToString() << " waits, and is in no lease and no shortage";
    }
  }

  const Snapshot& snapshot_;
  const CapacityPlan& plan_;
  const NodePoolAutoscaler& spec_;
  int leased_before_ = 0;
  std::set<std::string> leased_nodes_;  // leased by this plan
  std::map<std::string, int> pods_on_;  // node name -> number of expected pods
};

// A simple planner: each pod takes the first node that it may use. It does not support limits, earlier failures or
// earlier expectations.
std::map<std::string, std::string> NaiveExpectations(const Snapshot& snapshot) {
  const NodePoolAutoscaler& spec = snapshot.autoscaler;
  std::vector<const Pod*> pods;
  for (const Pod& pod : snapshot.pods) {
    if (pod.waits() && kNow - pod.created >= spec.pending) pods.push_back(&pod);
  }
  std::sort(pods.begin(), pods.end(), [](const Pod* a, const Pod* b) {
    if (a->placement->constraints() != b->placement->constraints())
      return a->placement->constraints() > b->placement->constraints();
    if (a->priority != b->priority) return a->priority > b->priority;
    if (a->created != b->created) return a->created < b->created;
    return a->key < b->key;
  });
  std::vector<const Node*> nodes;
  for (const Node& node : snapshot.nodes) nodes.push_back(&node);
  std::sort(nodes.begin(), nodes.end(), [](const Node* a, const Node* b) {
    if (a->allocatable.milli_cpu != b->allocatable.milli_cpu)
      return a->allocatable.milli_cpu < b->allocatable.milli_cpu;
    return a->meta.key < b->meta.key;
  });
  std::map<std::string, std::string> expected;
  std::map<std::string, Resources> rooms;
  std::vector<const Node*> taken;
  std::set<std::string> bound;
  const auto fits = [&](const Pod& pod, const Node& node) {
    if (spec.one_node_per_pod && (HasWork(snapshot, node.meta.key.name) || bound.contains(node.meta.key.name)))
      return false;
    const Resources& room = rooms.try_emplace(node.meta.key.name, RoomOf(snapshot, node)).first->second;
    return pod.requests.FitsIn(room) && MayRunOn(*pod.placement, Joined(snapshot, node));
  };
  const auto place = [&](const Pod& pod, const Node& node) {
    expected[pod.key.ToString()] = node.meta.key.name;
    rooms.at(node.meta.key.name).Subtract(pod.requests);
    bound.insert(node.meta.key.name);
  };
  const auto usable = [&](const Node& node) {
    const auto lease = LeaseOf(snapshot, node);
    return lease && lease->phase != LeasePhase::kReleasing && !node.unschedulable &&
           (node.ready() || lease->phase == LeasePhase::kJoining);
  };
  for (const Pod* pod : pods) {
    for (const Node* node : nodes) {  // leased before
      if (!expected.contains(pod->key.ToString()) && usable(*node) && fits(*pod, *node)) place(*pod, *node);
    }
    for (const Node* node : taken) {  // leased by this plan
      if (!expected.contains(pod->key.ToString()) && fits(*pod, *node)) place(*pod, *node);
    }
    for (const Node* node : nodes) {
      if (expected.contains(pod->key.ToString()) || !IsFree(*node, spec) || !fits(*pod, *node)) continue;
      place(*pod, *node);
      taken.push_back(node);
    }
  }
  return expected;
}

TEST(PlannerModelTest, InvariantsHoldForEveryPlan) {
  const SeedRange seeds = SeedsToRun({1, RunsEverything() ? 100000U : 1000U});
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    SCOPED_TRACE("YAD_SEED=" + std::to_string(seed));
    const Snapshot snapshot = RandomSnapshot(seed);
    const CapacityPlan plan = snapshot.Plan();
    PlanInvariants(snapshot, plan).Check();
    if (HasFailure()) break;
  }
}

TEST(PlannerModelTest, PlanDoesNotDependOnTheOrderOfNodesAndPods) {
  const SeedRange seeds = SeedsToRun({1, RunsEverything() ? 30000U : 300U});
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    SCOPED_TRACE("YAD_SEED=" + std::to_string(seed));
    Snapshot snapshot = RandomSnapshot(seed);
    const Json plan = ToJson(snapshot.Plan());
    Random random(seed);
    std::shuffle(snapshot.nodes.begin(), snapshot.nodes.end(), random);
    std::shuffle(snapshot.pods.begin(), snapshot.pods.end(), random);
    ASSERT_EQ(ToJson(snapshot.Plan()), plan);
  }
}

TEST(PlannerModelTest, PlanExpectsTheSamePodsOnTheSameNodesAsAReferencePlanner) {
  int compared = 0;
  const SeedRange seeds = SeedsToRun({1, RunsEverything() ? 100000U : 1000U});
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    SCOPED_TRACE("YAD_SEED=" + std::to_string(seed));
    Snapshot snapshot = RandomSnapshot(seed);
    NodePoolAutoscaler& spec = snapshot.autoscaler;
    spec.mode = CapacityMode::kAuto;
    spec.max_leases = 1000;
    spec.max_nodes = 0;
    spec.shortages.clear();
    snapshot.pool_gone = snapshot.stopped = false;
    for (Node& node : snapshot.nodes) {  // Nodes do not expect pods, and joining nodes are Ready.
      const auto lease = LeaseOf(snapshot, node);
      if (!lease) continue;
      NodeLease unbound = *lease;
      unbound.for_pod.clear();
      if (!node.ready()) unbound.phase = LeasePhase::kIdle;
      node.meta.annotations[kLeaseAnnotation] = FormatLease(unbound);
    }
    const CapacityPlan plan = snapshot.Plan();
    ASSERT_EQ(plan.expectations, NaiveExpectations(snapshot));
    compared += !plan.expectations.empty();
  }
  EXPECT_GT(compared, 0);
}

}  // namespace
}  // namespace yad::testing
