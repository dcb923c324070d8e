// kubectl yad: the program as users run it, against a real control plane and a running operator.
#include <gtest/gtest.h>

#include <filesystem>

#include "operator/capacity/autoscaler.h"
#include "operator/capacity/lease.h"
#include "tests/cluster/fixture.h"
#include "tests/cluster/plugin_fixture.h"
#include "tests/support/process.h"
#include "tests/support/yaml.h"

namespace yad::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

INSTANTIATE_BOTH_KINDS(PluginBothKindsTest);

INSTANTIATE_ONE_KIND(PluginOneKindTest, WorkloadKind::kStatefulSet);

INSTANTIATE_TEST_SUITE_P(Kind, PluginOnceTest, ::testing::Values(WorkloadKind::kDeployment), KindName);

TEST_P(PluginOnceTest, StatusWaitsUntilTheRolloutIsComplete) {
  StartTwoPools("OnDelete");
  EXPECT_EQ(YadOut({"status", "web"}), "yurtappdaemon \"web\" successfully rolled out\n");

  SetImage("web", "example.org/app:2");
  Process status(Command({"status", "yad/web", "--timeout=180s"}));
  Eventually("kubectl yad status prints why the pools wait",
             [&] { return status.Output().find("updated when their") != std::string::npos; });
  EXPECT_THAT(YadOut({"status", "web", "--watch=false"}),
              StartsWith("Waiting for the rollout of yurtappdaemon \"web\" to finish: 0 of 2 pools updated (Waiting"));
  EXPECT_THAT(YadErr({"status", "web", "--timeout=1s"}, kTimedOut),
              HasSubstr("error: timed out after 1s, waiting for "));
  ASSERT_EQ(status.ExitCode(), std::nullopt);
  kube().Delete(type(), NameOf(WorkloadOf("web", Pool("a"))));
  Eventually("kubectl yad status prints one updated pool",
             [&] { return status.Output().find("1 of 2 pools updated") != std::string::npos; });
  kube().Delete(type(), NameOf(WorkloadOf("web", Pool("b"))));
  EXPECT_EQ(status.Wait(kEventuallyTimeout), kDone) << status.Errors();
  EXPECT_THAT(status.Output(), EndsWith("yurtappdaemon \"web\" successfully rolled out\n"));
  EXPECT_THAT(status.Output(), Not(HasSubstr("\x1b")));  // the output is not a terminal
}

TEST_P(PluginOnceTest, StatusOfARolloutThatHasStoppedNamesTheFailedPools) {
  StartOperator();
  const std::string a = AddPool("a");
  AddPool("b");
  Json daemon = Daemon("web", 1);  // there is no node, so the pod stays Pending
  daemon["spec"]["workloadTemplate"]["deploymentTemplate"]["spec"]["progressDeadlineSeconds"] = 1;
  daemon["spec"]["overrides"] = {{{"pools", {Pool("b")}}, {"replicas", 0}}};
  CreateDaemon(daemon);
  Process status(Command({"status", "web"}));
  EXPECT_EQ(status.Wait(kEventuallyTimeout), kNo);
  EXPECT_THAT(status.Output(), ContainsRegex("pool " + a + " failed: [A-Za-z]+: "));
  EXPECT_THAT(status.Errors(), AllOf(StartsWith("error: the rollout of yurtappdaemon \"web\" has stopped with 1 of 2 "
                                                "pools updated, 1 failed: ProgressDeadlineExceeded"),
                                     HasSubstr("failed pools: " + a)));
  EXPECT_EQ(Yad({"status", "web", "--watch=false"}).exit_code, kNo);
}

TEST_P(PluginOnceTest, StatusEndsWhenTheDaemonIsDeleted) {
  StartTwoPools("OnDelete");
  SetImage("web", "example.org/app:2");
  Process status(Command({"status", "web"}));
  Eventually("kubectl yad status prints why the pools wait",
             [&] { return status.Output().find("updated when their") != std::string::npos; });
  kube().Delete(kYurtAppDaemonType, "web");
  EXPECT_EQ(status.Wait(kEventuallyTimeout), kFailed);
  EXPECT_THAT(status.Errors(), HasSubstr("has been deleted"));
}

