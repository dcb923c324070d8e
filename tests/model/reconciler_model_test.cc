// Simulates random histories of a cluster, and checks the invariants at the end of each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "operator/workload/merge.h"
#include "tests/unit/yurtappdaemon/world.h"

namespace yad::testing {
namespace {

using ::testing::IsEmpty;

constexpr int kHistoryLimit = 2;

class History {
 public:
  explicit History(unsigned seed)
      : random_(seed),
        edits_labels_(seed % 2 == 0),
        kind_(seed % 3 == 0 ? WorkloadKind::kStatefulSet : WorkloadKind::kDeployment) {
    Json daemon = DaemonJson("app:0", kind_);
    daemon["spec"]["revisionHistoryLimit"] = kHistoryLimit;
    world_.CreateDaemon(daemon);
    Json foreign = WorkloadJson(daemon, MakeRevision(daemon), PoolJson("p0"));
    foreign["metadata"]["name"] = "foreign";
    foreign["metadata"]["ownerReferences"][0]["uid"] = "another-owner";
    foreign_ = world_.cluster.Create(world_.type(), foreign);
  }

  void Run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      Act();
      if (Chance(60)) Reconcile();
    }
    CheckEnd();
  }

 private:
  int Below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  bool Chance(int percent) { return Below(100) < percent; }
  std::string AnyPool() { return "p" + std::to_string(Below(6)); }

  // Sets template number n: an image, and a variable that no other template has.
  void SetTemplate(int n) {
    world_.EditDaemon([&](Json& daemon) {
      Json& container = PodSpecOf(TemplateOf(daemon))["containers"][0];
      container["image"] = "app:" + std::to_string(n);
      container["env"] = {{{"name", "ONLY_" + std::to_string(n)}, {"value", "x"}}};
    });
  }

  std::optional<ObjectKey> AnyWorkload() {
    std::vector<ObjectKey> keys;
    for (const Json& workload : world_.Workloads()) {
      if (StringAt(workload, {"metadata", "name"}) != "foreign") keys.push_back(ParseMeta(workload).key);
    }
    if (keys.empty()) return std::nullopt;
    return keys[static_cast<std::size_t>(Below(static_cast<int>(keys.size())))];
  }
  void EditAnyWorkload(const std::function<void(Json&)>& edit) {
    if (const auto key = AnyWorkload()) world_.cluster.Edit(world_.type(), *key, edit);
  }

  void ChangeTaints(const std::string& pool) {
    world_.cluster.Edit(kNodePoolType, {"", pool}, [&](Json& p) {
      p["spec"]["taints"] =
          PoolJson(pool, Chance(50) ? std::vector<std::string>{}
                                    : std::vector<std::string>{"x", Chance(50) ? "y" : "z"})["spec"]["taints"];
    });
  }
  void OverrideImage(const std::string& pool) {
    world_.EditDaemon([&](Json& d) {
      d["spec"]["overrides"] = {
          {{"pools", {pool}}, {"images", {{{"name", "main"}, {"image", "special:" + std::to_string(Below(2))}}}}}};
    });
  }
  // Changes the revision label of a workload, or removes the annotation with its pool.
  void EditMarks() {
    if (edits_labels_) {
      const std::vector<Json> revisions = world_.Revisions();
      const std::string label =
          revisions.empty() || Chance(30)
              ? "nonsense"
              : StringAt(revisions[static_cast<std::size_t>(Below(static_cast<int>(revisions.size())))],
                         {"metadata", "name"});
      EditAnyWorkload([&](Json& w) { w["metadata"]["labels"][kRevisionLabel] = label; });
    } else {
      EditAnyWorkload([&](Json& w) { w["metadata"]["annotations"].erase(kRefNodePoolAnnotation); });
    }
  }

