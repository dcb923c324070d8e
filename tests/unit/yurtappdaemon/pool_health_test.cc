// The health that a new leader restores from a pool's entry in status.
#include "operator/yurtappdaemon/observe/pool_health.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace yad {
namespace {

PoolHealth Restored(const Json& entry) {
  Json pool = {{"name", "a"}, {"workload", "web-a"}, {"revision", "web-1"}};
  pool.update(entry);
  const Json status = {{"pools", Json::array({pool})}};
  HealthRecord record = RestoreHealth(StatusView(status));
  return record.contains("a") ? record.at("a") : PoolHealth{};
}

TEST(RestoreHealthTest, UnhealthyPoolCountsAsSoakedUnlessStatusHasItsUnhealthySeconds) {
  EXPECT_TRUE(Restored({{"phase", "Unhealthy"}}).soaked);
  const PoolHealth adding = Restored({{"phase", "Unhealthy"}, {"unhealthySeconds", 7}});
  EXPECT_FALSE(adding.soaked);
  EXPECT_TRUE(adding.been_healthy);
  EXPECT_EQ(adding.unhealthy_before, std::chrono::seconds(7));
}

TEST(RestoreHealthTest, SoakingPoolCountsAsHealthyAndNotSoaked) {
  const PoolHealth health = Restored({{"phase", "Soaking"}, {"lastTransitionTime", "2026-01-02T03:04:05Z"}});
  EXPECT_TRUE(health.been_healthy);
  EXPECT_FALSE(health.soaked);
  EXPECT_EQ(FormatTime(health.since), "2026-01-02T03:04:05Z");
}

TEST(RestoreHealthTest, PoolWithRunningChecksHasSoaked) {
  for (const char* phase : {"Verifying", "Unhealthy", "Offline"}) {
    const PoolHealth health =
        Restored({{"phase", phase}, {"reason", "WentDarkAfterUpdate"}, {"check", "smoke"}, {"unhealthySeconds", 7}});
    EXPECT_TRUE(health.soaked) << phase;
    EXPECT_FALSE(health.verified) << phase;
    EXPECT_EQ(health.unhealthy_before, std::chrono::seconds(7)) << phase;
  }
}

TEST(RestoreHealthTest, FailedPoolCountsAsSoakedUnlessAnOlderVersionWroteTheStatus) {
  const auto has_soaked = [](int generation_of_complete) {
    const Json complete = {{"type", "Complete"}, {"status", "True"}, {"observedGeneration", generation_of_complete}};
    const Json pool = {{"name", "a"}, {"phase", "Failed"}, {"reason", "ProgressDeadlineExceeded"}};
    const Json status = {
        {"observedGeneration", 4}, {"conditions", Json::array({complete})}, {"pools", Json::array({pool})}};
    return RestoreHealth(StatusView(status)).at("a").soaked;
  };
  EXPECT_TRUE(has_soaked(4));
  EXPECT_TRUE(has_soaked(0));   // the CRD does not have the field
  EXPECT_FALSE(has_soaked(3));  // kept from a status of a newer version
}

TEST(RestoreHealthTest, TimeOfAnOutageIsNotCounted) {
  EXPECT_TRUE(Restored({{"phase", "Offline"}, {"reason", "SitesOffline"}}).deadline_paused);
  EXPECT_FALSE(Restored({{"phase", "Offline"}, {"reason", "WentDarkAfterUpdate"}}).deadline_paused);
  EXPECT_EQ(Restored({{"phase", "Offline"}, {"reason", "NoReadyNode"}}).state, PoolHealth::State::kOffline);
}

}  // namespace
}  // namespace yad
