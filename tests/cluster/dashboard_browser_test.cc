// The page of kubectl yad dashboard in Chromium, with a real control plane.
#include <unistd.h>

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
  // Starts the dashboard, and runs a script of tests/dashboard on the daemon's page. Skips the test if the browser does
  // not start.
  void RunScript(const std::string& script, const std::vector<std::string>& arguments) {
    StartDashboard();
    std::vector<std::string> command{"/usr/bin/python3",
                                     "-B",  // The folder of the sources gets no bytecode.
                                     YAD_SOURCE_DIR "/tests/dashboard/" + script,
                                     "http://" + host() + root_,
                                     "--daemon",
                                     Key()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const ProcessResult result = RunProcess(command, {}, std::chrono::minutes(20));
    if (result.exit_code == kNoBrowser) GTEST_SKIP() << result.out;
    EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  }

 private:
  static constexpr int kNoBrowser = 77;  // exit code of the scripts
};
INSTANTIATE_TEST_SUITE_P(Kind, DashboardBrowserTest, ::testing::Values(WorkloadKind::kDeployment), KindName);

TEST_P(DashboardBrowserTest, PageWorksInChromium) {
  AddPool("c");
  StartTwoPools();
  UseCanaryAndNorth({Pool("b"), Pool("c")});
  const Json hold = {{"annotations", {{kHoldAnnotation, "<b id=\"markup\">markup</b>"}}}};
  kube().MergePatch(kNodePoolType, Pool("b"), {{"metadata", hold}});
  SetImage("web", "example.org/app:2");
  WaitForStatus("web", "the rollout waits for approval", [](const Json& status) {
    return StringAt(ConditionOf({{"status", status}}, "Progressing"), {"reason"}) == "WaitingForApproval";
  });
  RunScript("page_test.py", {"--group", "north", "--markup-pool", Pool("b")});
}

}  // namespace
}  // namespace yad::testing