TEST_P(PluginOnceTest, StatusIsRedrawnInPlaceOnATerminal) {
  StartTwoPools("OnDelete");
  const auto on_terminal = [&](std::map<std::string, std::string> env) {
    std::string line;
    for (const std::string& word : Command({"status", "web"})) line += word + " ";
    ProcessOptions options;
    options.env = std::move(env);
    const ProcessResult result = RunProcess({"script", "-qec", "stty cols 60; " + line, "/dev/null"}, options);
    EXPECT_EQ(result.exit_code, 0) << result.out;
    return result.out;
  };
  const std::string drawn = on_terminal({{"TERM", "xterm"}, {"NO_COLOR", ""}, {"LC_ALL", "C.UTF-8"}});
  EXPECT_THAT(drawn, AllOf(HasSubstr("2/2 updated, 2 ready"), HasSubstr("█"), HasSubstr("\x1b[32mReady\x1b[0m"),
                           HasSubstr("\x1b[K"), HasSubstr("successfully rolled out")));
  const std::string plain = on_terminal({{"TERM", "xterm"}, {"NO_COLOR", "1"}, {"LC_ALL", "C"}});
  EXPECT_THAT(plain, AllOf(HasSubstr("####"), HasSubstr("\x1b[K"), Not(HasSubstr("\x1b[32m")), Not(HasSubstr("█"))));
  EXPECT_THAT(on_terminal({{"TERM", "dumb"}}), AllOf(Not(HasSubstr("\x1b")), HasSubstr("successfully rolled out")));
}

TEST_P(PluginOnceTest, PoolsAreListedOneByOneAndDaemonsWithTheirCounts) {
  StartTwoPools();
  const std::string a = Pool("a");
  const std::string table = YadOut({"pools", "web", "-o", "wide"});
  EXPECT_THAT(table, StartsWith("NAME "));
  EXPECT_THAT(table, HasSubstr("WORKLOAD"));
  EXPECT_THAT(table, HasSubstr(NameOf(WorkloadOf("web", a))));
  EXPECT_THAT(YadOut({"pools", "web"}), ::testing::ContainsRegex(a + " +Ready +web-[a-z0-9]+ +0 +0 +[0-9]+s\n"));
  EXPECT_EQ(YadOut({"pools", "web", "-o", "name"}),
            "nodepool.apps.openyurt.io/" + a + "\nnodepool.apps.openyurt.io/" + Pool("b") + "\n");
  const Json pools = Json::parse(YadOut({"pools", "web", "-o", "json"}));
  EXPECT_EQ(pools, At(GetDaemon("web"), "/status/pools"));
  EXPECT_EQ(ParseYaml(YadOut({"pools", "web", "-o", "yaml"})).at(0), pools);

  EXPECT_THAT(YadOut({"pools"}), ::testing::ContainsRegex("web +Deployment +2 +2 +2 +0 +0 +RolloutComplete"));
  EXPECT_THAT(YadOut({"pools", "-A"}), ::testing::ContainsRegex(ns() + " +web +Deployment"));
  EXPECT_EQ(YadOut({"pools", "-o", "name"}), Subject() + "\n");

  Process watch(Command({"pools", "web", "-w"}));
  Eventually("the watch prints both pools", [&] { return watch.Output().find(Pool("b")) != std::string::npos; });
  const std::string before = watch.Output();
  Unselect(a);
  AddPool("c");
  Eventually("the watch prints the new pool", [&] { return watch.Output().find(Pool("c")) != std::string::npos; });
  EXPECT_THAT(watch.Output().substr(before.size()), Not(HasSubstr("NAME")));
}