  void Act() {
    const std::string pool = AnyPool();
    switch (Below(19)) {
      case 0:
      case 1:
      case 2:
        if (!world_.cluster.Get(kNodePoolType, {"", pool})) world_.AddPool(pool);
        break;
      case 3:
        world_.RemovePool(pool);
        break;
      case 4:
        ChangeTaints(pool);
        break;
      case 5:
        world_.cluster.Edit(kNodePoolType, {"", pool}, [&](Json& p) { p["status"] = {{"readyNodeNum", Below(2)}}; });
        break;
      case 6:
        world_.EditDaemon(
            [&](Json& d) { d["spec"]["nodePools"]["exclude"] = Chance(50) ? Json{pool} : Json::array(); });
        break;
      case 7:
      case 8:
        SetTemplate(Below(5));
        break;
      case 9:
        world_.EditDaemon([&](Json& d) { TemplateOf(d)["spec"]["replicas"] = Below(3); });
        break;
      case 10:
        world_.EditDaemon([&](Json& d) { d["spec"]["paused"] = Chance(50); });
        break;
      case 11:
        world_.EditDaemon([&](Json& d) { d["spec"]["updateStrategy"] = {{"type", Chance(30) ? "OnDelete" : "All"}}; });
        break;
      case 12:
        OverrideImage(pool);
        break;
      case 13:
        EditAnyWorkload([&](Json& w) { PodSpecOf(w)["containers"][0]["image"] = "evil:1"; });
        break;
      case 14:
        EditAnyWorkload([&](Json& w) { w["metadata"]["labels"].erase(Chance(50) ? "app" : kPoolNameLabel); });
        break;
      case 15:
        EditMarks();
        break;
      case 16:
        if (const auto key = AnyWorkload()) world_.cluster.Delete(world_.type(), *key);
        break;
      case 17:
        world_.RunWorkloadControllers();
        break;
      case 18:
        world_.Restart();
        synced_ = false;
        break;
    }
  }

  // Returns the names of the workloads that must not be deleted now. The cached daemon contains the last write of
  // status, so it may be newer than the cached pools.
  std::set<std::string> SelectedByTheCaches() {
    std::set<std::string> names;
    const auto daemon = world_.stores().daemons.Get({kNs, "web"});
    if (!daemon) return names;
    const YurtAppDaemon parsed = *ParseYurtAppDaemon((*daemon)->Parse());
    const auto pools = world_.stores().pools.List();
    for (const ObjectPtr& object : *pools) {
      if (parsed.pools.Selects(PoolRef{object}.pool())) names.insert(world_.NameOf(object->meta().key.name));
    }
    return names;
  }

  void Reconcile() {
    if (!synced_ || Chance(80)) {
      world_.Sync();
      synced_ = true;
    }
    if (Chance(40)) {
      world_.cluster.SetFaults([this](const WriteRecord&, const Json&) -> std::optional<FakeCluster::Fault> {
        if (!Chance(25)) return std::nullopt;
        switch (Below(5)) {
          case 0:
            return FakeCluster::Fault{StatusResponse(500, "InternalError", "etcd"), false};
          case 1:
            return FakeCluster::Fault{StatusResponse(409, "Conflict", "try again"), false};
          case 2:
            return FakeCluster::Fault{StatusResponse(403, "Forbidden", "exceeded quota: few"), false};
          case 3:
            return FakeCluster::Fault{StatusResponse(422, "Invalid", "no"), false};
          default:
            return FakeCluster::Fault{tl::unexpected<Error>(Error{Reason::kTransport, "reset", 0, std::nullopt, {}}),
                                      true};
        }
      });
    }
    const std::set<std::string> keep = SelectedByTheCaches();
    world_.cluster.ClearWrites();
    static_cast<void>(world_.ReconcileWithOldCaches());
    world_.cluster.SetFaults(nullptr);
    world_.clock.Advance(std::chrono::milliseconds(Below(2000)));
    for (const WriteRecord& write : world_.cluster.writes()) {
      EXPECT_FALSE(write.method == "DELETE" && keep.contains(write.key.name))
          << "deleted a selected pool's " << write.ToString();
      EXPECT_NE(write.key.name, "foreign");
    }
  }

