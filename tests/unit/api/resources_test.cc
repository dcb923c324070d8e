#include "operator/api/resources.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace yad {
namespace {

Resources Parse(const Json& list) { return Resources::Parse(&list); }
Json Container(const char* cpu, const char* memory) {
  return {{"name", "c"}, {"resources", {{"requests", {{"cpu", cpu}, {"memory", memory}}}}}};
}

TEST(ResourcesTest, ResourceListIsReadInTheSchedulersUnits) {
  const Resources resources = Parse({{"cpu", "250m"}, {"memory", "1Gi"}, {"pods", 110}, {"nvidia.com/gpu", "2"}});
  EXPECT_EQ(resources.milli_cpu, 250);
  EXPECT_EQ(resources.memory, 1 << 30);
  EXPECT_EQ(resources.pods, 110);
  EXPECT_EQ(resources.Get("nvidia.com/gpu"), 2);
  EXPECT_EQ(resources.Get("cpu"), 250);
  EXPECT_EQ(resources.Get("example.com/none"), 0);
}

TEST(ResourcesTest, InvalidAmountsCountAsZero) {
  EXPECT_EQ(Resources::Parse(nullptr), Resources());
  EXPECT_EQ(Parse("much"), Resources());
  EXPECT_EQ(Parse({{"cpu", "much"}, {"memory", "-1Gi"}, {"pods", Json::array()}}), Resources());
}

TEST(ResourcesTest, EachRequestedResourceMustFit) {
  const Resources room = Parse({{"cpu", "1"}, {"memory", "1Gi"}, {"pods", "1"}});
  EXPECT_TRUE(Parse({{"cpu", "1"}, {"memory", "1Gi"}}).FitsIn(room));
  EXPECT_FALSE(Parse({{"cpu", "1001m"}}).FitsIn(room));
  EXPECT_FALSE(Parse({{"memory", "1025Mi"}}).FitsIn(room));
  EXPECT_FALSE(Parse({{"nvidia.com/gpu", "1"}}).FitsIn(room));
  EXPECT_FALSE(Parse({{"ephemeral-storage", "1"}}).FitsIn(room));
  EXPECT_FALSE(Parse({{"pods", "2"}}).FitsIn(room));
}

TEST(ResourcesTest, OvercommittedResourceHasZeroLeft) {
  Resources room = Parse({{"cpu", "1"}});
  room.Subtract(Parse({{"cpu", "2"}}));
  EXPECT_FALSE(Parse({{"cpu", "1m"}}).FitsIn(room));
  EXPECT_TRUE(Resources().FitsIn(room));
}

TEST(ResourcesTest, SumsBeyondTheRangeAreClamped) {
  Resources sum = Parse({{"memory", "9E"}});
  sum.Add(Parse({{"memory", "9E"}}));
  EXPECT_EQ(sum.memory, std::numeric_limits<std::int64_t>::max());
}

TEST(RequestsOfTest, ContainersAreSummedAndOverheadIsAdded) {
  const Resources requests = RequestsOf(
      {{"spec",
        {{"containers", {Container("100m", "1Mi"), Container("200m", "2Mi")}}, {"overhead", {{"cpu", "50m"}}}}}});
  EXPECT_EQ(requests.milli_cpu, 350);
  EXPECT_EQ(requests.memory, 3 << 20);
  EXPECT_EQ(requests.pods, 1);
}

TEST(RequestsOfTest, InitContainerCountsIfItRequestsMoreThanAllLaterContainers) {
  const Resources requests = RequestsOf(
      {{"spec", {{"containers", {Container("100m", "8Mi")}}, {"initContainers", {Container("500m", "1Mi")}}}}});
  EXPECT_EQ(requests.milli_cpu, 500);
  EXPECT_EQ(requests.memory, 8 << 20);
}

TEST(RequestsOfTest, RequestsOfASidecarAreAddedToThoseOfLaterContainers) {
  Json sidecar = Container("300m", "1Mi");
  sidecar["restartPolicy"] = "Always";
  const Resources requests = RequestsOf(
      {{"spec",
        {{"containers", {Container("100m", "1Mi")}}, {"initContainers", {sidecar, Container("500m", "1Mi")}}}}});
  EXPECT_EQ(requests.milli_cpu, 800);
}

TEST(RequestsOfTest, RequestsOfThePodReplaceThoseOfItsContainers) {
  const Resources requests = RequestsOf(
      {{"spec", {{"containers", {Container("100m", "1Mi")}}, {"resources", {{"requests", {{"cpu", "2"}}}}}}}});
  EXPECT_EQ(requests.milli_cpu, 2000);
  EXPECT_EQ(requests.memory, 1 << 20);
}

}  // namespace
}  // namespace yad
