#include "operator/nodepool/node_loads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/cluster/informers.h"

namespace yad {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NodeLoadsTest : public ::testing::Test {
 protected:
  NodeLoadsTest() {
    AddPodsByNode(store_);
    store_.Replace({}, "1");
  }

  static Json PodJson(const std::string& name, const std::string& node, const char* cpu = "100m") {
    return {{"apiVersion", "v1"},
            {"kind", "Pod"},
            {"metadata", {{"name", name}, {"namespace", "ns"}, {"uid", name}, {"labels", {{"app", name}}}}},
            {"spec", {{"nodeName", node}, {"containers", {{{"resources", {{"requests", {{"cpu", cpu}}}}}}}}}},
            {"status", {{"phase", "Running"}, {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}};
  }
  // Stores the pod as the informer does. Returns the nodes whose load has changed.
  std::vector<std::string> Put(Json pod) {
    pod["metadata"]["resourceVersion"] = std::to_string(++version_);
    options_.transform(pod);
    const auto change = store_.Apply(std::make_shared<StoredObject>(pod, options_.project));
    return loads_.Changed(*change);
  }
  std::vector<std::string> Remove(Json pod) {
    pod["metadata"]["resourceVersion"] = std::to_string(++version_);
    const auto change = store_.Remove(std::make_shared<StoredObject>(pod, options_.project));
    return loads_.Changed(*change);
  }
  std::int64_t MilliCpu(const std::string& node) { return loads_.Of(node)->requested.milli_cpu; }

  int version_ = 1;
  const ReflectorOptions options_ = WatchPods({*LabelSelector::ParseText("app=agent")});
  Store store_;
  NodeLoads loads_{store_};
};

TEST_F(NodeLoadsTest, RequestsOfTheNodesPodsAreSummedAndUpdated) {
  EXPECT_EQ(MilliCpu("n"), 0);
  EXPECT_THAT(Put(PodJson("a", "n")), ElementsAre("n"));
  EXPECT_EQ(MilliCpu("n"), 100);
  EXPECT_THAT(Put(PodJson("b", "n", "1")), ElementsAre("n"));
  EXPECT_THAT(Put(PodJson("c", "other")), ElementsAre("other"));
  EXPECT_EQ(MilliCpu("n"), 1100);
  EXPECT_EQ(loads_.Of("n")->requested.pods, 2);
  EXPECT_THAT(Put(PodJson("b", "n", "2")), ElementsAre("n"));  // resized in place
  EXPECT_EQ(MilliCpu("n"), 2100);
  EXPECT_THAT(Remove(PodJson("a", "n")), ElementsAre("n"));
  EXPECT_EQ(MilliCpu("n"), 2000);
}

TEST_F(NodeLoadsTest, UnscheduledAndFinishedPodsCountForNoNode) {
  Json waiting = PodJson("a", "");
  EXPECT_THAT(Put(waiting), IsEmpty());
  EXPECT_THAT(Put(PodJson("a", "n")), ElementsAre("n"));
  Json ended = PodJson("a", "n");
  ended["status"]["phase"] = "Succeeded";
  EXPECT_THAT(Put(ended), ElementsAre("n"));
  EXPECT_EQ(MilliCpu("n"), 0);
}

TEST_F(NodeLoadsTest, StatusThatChangesNoRequestIsIgnored) {
  Put(PodJson("a", "n"));
  Json pod = PodJson("a", "n");
  pod["status"]["conditions"][0]["status"] = "False";
  pod["metadata"]["labels"]["x"] = "y";
  EXPECT_THAT(Put(pod), IsEmpty());
}

TEST_F(NodeLoadsTest, AnAgentThatIsNotReadyIsReportedUnlessItIsBeingReplaced) {
  Json agent = PodJson("agent", "n");
  Put(agent);
  EXPECT_THAT(loads_.Of("n")->agents_not_ready, IsEmpty());
  agent["status"]["conditions"][0]["status"] = "False";
  EXPECT_THAT(Put(agent), ElementsAre("n"));
  EXPECT_THAT(loads_.Of("n")->agents_not_ready, ElementsAre("ns/agent"));
  agent["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_THAT(Put(agent), ElementsAre("n"));
  EXPECT_THAT(loads_.Of("n")->agents_not_ready, IsEmpty());
}

TEST_F(NodeLoadsTest, LoadsOfNodesThatWereNeverReadAreNotStored) {
  Put(PodJson("a", "no-pool-has-this-node"));
  EXPECT_EQ(loads_.remembered(), 0U);
  Put(PodJson("b", "n"));
  EXPECT_TRUE(loads_.Of("n"));
  EXPECT_EQ(loads_.remembered(), 1U);
}

TEST_F(NodeLoadsTest, LoadOfADeletedNodeIsNotKeptAfterItsPodsAreDeleted) {
  Put(PodJson("a", "n"));
  Put(PodJson("b", "n"));
  EXPECT_EQ(MilliCpu("n"), 200);
  Remove(PodJson("a", "n"));
  Remove(PodJson("b", "n"));
  EXPECT_EQ(loads_.remembered(), 0U);
}

TEST_F(NodeLoadsTest, LoadsAreUnknownBeforeTheFirstListOfPods) {
  Store empty;
  AddPodsByNode(empty);
  NodeLoads loads(empty);
  ASSERT_FALSE(loads.Of("n"));
  EXPECT_EQ(loads.Of("n").error().reason, Reason::kNotSynced);
}

}  // namespace
}  // namespace yad