TEST_P(PluginOnceTest, CapacityCommandShowsAutoscalersAndComputesAPlanFromAFile) {
  const std::string pool = AddPool("a");
  const std::string inventory = Pool("inventory");
  kube().Create(kNodePoolAutoscalerType, {{"metadata", {{"name", pool}}},
                                          {"spec",
                                           {{"nodePool", pool},
                                            {"mode", "Manual"},
                                            {"inventorySelector", {{"matchLabels", {{"inventory", inventory}}}}},
                                            {"standby", {{{"name", "any"}, {"count", 2}}}}}}});
  kube().MergePatch(
      kNodePoolAutoscalerType, pool,
      {{"status",
        {{"leased", 1},
         {"inUse", 1},
         {"standby", {{{"name", "any"}, {"want", 2}, {"have", 0}}}},
         {"shortages", {{{"requirements", Json::object()}, {"pods", Json::array()}, {"reason", "Manual"}}}}}}},
      "status");
  const std::string node = Pool("spare");
  // The taint keeps the pods of other tests away.
  const Json taints = {{{"key", "example.com/spare"}, {"effect", "NoSchedule"}}};
  MakeNode(kube(), node, {{"inventory", inventory}}, taints);
  MakeNode(kube(), Pool("leased"), {{"inventory", inventory}, {kNodePoolLabel, pool}}, taints);
  kube().MergePatch(kNodeType, Pool("leased"),
                    {{"metadata",
                      {{"annotations",
                        {{kLeaseAnnotation, Json{{"pool", pool},
                                                 {"phase", "InUse"},
                                                 {"for", ""},
                                                 {"since", "2026-11-22T00:00:00Z"},
                                                 {"applied", Json::object()}}
                                                .dump()}}}}}});
  EXPECT_THAT(YadOut({"capacity"}), ::testing::ContainsRegex(pool + " +" + pool +
                                                             " +Manual +1 +0 +1 +0 +0 +0 +any 0/2 "
                                                             "+Manual: standby"));
  const std::string details = YadOut({"capacity", "npa/" + pool});
  EXPECT_THAT(details, ::testing::ContainsRegex(Pool("leased") + " +InUse +<none> +[0-9a-z]+ +True"));
  EXPECT_THAT(details, Not(HasSubstr(node + " ")));
  EXPECT_EQ(Json::parse(YadOut({"capacity", pool, "-o", "json"}))["spec"]["nodePool"], pool);
  EXPECT_THAT(YadErr({"capacity", "absent"}, kFailed), HasSubstr("\"absent\" not found"));

  // The second run reads the same objects from a file, but with mode Auto, so that the plan leases a node for the
  // standby.
  Eventually("the node is Ready", [&] {
    return plane().Kubectl({"get", "node", node}).find(" Ready") != std::string::npos;
  });
  std::string snapshot = plane().Kubectl({"get", "npa,nodepool", pool, "-o", "yaml"});
  snapshot.replace(snapshot.find("mode: Manual"), 12, "mode: Auto");
  snapshot += "---\n" + plane().Kubectl({"get", "nodes", "-l", "inventory=" + inventory, "-o", "yaml"}) + "---\n" +
              plane().Kubectl({"get", "pods", "-A", "-o", "yaml"});
  const Json plan = Json::parse(YadOut({"capacity", "plan", "-f", "-", "-o", "json"}, kDone, snapshot));
  EXPECT_EQ(plan["leases"], (Json{{{"node", node}, {"for", "standby"}}})) << plan;
  EXPECT_THAT(YadOut({"capacity", "plan", "-f", "-"}, kDone, snapshot), HasSubstr("standby any"));
  kube().Delete(kNodePoolAutoscalerType, pool);
  for (const char* name : {"spare", "leased"}) kube().Delete(kNodeType, Pool(name));
}

