// The page of kubectl yad dashboard in Chromium, with a real control plane.
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <map>

#include "tests/cluster/dashboard_fixture.h"

namespace yad::testing {
namespace {

class DashboardBrowserTest : public DashboardTest {
 protected:
  void SetUp() override {
    for (const char* program : {"/usr/bin/chromium", "/usr/bin/chromedriver"}) {
      if (access(program, X_OK) != 0) GTEST_SKIP() << program << " is not installed: hack/packages.sh browser";
    }
    DashboardTest::SetUp();
  }
  // Starts the dashboard, and runs a script of tests/dashboard on the daemon's page. If no browser starts, skips the
  // test.
  void RunScript(const std::string& script, const std::vector<std::string>& arguments) {
    StartDashboard();
    std::vector<std::string> command{"/usr/bin/python3",
                                     "-B",  // Python must not write bytecode into the source tree.
                                     YAD_SOURCE_DIR "/tests/dashboard/" + script,
                                     "http://" + host() + root_,
                                     "--daemon",
                                     Key()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const ProcessResult result = RunProcess(command, {}, std::chrono::minutes(20));
    if (result.exit_code == kNoBrowser) GTEST_SKIP() << result.out;
    EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
    output_ = result.out;
  }

  std::string output_;  // of the script

 private:
  static constexpr int kNoBrowser = 77;  // exit code of the scripts
};
INSTANTIATE_TEST_SUITE_P(Kind, DashboardBrowserTest, ::testing::Values(WorkloadKind::kDeployment), KindName);

TEST_P(DashboardBrowserTest, PagePassesItsChecksInChromium) {
  AddPool("c");
  StartTwoPools();
  UseCanaryAndNorth({Pool("b"), Pool("c")});
  const Json hold = {{"annotations", {{kHoldAnnotation, "<b id=\"markup\">markup</b>"}}}};
  kube().MergePatch(kNodePoolType, Pool("b"), {{"metadata", hold}});
  SetImage("web", "example.org/app:2");
  WaitForStatus("web", "the rollout waits for approval", [](const Json& status) {
    return StringAt(ConditionOf({{"status", status}}, "Progressing"), {"reason"}) == "WaitingForApproval";
  });
  std::vector<std::string> arguments{"--group", "north", "--markup-pool", Pool("b")};
  const ProcessResult axe = RunProcess({YAD_SOURCE_DIR "/hack/axe.sh", "path"});
  if (axe.exit_code == 0) arguments.insert(arguments.end(), {"--axe", axe.out.substr(0, axe.out.find('\n'))});
  RunScript("page_test.py", arguments);
  if (axe.exit_code != 0) std::cerr << "axe-core has not checked the page: hack/axe.sh installs it\n";
}

TEST_P(DashboardBrowserTest, PageShowsAnOutageOfTheApiserverInChromium) {
  StartTwoPools();
  RunScript("outage_test.py", {"--cluster", plane().dir(), "--", YAD_SOURCE_DIR "/hack/cluster.sh"});
  if (IsSkipped()) return;
  EXPECT_EQ(At(GetDaemon("web"), "/spec/paused"), true);
}

TEST_P(DashboardBrowserTest, TilesOfFiveThousandPoolsArePaintedInChromium) {
  if (!RunsEverything()) GTEST_SKIP() << "takes a minute; set YAD_ALL=1";
  StartOperator();
  const int count = 5000;
  for (int i = 0; i < count; ++i) AddPool("p" + std::to_string(10000 + i));
  Json daemon = Daemon("web");
  daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}};
  CreateDaemon(daemon);
  Eventually(
      "all pools are ready", [&] { return At(GetDaemon("web"), "/status/readyPools") == count; },
      std::chrono::minutes(10));
  RunScript("paint.py", {"--pools", std::to_string(count), "--screenshots", plane().dir()});
  std::cerr << output_;
}

class DashboardRolloutTest : public DashboardBrowserTest {
 protected:
  static inline const int kPools = RunsEverything() ? 300 : 120;
  static inline const int kNorth = kPools / 5;

  // Writes the manifests that the script applies. Only the canary has a pod; the other pools are healthy immediately.
  void WriteManifests(const std::string& folder) {
    const std::string canary = Pool("p000");
    Json daemon = Daemon("web");
    daemon["apiVersion"] = "apps.openyurt.io/v1alpha1";
    daemon["kind"] = "YurtAppDaemon";
    daemon["metadata"]["namespace"] = ns();
    const Json groups = {
        {{"name", "canary"}, {"pools", {canary}}},
        {{"name", "north"}, {"nodepoolSelector", {{"matchLabels", {{"zone", "north"}}}}}, {"approval", "Manual"}}};
    daemon["spec"]["updateStrategy"] = {
        {"type", "RollingUpdate"},
        {"rollingUpdate", {{"maxUnavailable", kPools / 10}, {"onFailure", "Rollback"}, {"groups", groups}}}};
    daemon["spec"]["overrides"] = {{{"pools", {canary}}, {"replicas", 1}}};
    WriteFile(folder + "/first.json", daemon.dump());
    SetImageIn(daemon, "example.org/app:3");
    WriteFile(folder + "/good.json", daemon.dump());
    // This rollout soon fails: no node matches the pod, and the progress deadline is short.
    SetImageIn(daemon, "example.org/app:2");
    Json& workload = daemon["spec"]["workloadTemplate"][TemplateField(kind())]["spec"];
    workload["progressDeadlineSeconds"] = 5;
    workload["template"]["spec"]["nodeSelector"] = {{"no-such", "node"}};
    WriteFile(folder + "/rollback.json", daemon.dump());
    daemon["spec"]["updateStrategy"]["rollingUpdate"]["onFailure"] = "Pause";
    WriteFile(folder + "/failing.json", daemon.dump());
  }
};
INSTANTIATE_TEST_SUITE_P(Kind, DashboardRolloutTest, ::testing::Values(WorkloadKind::kDeployment), KindName);

TEST_P(DashboardRolloutTest, PageShowsRolloutsOfManyPoolsInChromium) {
  StartOperator();
  for (int i = 0; i < kPools; ++i) {
    const Json zone = {{"zone", i > 0 && i <= kNorth ? "north" : "south"}};
    AddPool("p" + std::to_string(1000 + i).substr(1), Json::object(), zone);
  }
  AddNode(Pool("p000"));
  const std::string folder = plane().dir() + "/" + ns() + "-dashboard";
  std::filesystem::create_directory(folder);
  WriteManifests(folder);
  RunScript("rollout_test.py", {"--pools", std::to_string(kPools), "--canary", Pool("p000"), "--group", "north",
                                "--manifests", folder, "--screenshots", folder, "--",
                                AssetsDir(YAD_SOURCE_DIR) + "/kubectl", "--kubeconfig=" + plane().kubeconfig(),
                                "--cache-dir=" + plane().dir() + "/kubectl-cache", "apply", "--filename"});
  if (IsSkipped()) return;
  EXPECT_THAT(Annotation(GetDaemon("web"), kApproveAnnotation), ::testing::EndsWith("/north"));
  std::map<std::string, int> images;
  for (const auto& [pool, workload] : ByPool("web")) ++images[ImageOf(workload)];
  EXPECT_EQ(images, (std::map<std::string, int>{{"example.org/app:3", kPools}}));
}

}  // namespace
}  // namespace yad::testing
