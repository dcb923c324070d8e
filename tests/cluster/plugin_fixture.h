// kubectl yad as a process, with an operator and two pools.
#ifndef TESTS_CLUSTER_PLUGIN_FIXTURE_H_
#define TESTS_CLUSTER_PLUGIN_FIXTURE_H_

#include "tests/cluster/fixture.h"
#include "tests/support/process.h"

namespace yad::testing {

class PluginTest : public BothKinds {
 protected:
  // The exit codes of plugin/commands/options.h. They are repeated here, because scripts rely on the numbers.
  static constexpr int kDone = 0;
  static constexpr int kNo = 1;
  static constexpr int kUsage = 2;
  static constexpr int kFailed = 3;
  static constexpr int kTimedOut = 4;
  static constexpr char kRestartedAt[] = "kubectl.kubernetes.io/restartedAt";
  static constexpr char kPoolRestartedAt[] = "apps.openyurt.io/restartedAt";

  std::vector<std::string> Command(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {YAD_PLUGIN_BINARY, "--kubeconfig=" + plane().kubeconfig(), "-n", ns()});
    return arguments;
  }
  ProcessResult Yad(std::vector<std::string> arguments, const std::string& input = "") {
    ProcessOptions options;
    options.stdin_text = input;
    return RunProcess(Command(std::move(arguments)), options);
  }
  // Runs the plugin, which must exit with `code`; returns stdout.
  std::string YadOut(std::vector<std::string> arguments, int code = kDone, const std::string& input = "") {
    const ProcessResult result = Yad(arguments, input);
    EXPECT_EQ(result.exit_code, code) << arguments.front() << ": " << result.out << result.err;
    return result.out;
  }
  // Runs the plugin, which must exit with `code`; returns stderr.
  std::string YadErr(std::vector<std::string> arguments, int code) {
    const ProcessResult result = Yad(arguments);
    EXPECT_EQ(result.exit_code, code) << arguments.front() << ": " << result.out << result.err;
    return result.err;
  }
  // Creates two pools "a" and "b", without pods, on image app:1, and waits until the daemon is Ready.
  void StartTwoPools(const std::string& strategy = "All") {
    StartOperator();
    AddPool("a");
    AddPool("b");
    Json daemon = Daemon("web");
    daemon["spec"]["updateStrategy"] = {{"type", strategy}};
    CreateDaemon(daemon);
    WaitUntilReady("web");
  }
  // Sets a RollingUpdate: group "canary" is pool "a", and group "north" needs an approval.
  void UseCanaryAndNorth(const std::vector<std::string>& north) {
    const Json groups = {{{"name", "canary"}, {"pools", {Pool("a")}}},
                         {{"name", "north"}, {"pools", north}, {"approval", "Manual"}}};
    PatchSpec("web", {{"updateStrategy", {{"type", "RollingUpdate"}, {"rollingUpdate", {{"groups", groups}}}}}});
  }
  std::string Subject() const { return "yurtappdaemon.apps.openyurt.io/web"; }
  std::string Workload() const {
    return kind() == WorkloadKind::kDeployment ? "deployment.apps/" : "statefulset.apps/";
  }
  // Returns the daemon as a manifest, without the fields that only the server sets. Keeps the server's defaults.
  Json Manifest() {
    Json manifest = GetDaemon("web");
    manifest.erase("status");
    Json& metadata = manifest["metadata"];
    for (const char* field : {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"})
      metadata.erase(field);
    return manifest;
  }
  void SetImageIn(Json& daemon, const std::string& image) {
    daemon["spec"]["workloadTemplate"][TemplateField(kind())]["spec"]["template"]["spec"]["containers"][0]["image"] =
        image;
  }
};
using PluginBothKindsTest = PluginTest;

// Tests that run for one kind, and with YAD_ALL=1 for both kinds.
class PluginOneKindTest : public PluginTest {};

// Tests that do not depend on the kind of the workloads.
class PluginOnceTest : public PluginTest {};

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_PLUGIN_FIXTURE_H_
