// The bounds of the lists in status.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/yurtappdaemon/observe/pool_phase.h"
#include "tests/unit/yurtappdaemon/builders.h"
#include "tests/unit/yurtappdaemon/status_scene.h"

namespace yad::testing {
namespace {

using ::testing::SizeIs;

// For a new leader, only the entry in status shows that an unhealthy pool has failed, or went offline after its update.
TEST(StatusTest, UnhealthyPoolsAreListedBeforeManyOfflinePools) {
  Scene scene;
  for (int i = 0; i < 501; ++i) scene.objects.pools.push_back(OfflinePoolJson("p" + std::to_string(1000 + i)));
  scene.objects.pools.push_back(PoolJson("p1501"));
  scene.objects.Deployed();
  MakeUnhealthy(scene.objects.workloads[501]);
  const Json status = scene.Status();
  EXPECT_EQ(status["offlinePools"], 501);
  EXPECT_THAT(status["pools"], SizeIs(500));
  EXPECT_EQ(status["pools"][0]["name"], "p1501") << "unhealthy pools must be first";
  EXPECT_EQ(status["pools"][1]["phase"], "Offline");
}

TEST(StatusTest, ListHas500PoolsWithUnhealthyOnesFirstAndCountersAreExact) {
  Scene scene;
  for (int i = 0; i < 502; ++i) scene.objects.pools.push_back(PoolJson("p" + std::to_string(1000 + i)));
  scene.objects.Deployed();
  MakeUnhealthy(scene.objects.workloads[501]);
  const Json status = scene.Status();
  EXPECT_EQ(status["desiredPools"], 502);
  EXPECT_EQ(status["readyPools"], 501);
  EXPECT_EQ(status["replicas"], 502);
  EXPECT_EQ(status["poolsTruncated"], true);
  EXPECT_THAT(status["pools"], SizeIs(500));
  EXPECT_THAT(status["nodepools"], SizeIs(500));
  EXPECT_THAT(status["workloadSummary"], SizeIs(500));
  EXPECT_EQ(status["pools"][0]["name"], "p1501") << "unhealthy pools must be first";
  EXPECT_EQ(status["pools"][1]["name"], "p1000") << "the other pools must be sorted by name";
  EXPECT_EQ(status["nodepools"][0], "p1000");

  scene.objects.pools.resize(500);
  scene.objects.workloads.resize(500);
  const Json small = scene.Status();
  EXPECT_FALSE(small.contains("poolsTruncated"));
  EXPECT_EQ(PatchOf(status, small)["status"]["poolsTruncated"], nullptr) << "the field must be removed";
}

TEST(StatusTest, BoundsTheMessagesOfManyFailedPools) {
  Scene scene;
  for (int i = 0; i < 500; ++i) scene.objects.pools.push_back(PoolJson("p" + std::to_string(1000 + i)));
  scene.objects.Deployed();
  scene.adjust = [](PoolOutcome& result) {
    Fail(result, "Invalid");
    result.failure_message = std::string(4000, 'x');
  };
  const Json status = scene.Status();
  EXPECT_LT(status.dump().size(), 400'000U);
  EXPECT_EQ(StringAt(status["pools"][499], {"message"}), std::string(128, 'x') + "...");
}

// With strategy All, only the previous status shows that a pool was healthy.
TEST(StatusTest, PoolThatATruncatedListOmitsWasReadyBefore) {
  Scene scene;
  for (int i = 0; i < 502; ++i) scene.objects.pools.push_back(PoolJson("p" + std::to_string(1000 + i)));
  scene.objects.Deployed();
  scene.previous = scene.Status();
  EXPECT_EQ(PoolStatus(scene.previous, "p1501"), nullptr);
  MakeUnhealthy(scene.objects.workloads[501]);
  EXPECT_EQ(PoolStatus(scene.Status(), "p1501")["phase"], "Unhealthy");
}

TEST(StatusTest, PoolThatATruncatedListOfUnhealthyPoolsOmitsStaysUpdating) {
  Scene scene;
  for (int i = 0; i < 502; ++i) scene.objects.pools.push_back(PoolJson("p" + std::to_string(1000 + i)));
  scene.objects.Deployed();
  for (Json& workload : scene.objects.workloads) MakeUnhealthy(workload);
  scene.previous = scene.Status();
  ASSERT_EQ(PoolStatus(scene.previous, "p1501"), nullptr);
  for (int i = 0; i < 2; ++i) scene.objects.workloads[i]["status"] = HealthyStatus(scene.objects.workloads[i]);
  EXPECT_EQ(PoolStatus(scene.Status(), "p1501")["phase"], "Updating");
}

// The message shows a new leader that the revision is not the cause.
TEST(StatusTest, TruncatedMessageAboutAMissingPermissionIsNotAFailureOfTheRevision) {
  Scene scene;
  for (int i = 0; i < 500; ++i) scene.objects.pools.push_back(PoolJson("p" + std::to_string(1000 + i)));
  scene.objects.Deployed();
  scene.adjust = [](PoolOutcome& result) {
    Fail(result, "Forbidden");
    result.failure_message = "statefulsets.apps \"" + std::string(52, 'w') +
                             "\" is forbidden: User \"system:serviceaccount:yurtappdaemon:operator\" cannot update "
                             "resource \"statefulsets\" in API group \"apps\" in the namespace \"default\"";
  };
  const Json status = scene.Status();
  const HealthRecord record = RestoreHealth(StatusView(status));
  const auto& rejected = record.at("p1000").rejected;
  ASSERT_TRUE(rejected);
  EXPECT_TRUE(rejected->message.ends_with("..."));
  EXPECT_FALSE(CountsAsFailure(rejected->reason, rejected->message));
  EXPECT_TRUE(CountsAsFailure(rejected->reason, "admission webhook \"policy\" denied the request..."));
}

// Two workloads of one pool share an entry while they are removed, because `pools` is a map by name.
TEST(StatusTest, ListsAPoolOnceIfTwoOfItsWorkloadsAreRemoved) {
  Scene scene = Deployed({PoolJson("a"), PoolJson("b")});
  scene.leaving = {scene.objects.workloads[1], scene.objects.workloads[1]};
  scene.objects.pools.pop_back();
  scene.objects.workloads.pop_back();
  EXPECT_THAT(scene.Status()["pools"], SizeIs(2));
}

TEST(StatusTest, ImagesAreDistinctAndIncludeThoseOfOverrides) {
  Scene scene;
  PodSpecOf(TemplateOf(scene.objects.daemon))["containers"] =
      R"([{"name": "main", "image": "b:1"}, {"name": "x", "image": "a:1"}, {"name": "y", "image": "b:1"}])"_json;
  scene.objects.daemon["spec"]["overrides"] =
      R"([{"pools": ["a"], "images": [{"name": "main", "image": "c:1"}]}])"_json;
  EXPECT_EQ(scene.Status()["images"], "b:1,a:1,c:1");
}

}  // namespace
}  // namespace yad::testing
