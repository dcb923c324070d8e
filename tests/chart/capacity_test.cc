// NodePoolAutoscalers with the chart's CRD, and the webhook that validates them.
#include "operator/capacity/autoscaler.h"
#include "tests/chart/fixture.h"
#include "tests/support/eventually.h"

namespace yad::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CapacityChartTest : public ChartTest {
 protected:
  void TearDown() override {
    if (::testing::Test::IsSkipped()) return;
    for (const char* pool : {"hangzhou", "beijing"}) {
      if (kube().Find(kNodePoolType, pool)) kube().Delete(kNodePoolType, pool);
    }
    for (const Json& node : kube().List(kNodeType)) kube().Delete(kNodeType, NameOf(node));
    ChartTest::TearDown();
  }

  static Json Autoscaler(const std::string& name, const std::string& pool, const Json& spec = Json::object()) {
    Json object = {{"apiVersion", kNodePoolAutoscalerType.ApiVersion()},
                   {"kind", kNodePoolAutoscalerType.kind},
                   {"metadata", {{"name", name}}},
                   {"spec", {{"nodePool", pool}, {"inventorySelector", {{"matchLabels", {{"spare", pool}}}}}}}};
    object["spec"].update(spec);
    return object;
  }
  ProcessResult Try(const Json& object, const std::string& flag = "--dry-run=none") {
    return plane().TryKubectl({"apply", flag, "-f", "-"}, object.dump());
  }
  void Apply(const Json& object) {
    const ProcessResult result = Try(object);
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }
  void ExpectRejected(const Json& object, const std::string& why) {
    const ProcessResult result = Try(object);
    EXPECT_NE(result.exit_code, 0) << object;
    EXPECT_THAT(result.err, HasSubstr(why));
  }
};

TEST_F(CapacityChartTest, InvalidAutoscalersAreRejectedWithTheFieldAndTheConflictingObject) {
  const ChartInstall chart(helm(), plane(), {"capacity", "capacity", {"nodePoolAutoscaler.enabled=true"}});
  auto process = Run(chart);
  kube().Create(kNodePoolType, {{"metadata", {{"name", "hangzhou"}}}});
  kube().Create(kNodePoolType, {{"metadata", {{"name", "beijing"}}}, {"spec", {{"hostNetwork", true}}}});
  MakeNode(kube(), "both", {{"spare", "hangzhou"}, {"zone", "b"}});
  Eventually("the apiserver calls the webhook, and the webhook has the pools", [&] {
    return Try(Autoscaler("beijing", "beijing"), "--dry-run=server").err.find("can't leave") != std::string::npos;
  });

  const Json good = Autoscaler("hangzhou", "hangzhou");
  Apply(good);
  const Json stored = At(kube().Get(kNodePoolAutoscalerType, "hangzhou"), "/spec");
  EXPECT_EQ(stored, Json::parse(R"({
    "nodePool": "hangzhou", "mode": "Auto", "inventorySelector": {"matchLabels": {"spare": "hangzhou"}},
    "minNodes": 0, "maxNodes": 0, "oneNodePerPod": false,
    "scaleUp": {"pendingSeconds": 10, "maxPerCycle": 10, "joinTimeoutSeconds": 300, "retryAfterSeconds": 180},
    "scaleDown": {"idleSeconds": 600, "unhealthySeconds": 90, "maxPerCycle": 1, "reclaimPolicy": "Recycle"}})"));
  EXPECT_THAT(plane().Kubectl({"get", "npa"}),
              StartsWith("NAME       POOL       MODE   LEASED   IDLE   INUSE   JOINING   SHORT   AGE\n"));
  EXPECT_THAT(plane().Kubectl({"explain", "npa.spec.standby"}), HasSubstr("Idle nodes that the pool keeps"));

  ExpectRejected(Autoscaler("more", "hangzhou"),
                 "spec.nodePool: Invalid value: \"hangzhou\": NodePoolAutoscaler "
                 "\"hangzhou\" has this pool");
  ExpectRejected(Autoscaler("same", "other", {{"inventorySelector", {{"matchLabels", {{"spare", "hangzhou"}}}}}}),
                 "NodePoolAutoscaler \"hangzhou\" selects the same Nodes");
  ExpectRejected(Autoscaler("zone", "other", {{"inventorySelector", {{"matchLabels", {{"zone", "b"}}}}}}),
                 "Node \"both\" is in the inventory of NodePoolAutoscaler \"hangzhou\" too");
  ExpectRejected(Autoscaler("beijing", "beijing"),
                 "spec.mode: Invalid value: \"Auto\": pool \"beijing\" has "
                 "spec.hostNetwork: true");
  ExpectRejected(Autoscaler("negative", "other", {{"minNodes", -1}}), "spec.minNodes");
  ExpectRejected(Autoscaler("mode", "other", {{"mode", "Off"}}), "supported values: \"Auto\", \"Manual\", \"Drain\"");
  ExpectRejected(Autoscaler("sum", "other", {{"maxNodes", 1}, {"standby", {{{"name", "s"}, {"count", 2}}}}}),
                 "needs 2 nodes, more than spec.maxNodes (1) allows");
  Json moved = good;
  moved["spec"]["nodePool"] = "beijing";
  ExpectRejected(moved, "spec.nodePool cannot be changed");

  const ProcessResult warned =
      Try(Autoscaler("other", "other", {{"inventorySelector", {{"matchLabels", {{"zone", "c"}}}}}}));
  EXPECT_EQ(warned.exit_code, 0) << warned.err;
  EXPECT_THAT(warned.err, AllOf(HasSubstr("Warning: spec.nodePool: NodePool \"other\" does not exist yet"),
                                HasSubstr("Warning: spec.inventorySelector: a Node could be in the inventory")));
  EXPECT_EQ(process->Stop(), 0);
  for (const AuditedRequest& request : plane().RequestsOf(chart.ns(), chart.name())) {
    EXPECT_FALSE(request.forbidden) << request.verb << " " << request.resource << "/" << request.name;
  }
}

}  // namespace
}  // namespace yad::testing