  void CheckEnd() {
    world_.EditDaemon([](Json& d) {
      d["spec"]["paused"] = false;
      d["spec"]["updateStrategy"] = {{"type", "All"}};
    });
    ASSERT_LE(world_.Converge(), 10);
    const YurtAppDaemon daemon = *ParseYurtAppDaemon(world_.Daemon());
    const RevisionContent content = ContentOf(daemon);
    std::map<std::string, Json> by_pool;
    for (const Json& workload : world_.Workloads()) {
      if (StringAt(workload, {"metadata", "name"}) == "foreign") {
        Json theirs = workload;
        theirs["status"] = foreign_["status"];
        theirs["metadata"]["resourceVersion"] = foreign_["metadata"]["resourceVersion"];
        EXPECT_EQ(theirs, foreign_);
        continue;
      }
      const std::string pool = workload["spec"]["selector"]["matchLabels"][kPoolNameLabel];
      // The operator does not see a workload without its label. So the workload stays if its pool leaves before the
      // label is restored.
      const auto object = world_.cluster.Get(kNodePoolType, {"", pool});
      const bool selected_now = object && daemon.pools.Selects(ParseNodePool(*object));
      if (!workload["metadata"]["labels"].contains(kPoolNameLabel) && !selected_now) continue;
      EXPECT_TRUE(by_pool.emplace(pool, workload).second) << "two workloads for pool " << pool;
    }
    // Each selected pool must have the workload that the update revision renders. No other workload may exist.
    std::int64_t offline = 0, selected = 0;
    for (const Json& object : world_.cluster.List(kNodePoolType)) {
      const NodePool pool = ParseNodePool(object);
      if (!daemon.pools.Selects(pool)) continue;
      ++selected;
      offline += pool.offline;
      ASSERT_TRUE(by_pool.contains(pool.name)) << pool.name;
      const Json& workload = by_pool[pool.name];
      const Json rendered = *Render(content, InputsFor(content, pool), pool.name, "");
      EXPECT_EQ(ThreeWayMerge(rendered, rendered, workload), workload) << pool.name;
      if (!edits_labels_) {
        EXPECT_EQ(workload["spec"], rendered["spec"]) << pool.name;
        EXPECT_EQ(workload["metadata"]["annotations"][kRefNodePoolAnnotation], pool.name);
      }
      by_pool.erase(pool.name);
    }
    EXPECT_THAT(by_pool, IsEmpty()) << "workloads of pools that are not selected";

    const Json status = world_.Status();
    EXPECT_EQ(status["desiredPools"], selected);
    EXPECT_EQ(status["updatedPools"], selected);
    EXPECT_EQ(status["readyPools"], selected - offline);
    EXPECT_EQ(status["offlinePools"], offline);
    EXPECT_EQ(status["failedPools"], 0);
    EXPECT_EQ(status["currentRevision"], status["updateRevision"]);
    CheckRevisions(StringAt(status, {"updateRevision"}));

    world_.Restart();
    world_.cluster.ClearWrites();
    EXPECT_TRUE(world_.Reconcile());
    EXPECT_THAT(world_.Writes(), IsEmpty());
  }

  void CheckRevisions(const std::string& update) {
    std::set<std::string> live{update};
    for (const Json& workload : world_.Workloads())
      live.insert(StringAt(workload, {"metadata", "labels", kRevisionLabel}));
    std::int64_t update_number = 0, highest_other = 0;
    int old = 0;
    for (const Json& revision : world_.Revisions()) {
      const std::string name = revision["metadata"]["name"];
      const std::int64_t number = revision["revision"];
      if (name == update) {
        update_number = number;
      } else {
        highest_other = std::max(highest_other, number);
      }
      old += !live.contains(name);
    }
    EXPECT_GT(update_number, highest_other);
    EXPECT_LE(old, kHistoryLimit);
  }

  std::mt19937 random_;
  const bool edits_labels_;
  const WorkloadKind kind_;
  World world_;
  Json foreign_;
  bool synced_ = false;
};

TEST(ReconcilerModelTest, EveryHistoryEndsInTheStateOfTheReferenceModelWithoutFurtherWrites) {
  for (unsigned seed = 1; seed <= 24 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    History(seed).Run(60);
  }
}

}  // namespace
}  // namespace yad::testing
