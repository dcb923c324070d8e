// Nodes pull images before their pool is updated. The DaemonSet controller is real. KWOK makes pods ready immediately.
#include "operator/workload/prefetch.h"

#include "tests/cluster/rollout_fixture.h"

namespace yad::testing {
namespace {

using ::testing::HasSubstr;

class PrefetchTest : public RolloutFixture {
 protected:
  // Starts an operator and a daemon with the pools a (group "first") and b.
  void Deployed(const Json& prefetch) {
    const Json first = {{"name", "first"}, {"pools", Json::array({Pool("a")})}};
    Deploy({"a", "b"}, {{"groups", Json::array({first})}, {"prefetch", prefetch}});
  }
  Json WaitForPrefetchCondition(const std::string& reason) {
    return WaitForStatus("web", "PrefetchUnavailable has reason " + reason, [&](const Json& status) {
      const Json daemon = {{"status", status}};
      return StringAt(ConditionOf(daemon, "PrefetchUnavailable"), {"reason"}) == reason;
    });
  }
  void WaitForComplete() {
    WaitForStatus("web", "the rollout is complete", [&](const Json& status) {
      const Json daemon = {{"status", status}};
      return At(status, "/updatedPools") == 2 && StringAt(ConditionOf(daemon, "Complete"), {"status"}) == "True";
    });
    Eventually("the DaemonSets are gone", [&]() -> std::string {
      const std::size_t left = kube().List(kDaemonSetType, kPrefetchLabel).size();
      return left == 0 ? "" : std::to_string(left) + " are left";
    });
  }
  std::string ImageIn(const std::string& pool) { return ImageOf(WorkloadOf("web", Pool(pool))); }
  std::string DaemonSetOf(const std::string& pool) { return PrefetchName(NameOf(WorkloadOf("web", Pool(pool)))); }
  bool ServerKeepsImageVolumes() { return plane().minor() > 30; }
};
INSTANTIATE_ONE_KIND(PrefetchTest, WorkloadKind::kStatefulSet);

TEST_P(PrefetchTest, PoolIsUpdatedWhenItsNodesHaveTheImage) {
  if (!ServerKeepsImageVolumes()) GTEST_SKIP() << "this Kubernetes has no image volumes";
  Deployed(Json::object());
  SetImage("web", "example.org/app:2");
  WaitForPrefetchCondition("ImageVolumesKept");
  WaitForComplete();
  EXPECT_EQ(ImageIn("b"), "example.org/app:2");
  std::size_t created = 0, deleted = 0;
  for (const AuditedRequest& write : WritesSince({})) {
    created += write.resource == "daemonsets" && write.verb == "create" && write.code == 201;
    // The operator may send more DELETEs until its watch shows the deletion. These DELETEs do not find an object.
    deleted += write.resource == "daemonsets" && write.verb == "delete" && write.code == 200;
  }
  EXPECT_EQ(created, 2U) << "a dry run, and one DaemonSet";
  EXPECT_EQ(deleted, 1U);
}

TEST_P(PrefetchTest, PoolWaitsForANodeWithoutTheImageEvenAfterALeaderChange) {
  if (!ServerKeepsImageVolumes()) GTEST_SKIP() << "this Kubernetes has no image volumes";
  Deployed({{"onTimeout", "Wait"}});
  // The quota blocks only the DaemonSet's pod. The workload's pods request no resources, so they are BestEffort.
  Json quota = {{"metadata", {{"name", "no-pods"}}}};
  quota["spec"] = {{"scopes", Json::array({"NotBestEffort"})}, {"hard", {{"pods", "0"}}}};
  kube().Create(kResourceQuotaType, quota);
  const Json nothing = {{"pods", "0"}};
  kube().MergePatch(kResourceQuotaType, "no-pods", {{"status", {{"hard", nothing}, {"used", nothing}}}}, "status");
  SetImage("web", "example.org/app:2");
  WaitForStatus("web", "pool b waits for its image", [&](const Json& status) {
    return At(PoolStatus({{"status", status}}, Pool("b")), "/message") ==
           "the pool's nodes pull the new images before the update: 0 of 1 node has them";
  });
  const std::string uid = UidOf(kube().Get(kDaemonSetType, DaemonSetOf("b")));
  StopOperator();
  StartOperator();
  Barrier();
  EXPECT_EQ(UidOf(kube().Get(kDaemonSetType, DaemonSetOf("b"))), uid);
  EXPECT_EQ(ImageIn("b"), "example.org/app:1");
  kube().Delete(kResourceQuotaType, "no-pods");
  // The DaemonSet controller backs off. A change of the DaemonSet makes it retry immediately.
  kube().MergePatch(kDaemonSetType, DaemonSetOf("b"), {{"metadata", {{"annotations", {{"wake", "up"}}}}}});
  WaitForComplete();
}

TEST_P(PrefetchTest, ServerWithoutImageVolumesIsReportedAndUpdatesDoNotWait) {
  if (ServerKeepsImageVolumes()) GTEST_SKIP() << "this Kubernetes has image volumes";
  Deployed(Json::object());
  SetImage("web", "example.org/app:2");
  WaitForPrefetchCondition("NoImageVolumes");
  WaitForComplete();
  EXPECT_EQ(ImageIn("b"), "example.org/app:2");
}

TEST_P(PrefetchTest, DaemonSetThatNoPoolNeedsIsDeleted) {
  Deployed(Json::object());
  const Json labels = {{kPrefetchLabel, "old"}};
  const Json container = {{"name", "pause"}, {"image", "example.org/pause:1"}};
  Json object = {{"metadata", {{"name", "old"}, {"labels", labels}}}};
  object["metadata"]["ownerReferences"] = {{{"apiVersion", kYurtAppDaemonType.ApiVersion()},
                                            {"kind", kYurtAppDaemonType.kind},
                                            {"name", "web"},
                                            {"uid", UidOf(GetDaemon("web"))},
                                            {"controller", true}}};
  object["spec"] = {
      {"selector", {{"matchLabels", labels}}},
      {"template", {{"metadata", {{"labels", labels}}}, {"spec", {{"containers", Json::array({container})}}}}}};
  kube().Create(kDaemonSetType, object);
  Eventually("the DaemonSet is gone",
             [&]() -> std::string { return kube().Find(kDaemonSetType, "old") ? "the DaemonSet exists" : ""; });
}

}  // namespace
}  // namespace yad::testing
