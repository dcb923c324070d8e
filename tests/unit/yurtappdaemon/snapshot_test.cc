#include "operator/yurtappdaemon/observe/snapshot.h"

#include <gtest/gtest.h>

#include "operator/api/well_known.h"
#include "operator/yurtappdaemon/observe/daemon_projection.h"
#include "tests/unit/yurtappdaemon/builders.h"

namespace yad::testing {
namespace {

const PoolProjection& AsPool(const PoolRef& pool) {
  return *static_cast<const PoolProjection*>(pool.object->projection());
}

Json Deployment(const Json& status, std::int64_t replicas = 2) {
  return {{"apiVersion", "apps/v1"},
          {"kind", "Deployment"},
          {"metadata", {{"name", "w"}, {"namespace", kNs}, {"generation", 3}}},
          {"spec", {{"replicas", replicas}}},
          {"status", status}};
}

WorkloadState StateOf(const Json& workload) {
  const WorkloadState state = MakeWorkload(workload).state();
  const StoredObject whole(workload, workload["kind"] == "Deployment" ? ProjectDeployment : ProjectStatefulSet);
  EXPECT_TRUE(state == *static_cast<const WorkloadState*>(whole.projection())) << "a field is not projected";
  return state;
}

TEST(PoolProjectionTest, FingerprintChangesOnlyWithTheInputsOfARendering) {
  const Json base = PoolJson("a", {"x"});
  const std::uint64_t fingerprint = MakePool(base).fingerprint();
  const auto of = [](Json pool, const char* pointer, Json value) {
    pool[Json::json_pointer(pointer)] = std::move(value);
    return MakePool(pool).fingerprint();
  };
  EXPECT_NE(of(base, "/metadata/labels", {{"zone", "north"}}), fingerprint);
  EXPECT_NE(of(base, "/spec/type", "Cloud"), fingerprint);
  EXPECT_NE(of(base, "/spec/taints/0/key", "y"), fingerprint);
  EXPECT_NE(of(base, "/spec/taints/0/effect", "NoExecute"), fingerprint);
  EXPECT_EQ(of(base, "/status", {{"readyNodeNum", 3}}), fingerprint);
  EXPECT_EQ(of(base, "/metadata/annotations", {{"heartbeat", "17"}}), fingerprint);
  EXPECT_EQ(of(base, "/metadata/resourceVersion", "99"), fingerprint);
}

TEST(PoolProjectionTest, ProjectedPartsContainAllFieldsThatAreRead) {
  const Json pool = {
      {"metadata", {{"name", "a"}, {"labels", {{"zone", "n"}}}, {"deletionTimestamp", "2026-01-01T00:00:00Z"}}},
      {"spec",
       {{"type", "Edge"},
        {"labels", {{"l", "1"}}},
        {"annotations", {{"n", "1"}}},
        {"taints", {{{"key", "k"}, {"value", "v"}, {"effect", "NoSchedule"}}}}}},
      {"status", {{"readyNodeNum", 0}, {"unreadyNodeNum", 2}}}};
  const auto projected = [](const Json& object) {
    const auto projection = ProjectPool(object);
    const auto& of = *static_cast<const PoolProjection*>(projection.get());
    return Json{of.pool.name,          of.pool.labels, of.pool.deleting,      of.pool.type,   of.pool.offline,
                of.pool.taints.size(), of.fingerprint, ToJson(of.attributes), of.ready_nodes, of.unready_nodes};
  };
  EXPECT_EQ(projected(JsonDocument::Parse(pool.dump())->TreeOfObject(kProjectedOfPools)), projected(pool));
}

TEST(DaemonProjectionTest, ProjectedPartsContainAllFieldsThatAreRead) {
  Json daemon = DaemonJson();
  daemon["metadata"]["annotations"] = {{kApproveAnnotation, "web-1"}};
  daemon["status"] = {{"updateRevision", "web-1"}};
  const auto projected = [](const Json& object) {
    const auto projection = ProjectDaemon(object);
    const auto& of = *static_cast<const DaemonProjection*>(projection.get());
    EXPECT_TRUE(of.readable);
    EXPECT_TRUE(of.pools.Selects(MakePool(PoolJson("a")).pool()));
    return Json{of.selector.ToString(), of.pod_labels, of.annotations_of_ours};
  };
  EXPECT_EQ(projected(JsonDocument::Parse(daemon.dump())->TreeOfObject(kProjectedOfDaemons)), projected(daemon));
}

TEST(PoolProjectionTest, PoolThatCountsZeroReadyNodesIsOffline) {
  EXPECT_FALSE(AsPool(MakePool(PoolJson("a"))).pool.offline) << "a pool without counts is not offline";
  EXPECT_TRUE(AsPool(MakePool(OfflinePoolJson("a"))).pool.offline);
}

struct HealthCase {
  const char* name;
  Json status;
  bool healthy;
};

TEST(WorkloadStateTest, ADeploymentIsHealthyWhenKubectlRolloutStatusSucceeds) {
  const HealthCase cases[] = {
      {"all there",
       {{"observedGeneration", 3}, {"replicas", 2}, {"updatedReplicas", 2}, {"availableReplicas", 2}},
       true},
      {"of an older generation",
       {{"observedGeneration", 2}, {"replicas", 2}, {"updatedReplicas", 2}, {"availableReplicas", 2}},
       false},
      {"one not updated",
       {{"observedGeneration", 3}, {"replicas", 2}, {"updatedReplicas", 1}, {"availableReplicas", 2}},
       false},
      {"an old one left",
       {{"observedGeneration", 3}, {"replicas", 3}, {"updatedReplicas", 2}, {"availableReplicas", 3}},
       false},
      {"one not available",
       {{"observedGeneration", 3}, {"replicas", 2}, {"updatedReplicas", 2}, {"availableReplicas", 1}},
       false},
      {"no status", Json::object(), false},
      {"nonsense", {{"observedGeneration", "3"}, {"replicas", Json::array()}}, false},
  };
  for (const HealthCase& c : cases) EXPECT_EQ(StateOf(Deployment(c.status)).healthy, c.healthy) << c.name;
  EXPECT_TRUE(StateOf(Deployment({{"observedGeneration", 3}}, 0)).healthy) << "the spec has zero replicas";
}

TEST(WorkloadStateTest, ProgressDeadlineExceededCountsOnlyForItsGeneration) {
  Json status = {{"observedGeneration", 3},
                 {"replicas", 2},
                 {"updatedReplicas", 1},
                 {"conditions",
                  {{{"type", "Progressing"},
                    {"status", "False"},
                    {"reason", "ProgressDeadlineExceeded"},
                    {"message", "too late"}}}}};
  EXPECT_TRUE(StateOf(Deployment(status)).progress_deadline_exceeded);
  EXPECT_EQ(StateOf(Deployment(status)).failure_message, "too late");
  status["observedGeneration"] = 2;
  EXPECT_FALSE(StateOf(Deployment(status)).progress_deadline_exceeded);
}

TEST(WorkloadStateTest, AStatefulSetIsHealthyOnceItsUpdateHasEnded) {
  const auto state_of = [](const Json& strategy, const Json& more, int wanted = 2) {
    Json set = Deployment({{"observedGeneration", 3},
                           {"replicas", 2},
                           {"readyReplicas", 2},
                           {"availableReplicas", 2},
                           {"updatedReplicas", 2},
                           {"currentRevision", "r2"},
                           {"updateRevision", "r2"}},
                          wanted);
    set["kind"] = "StatefulSet";
    set["status"].update(more);
    if (!strategy.is_null()) set["spec"]["updateStrategy"] = strategy;
    return StateOf(set);
  };
  const auto healthy = [&](const Json& strategy, const Json& more) { return state_of(strategy, more).healthy; };
  const Json partition = {{"type", "RollingUpdate"}, {"rollingUpdate", {{"partition", 1}}}};
  const Json old_left = {{"currentRevision", "r1"}, {"updatedReplicas", 1}};
  EXPECT_TRUE(healthy(nullptr, Json::object()));
  EXPECT_FALSE(healthy(nullptr, old_left));
  EXPECT_TRUE(healthy(partition, old_left)) << "pods below the StatefulSet's own partition need no update";
  EXPECT_FALSE(healthy(partition, {{"currentRevision", "r1"}, {"updatedReplicas", 0}}));
  // After an undo in the middle of an update, currentRevision and updateRevision are equal immediately.
  EXPECT_FALSE(healthy(nullptr, {{"updatedReplicas", 1}})) << "a pod still has the undone template";
  EXPECT_FALSE(healthy(partition, {{"updatedReplicas", 0}}));
  EXPECT_EQ(state_of(nullptr, {{"updatedReplicas", 1}}).steady_replicas, -1);
  EXPECT_EQ(state_of(nullptr, Json::object(), 3).steady_replicas, 2)
      << "the StatefulSet scales up, and no pod has the old template";
  EXPECT_TRUE(healthy({{"type", "OnDelete"}}, old_left)) << "with OnDelete, no pod needs an update";
  EXPECT_FALSE(healthy(nullptr, {{"readyReplicas", 1}}));
  EXPECT_FALSE(healthy(nullptr, {{"availableReplicas", 1}}));
  EXPECT_FALSE(healthy(nullptr, {{"replicas", 3}}));
  EXPECT_FALSE(healthy(nullptr, {{"observedGeneration", 2}}));
}

TEST(WorkloadStateTest, PoolIsReadFromTheImmutableSelectorNotFromTheLabel) {
  Json workload = Deployment(Json::object());
  workload["metadata"]["labels"] = {{kPoolNameLabel, "edited"}};
  EXPECT_EQ(MakeWorkload(workload).pool, "edited") << "without the selector, the label is used";
  workload["spec"]["selector"]["matchLabels"][kPoolNameLabel] = "a";
  EXPECT_EQ(MakeWorkload(workload).pool, "a");
}

// The projected parts contain each value that the projection depends on.
TEST(WorkloadStateTest, ProjectedPartsContainAllFieldsThatAreRead) {
  const Json status = {
      {"observedGeneration", 3},
      {"replicas", 2},
      {"readyReplicas", 2},
      {"availableReplicas", 2},
      {"updatedReplicas", 1},
      {"currentRevision", "r1"},
      {"updateRevision", "r2"},
      {"conditions",
       {{{"type", "Available"}, {"status", "True"}},
        {{"type", "Progressing"}, {"status", "False"}, {"reason", "ProgressDeadlineExceeded"}, {"message", "m"}},
        {{"type", "ReplicaFailure"}, {"status", "True"}, {"message", "exceeded quota: q"}}}}};
  const Json spec = {{"replicas", 2},
                     {"selector", {{"matchLabels", {{kPoolNameLabel, "a"}}}}},
                     {"podManagementPolicy", "Parallel"},
                     {"updateStrategy", {{"type", "RollingUpdate"}, {"rollingUpdate", {{"partition", 1}}}}}};
  for (const char* kind : {"Deployment", "StatefulSet"}) {
    Json workload = Deployment(status);
    workload["kind"] = kind;
    workload["spec"] = spec;
    StateOf(workload);
    const Json leaves = workload.flatten();
    for (const auto& [pointer, value] : leaves.items()) {
      if (pointer == "/kind") continue;
      Json other = workload;
      other[Json::json_pointer(pointer)] = value.is_number() ? Json(value.get<int>() + 1) : Json("another");
      StateOf(other);
    }
  }
}

TEST(RevisionProjectionTest, IgnoresARevisionWithoutATemplate) {
  const auto digest = [](const Json& object) {
    const StoredObject stored(object, ProjectRevision);
    return static_cast<const RevisionProjection*>(stored.projection())->digest_hash;
  };
  EXPECT_EQ(digest({{"metadata", {{"name", "x"}}}, {"data", "text"}, {"revision", 4}}), 0U);
  const YurtAppDaemon daemon = *ParseYurtAppDaemon(DaemonJson());
  EXPECT_EQ(digest(MakeControllerRevision(daemon, ContentOf(daemon), "h", 4)), Fnv1a64(ContentOf(daemon).digest));
}

TEST(WorkloadStateTest, MessageOfARejectedPodOmitsPartsThatChange) {
  const auto state_of = [](const std::string& pod, const char* used) {
    Json deployment = {{"kind", "Deployment"}, {"metadata", {{"generation", 1}}}, {"spec", {{"replicas", 1}}}};
    deployment["status"] = {{"observedGeneration", 1}};
    deployment["status"]["conditions"] = {{{"type", "ReplicaFailure"},
                                           {"status", "True"},
                                           {"message", "pods \"" + pod +
                                                           "\" is forbidden: exceeded quota: q, requested: "
                                                           "pods=1, used: pods=" +
                                                           used + ", limited: pods=2"}}};
    const auto projection = ProjectDeployment(deployment);
    return *static_cast<const WorkloadState*>(projection.get());
  };
  EXPECT_EQ(state_of("web-a", "1").rejection, "exceeded quota: q, requested: pods=1, limited: pods=2");
  EXPECT_TRUE(state_of("web-a", "1") == state_of("web-b", "2")) << "a further rejected attempt is not a change";
}

}  // namespace
}  // namespace yad::testing