TEST_P(PluginOnceTest, KubectlFindsThePluginAndItsCompletion) {
  StartTwoPools();
  const std::string bin = plane().dir() + "/" + ns() + "-bin";
  std::filesystem::create_directories(bin);
  std::filesystem::create_symlink(YAD_PLUGIN_BINARY, bin + "/kubectl-yad");
  // docs/kubectl-yad.md has this script.
  WriteFile(bin + "/kubectl_complete-yad", "#!/bin/sh\nexec kubectl yad __complete \"$@\"\n");
  std::filesystem::permissions(bin + "/kubectl_complete-yad", std::filesystem::perms::owner_all);
  const std::string assets = AssetsDir(YAD_SOURCE_DIR);
  ProcessOptions options;
  options.env = {{"KUBECONFIG", plane().kubeconfig()}, {"PATH", bin + ":" + assets + ":/usr/bin:/bin"}};
  const auto run = [&](std::vector<std::string> command) {
    const ProcessResult result = RunProcess(command, options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  EXPECT_THAT(run({assets + "/kubectl", "yad", "version"}), StartsWith("kubectl-yad v"));
  EXPECT_THAT(run({assets + "/kubectl", "__complete", "yad", ""}), AllOf(HasSubstr("\nundo"), HasSubstr("status")));
  EXPECT_THAT(run({assets + "/kubectl", "__complete", "yad", "status", "-n", ns(), ""}), StartsWith("web\n:4"));
  EXPECT_THAT(run({YAD_PLUGIN_BINARY, "__complete", "restart", "-n", ns(), "web", "--pool", ""}),
              StartsWith(Pool("a") + "\n" + Pool("b") + "\n"));
  EXPECT_THAT(run({YAD_PLUGIN_BINARY, "__complete", "undo", "-n", ns(), "web", "--to-revision", ""}),
              StartsWith("1\texample.org/app:1\n"));
  // The image may contain any characters, so the completion must not print a line break in it.
  kube().Edit(kYurtAppDaemonType, "web", [this](Json& daemon) { SetImageIn(daemon, "x\n1;reboot"); });
  Eventually("the image belongs to a revision", [&] {
    return run({YAD_PLUGIN_BINARY, "__complete", "undo", "-n", ns(), "web", "--to-revision", ""}).find("\n2\tx") !=
           std::string::npos;
  });
  EXPECT_THAT(run({YAD_PLUGIN_BINARY, "__complete", "undo", "-n", ns(), "web", "--to-revision", ""}),
              ::testing::Not(HasSubstr("\n1;reboot")));
  // Bash splits "--namespace=x" into three words.
  for (const std::string flag : {"-n ", "-n", "--namespace = "}) {
    EXPECT_EQ(run({"bash", "-c",
                   "source <(kubectl-yad completion bash); COMP_WORDS=(kubectl-yad " + flag + ns() +
                       " history w); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _kubectl_yad; echo \"${COMPREPLY[@]}\""}),
              "web\n");
  }
}

TEST_P(PluginOnceTest, ErrorsHaveTheFormatOfKubectlAndContainNoToken) {
  EXPECT_EQ(YadErr({"status", "nope"}, kFailed),
            "Error from server (NotFound): yurtappdaemons.apps.openyurt.io \"nope\" not found in namespace \"" + ns() +
                "\" (kubectl yad pools -A lists all)\n");
  EXPECT_THAT(YadErr({"status", "deployment/web"}, kUsage), HasSubstr("is not a valid YurtAppDaemon"));
  EXPECT_THAT(YadErr({"diff", "-f", "/nonexistent"}, kFailed), HasSubstr("/nonexistent: No such file"));
  const std::string kubeconfig = plane().dir() + "/" + ns() + ".kubeconfig";
  WriteFile(kubeconfig, "{current-context: c, clusters: [{name: c, cluster: {server: 'http://127.0.0.1:" +
                            std::to_string(FreePort()) +
                            "'}}], contexts: [{name: c, context: {cluster: c, user: u}}], users: [{name: u, user: "
                            "{token: sesame}}]}");
  const ProcessResult unreachable =
      RunProcess({YAD_PLUGIN_BINARY, "--kubeconfig", kubeconfig, "pools", "--request-timeout=5s"});
  EXPECT_EQ(unreachable.exit_code, kFailed);
  EXPECT_THAT(unreachable.err, AllOf(StartsWith("Unable to connect to the server: "), Not(HasSubstr("sesame"))));
}

}  // namespace
}  // namespace yad::testing
