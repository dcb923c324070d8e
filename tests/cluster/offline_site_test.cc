// Sites that go offline during a rollout, because of the revision or for another reason.
#include "tests/cluster/nodepool_fixture.h"

namespace yad::testing {
namespace {

class OfflineSiteTest : public NodePoolTest {
 protected:
  // Creates a daemon with pools a, b and c, which have a ready node each.
  void Deployed(const Json& rolling) {
    StartNodePools();
    for (const char* name : {"a", "b", "c"}) {
      const std::string pool = AddPool(name);
      nodes_[name] = AddOwnNode(name, pool);
      WaitForPoolStatus(pool, {{"readyNodeNum", 1}});
    }
    Json daemon = Daemon("web");
    daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}, {"rollingUpdate", rolling}};
    CreateDaemon(daemon);
    WaitForComplete();
  }
  void WaitForComplete() {
    WaitForStatus("web", "Complete is True", [&](const Json& status) {
      return StringAt(ConditionOf({{"status", status}}, "Complete"), {"status"}) == "True" &&
             At(status, "/observedGeneration") == At(GetDaemon("web"), "/metadata/generation");
    });
  }
  void WaitForImage(const std::string& pool, const std::string& image) {
    Eventually("pool " + pool + " has " + image, [&] { return ImageOf(WorkloadOf("web", Pool(pool))) == image; });
  }
  std::string Images() {
    std::string images;
    for (const auto& [pool, workload] : ByPool("web")) images += ImageOf(workload).back();
    return images;
  }

  std::map<std::string, std::string> nodes_;  // by the pool's short name
};

TEST_F(OfflineSiteTest, RevisionThatDisconnectsASiteReachesNoOtherSiteAndIsRolledBack) {
  Deployed({{"minReadySeconds", 3}, {"progressDeadlineSeconds", 10}, {"onFailure", "Rollback"}});
  SetImage("web", "example.org/app:2");
  WaitForImage("a", "example.org/app:2");
  SetConditions(nodes_["a"], {{"Ready", "Unknown"}});
  WaitForStatus("web", "the pool is offline after its update", [&](const Json& status) {
    return StringAt(PoolStatus({{"status", status}}, Pool("a")), {"reason"}) == "WentDarkAfterUpdate";
  });
  EXPECT_EQ(Images(), "211");
  StopOperator();
  StartNodePools();
  WaitForProgress("RolledBack");
  EXPECT_EQ(Images(), "111");
  SetConditions(nodes_["a"], {{"Ready", "True"}});
  WaitUntilReady("web");
}

TEST_F(OfflineSiteTest, OutageOfOtherSitesStopsUpdatesWithoutARollback) {
  Deployed({{"minReadySeconds", 3}, {"progressDeadlineSeconds", 5}, {"onFailure", "Rollback"}});
  SetImage("web", "example.org/app:2");
  WaitForImage("a", "example.org/app:2");
  for (const char* pool : {"b", "a"}) SetConditions(nodes_[pool], {{"Ready", "Unknown"}});
  WaitForProgress("SitesOffline");
  std::this_thread::sleep_for(std::chrono::seconds(7));  // longer than the deadline
  EXPECT_EQ(Images(), "211");
  for (const char* pool : {"b", "a"}) SetConditions(nodes_[pool], {{"Ready", "True"}});
  WaitForComplete();
  EXPECT_EQ(Images(), "222");
}

TEST_F(OfflineSiteTest, ANewTemplateDuringTheFirstSoakUpdatesOnePoolAtATime) {
  StartOperator();
  for (const char* name : {"a", "b", "c", "d", "e"}) AddPool(name);
  Json daemon = Daemon("web");
  daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}, {"rollingUpdate", {{"minReadySeconds", 4}}}};
  CreateDaemon(daemon);
  WaitForStatus("web", "all pools are healthy", [](const Json& status) { return At(status, "/readyPools") == 5; });
  SetImage("web", "example.org/app:2");
  Eventually("the rollout ends", [&] {
    const std::string images = Images();
    const auto updated = static_cast<int>(std::count(images.begin(), images.end(), '2'));
    const Json status = GetDaemon("web")["status"];
    EXPECT_LE(updated, IntAt(status, {"updatedPools"}) + 2) << images << status;  // the status may be slightly outdated
    return updated == 5;
  });
}

}  // namespace
}  // namespace yad::testing
