// kubectl yad explain, for an administrator and for a user who may read one namespace only.
#include <gtest/gtest.h>

#include "tests/cluster/fixture.h"
#include "tests/cluster/plugin_fixture.h"

namespace yad::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class PluginExplainTest : public PluginTest {
 protected:
  // Starts a daemon with one pod. It runs in pool "a", which has one node and closed update windows.
  void StartOnePool() {
    StartOperator();
    AddNode(AddPool("a"));
    Unselect(AddPool("b"));
    Json daemon = Daemon("web", 1);
    const std::string later = FormatTime(Now() + std::chrono::hours(6)).substr(11, 5);
    const Json window = {{"start", later}, {"duration", "1m"}};
    daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"},
                                        {"rollingUpdate", {{"windows", Json::array({window})}}}};
    CreateDaemon(daemon);
    WaitUntilReady("web");
    // The test needs a Lease of the node. KWOK may already have created it.
    const Json lease = {{"apiVersion", "coordination.k8s.io/v1"},
                        {"kind", "Lease"},
                        {"metadata", {{"namespace", "kube-node-lease"}, {"name", Node()}}},
                        {"spec", {{"renewTime", FormatMicroTime(Now())}}}};
    const auto created = kube().client().Create(kLeaseType, lease);
    EXPECT_TRUE(created || created.error().reason == Reason::kAlreadyExists);
  }
  void TearDown() override {
    if (HasControlPlane()) TryKubectl({"delete", "lease", Node(), "--namespace=kube-node-lease", "--ignore-not-found"});
    PluginTest::TearDown();
  }
  std::string Node() const { return Pool("node-0"); }
};
INSTANTIATE_TEST_SUITE_P(Kind, PluginExplainTest, ::testing::Values(WorkloadKind::kDeployment), KindName);

TEST_P(PluginExplainTest, PoolIsShownWithNodesAndGatesAndDaemons) {
  StartOnePool();
  const std::string a = Pool("a");
  const std::string quiet = YadOut({"explain", a});
  EXPECT_THAT(quiet,
              AllOf(HasSubstr("Name:            " + a + "\n"), HasSubstr("Nodes:           1 ready, 0 not ready"),
                    HasSubstr("Hold:            <none>\n"), HasSubstr("Misplaced pods:  <none>\n"),
                    ContainsRegex(Node() + " +True +[0-9ms]+ +[0-9ms]+\n"),
                    ContainsRegex(ns() + " +web +Ready +[0-9ms]+ +web-[a-z0-9]+ +1/1 +<none> +20[0-9TZ:-]+ ")));

  YadOut({"hold", a, "--reason", "stocktaking"});
  SetImage("web", "example.org/app:2");
  WaitForStatus("web", "the pool waits", [&](const Json& status) {
    return At(PoolStatus({{"status", status}}, a), "/waitingFor") == "Hold";
  });
  kube().MergePatch(kNodeType, Node(), {{"metadata", {{"labels", {{kNodePoolLabel, Pool("b")}}}}}});
  const std::string held = YadOut({"explain", a});
  EXPECT_THAT(held, AllOf(HasSubstr("Nodes:           0 ready, 0 not ready"),
                          HasSubstr("Hold:            stocktaking (kubectl yad release " + a + ")\n"),
                          ContainsRegex("Misplaced pods:  1: " + ns() + "/[^ ]+ on " + Node() + "\n"),
                          HasSubstr("the site holds the pool: stocktaking")));
  const Json json = Json::parse(YadOut({"explain", a, "-o", "json"}));
  EXPECT_EQ(At(json, "/hold/reason"), "stocktaking");
  EXPECT_EQ(At(json, "/misplacedPods/list/0/node"), Node());
  EXPECT_EQ(At(json, "/yurtAppDaemons/0/pool/waitingFor"), "Hold");
  EXPECT_EQ(At(json, "/unread"), Json::array());
  EXPECT_THAT(YadOut({"explain", Pool("b")}), HasSubstr("No YurtAppDaemon selects the pool.\n"));
  EXPECT_THAT(YadErr({"explain", "elsewhere"}, kFailed),
              HasSubstr("nodepools.apps.openyurt.io \"elsewhere\" not found"));
}

TEST_P(PluginExplainTest, MissingPermissionsAreListedAndDoNotFailTheCommand) {
  StartOnePool();
  Kubectl({"create", "serviceaccount", "reader"});
  Kubectl({"create", "role", "reader", "--verb=list", "--resource=yurtappdaemons.apps.openyurt.io"});
  Kubectl({"create", "rolebinding", "reader", "--role=reader", "--serviceaccount=" + ns() + ":reader"});
  const auto explain = [&] {
    return RunProcess(
        {YAD_PLUGIN_BINARY, "--kubeconfig=" + plane().TokenKubeconfig(ns(), "reader"), "explain", Pool("a")}, {});
  };
  ProcessResult result;
  Eventually("the user may read the daemon", [&] {
    result = explain();
    return result.out.find(" web ") != std::string::npos ? "" : result.out + result.err;
  });
  EXPECT_EQ(result.exit_code, kDone);
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("Type:            <unreadable>\n"), HasSubstr("Hold:            <unreadable>\n"),
                    HasSubstr("Misplaced pods:  0 (from the YurtAppDaemons' status)\n"),
                    ContainsRegex(ns() + " +web +Ready "), Not(HasSubstr("HEARTBEAT"))));
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("Warning: the NodePool can't be read: "),
                    HasSubstr("Warning: yurtappdaemons outside namespace " + ns() + " can't be read: "),
                    HasSubstr("Warning: pods can't be read: "), HasSubstr("Warning: nodes can't be read: ")));
}

}  // namespace
}  // namespace yad::testing
