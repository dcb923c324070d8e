// Tests when the nodepool controller runs if --controllers neither includes nor excludes it.
#include "tests/cluster/nodepool_fixture.h"

namespace yad::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const ResourceType kValidatingWebhookType{"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations",
                                          "ValidatingWebhookConfiguration", false};
constexpr char kCrd[] = "nodepools.apps.openyurt.io";

class NodePoolAutoTest : public NodePoolTest {
 protected:
  void TearDown() override {
    if (HasControlPlane()) {
      const Kube system(kube().client(), "kube-system");
      if (system.Find(kLeaseType, "yurt-manager")) system.Delete(kLeaseType, "yurt-manager");
      if (kube().Find(kValidatingWebhookType, kWebhooks)) kube().Delete(kValidatingWebhookType, kWebhooks);
    }
    NodePoolTest::TearDown();
  }
  // Installs a webhook configuration for this resource, as OpenYurt's chart does. The webhook's Service does not exist,
  // so the selector must not match any object of the tests.
  void AddWebhooks(const std::string& resource) {
    kube().Create(
        kValidatingWebhookType,
        {{"metadata", {{"name", kWebhooks}}},
         {"webhooks",
          {{{"name", "v.v1beta1.nodepool.kb.io"},
            {"clientConfig", {{"service", {{"name", "yurt-manager-webhook-service"}, {"namespace", "kube-system"}}}}},
            {"admissionReviewVersions", {"v1"}},
            {"sideEffects", "None"},
            {"failurePolicy", "Ignore"},
            {"objectSelector", {{"matchLabels", {{"of-no-pool", "x"}}}}},
            {"rules",
             {{{"apiGroups", {"apps.openyurt.io"}},
               {"apiVersions", {"v1beta1"}},
               {"operations", {"CREATE"}},
               {"resources", {resource}}}}}}}}});
  }

  static constexpr char kWebhooks[] = "yurt-manager-validating-webhook-configuration";
};

TEST_F(NodePoolAutoTest, ControllerIsOnAndReportedIfNoOtherControllerManagesThePools) {
  AddWebhooks("yurtappsets");  // as if yurt-manager ran without its nodepool controller
  StartOperator({"--controllers=*"});
  const std::string pool = AddPool("a");
  AddOwnNode("1", pool);
  WaitForPoolStatus(pool, {{"readyNodeNum", 1}});
  Eventually("an event reports that the controller is on",
             [&] { return ::testing::Matches(Contains("NodePoolControllerOn"))(NodeEvents(kCrd)); });
  EXPECT_THAT(op().Log(), HasSubstr("the nodepool controller is on"));
}

TEST_F(NodePoolAutoTest, ControllerIsOffIfWebhooksOfYurtManagerReviewNodePools) {
  AddWebhooks("nodepools");
  StartOperator({"--controllers=*"});
  op().AwaitLog("the nodepool controller is off why=\"OpenYurt's yurt-manager manages the NodePools");
  Eventually("an event reports that the controller is off",
             [&] { return ::testing::Matches(Contains("NodePoolControllerOff"))(NodeEvents(kCrd)); });
  const std::string pool = AddPool("a");
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  EXPECT_TRUE(PoolStatusNow(pool).is_null());
}

TEST_F(NodePoolAutoTest, ControllerIsOffWhileTheLeaseOfYurtManagerIsHeld) {
  Kube(kube().client(), "kube-system")
      .Create(
          kLeaseType,
          {{"metadata", {{"name", "yurt-manager"}}},
           {"spec", {{"holderIdentity", "yurt-manager-1"}, {"renewTime", FormatMicroTime(Clock::Real().WallNow())}}}});
  StartOperator({"--controllers=*"});
  op().AwaitLog("Lease kube-system/yurt-manager is held");
}

TEST_F(NodePoolAutoTest, ControllerIsOffAndReportedIfTheOperatorMayNotPatchNodes) {
  const std::string account = "without-permissions";
  kube().Create({"", "v1", "serviceaccounts", "ServiceAccount", true}, {{"metadata", {{"name", account}}}});
  OperatorOptions options = DefaultOptions();
  options.kubeconfig = plane().TokenKubeconfig(ns(), account);
  options.flags = {"--controllers=*,-yurtappdaemon"};
  OperatorProcess process(options);
  process.WaitUntilReady();
  process.AwaitLog("the operator may not patch nodes");
  EXPECT_EQ(process.Stop(), 0);
}

class ControllersFlagTest : public NodePoolTest {};

TEST_F(ControllersFlagTest, ControllersThatAreNotNamedDoNotRun) {
  StartOperator({"--controllers=nodepool"});
  const std::string pool = AddPool("a");
  AddOwnNode("1", pool);
  CreateDaemon(Daemon("web"));
  WaitForPoolStatus(pool, {{"readyNodeNum", 1}});
  EXPECT_TRUE(At(GetDaemon("web"), "/status").is_null());
  EXPECT_THAT(op().Metrics(), ::testing::Not(HasSubstr("controller=\"yurtappdaemon\"")));
}

TEST_F(ControllersFlagTest, UnknownNamesAndContradictionsAreRejected) {
  const auto rejection = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> command = {YAD_OPERATOR_BINARY};
    command.insert(command.end(), flags.begin(), flags.end());
    const ProcessResult result = RunProcess(command, {});
    EXPECT_EQ(result.exit_code, 2) << result.err;
    return result.err;
  };
  EXPECT_THAT(rejection({"--controllers=nodepools"}), HasSubstr("yurtappdaemon, nodepool, nodepool-autoscaler"));
  EXPECT_THAT(rejection({"--controllers=nodepool,-nodepool"}), HasSubstr("both named and excluded"));
  EXPECT_THAT(rejection({"--controllers=-nodepool"}), HasSubstr("no controller is selected"));
  EXPECT_THAT(rejection({"--controllers=*,-nodepool", "--node-agents=app=proxy"}), HasSubstr("have no effect"));
  EXPECT_THAT(rejection({"--controllers=nodepool", "--webhook-cert-dir=/x"}),
              HasSubstr("needs the controller yurtappdaemon"));
  EXPECT_THAT(rejection({"--node-agents=app in proxy"}), HasSubstr("not a valid label selector"));
}

}  // namespace
}  // namespace yad::testing
