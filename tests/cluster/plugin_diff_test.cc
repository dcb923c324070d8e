// kubectl yad diff and render, compared with the writes of the operator.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "operator/workload/merge.h"
#include "tests/cluster/fixture.h"
#include "tests/cluster/plugin_fixture.h"
#include "tests/support/yaml.h"

namespace yad::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_P(PluginBothKindsTest, DiffShowsWhatTheOperatorWouldChange) {
  StartTwoPools("OnDelete");
  EXPECT_EQ(YadOut({"diff", "web"}), "");
  SetImage("web", "example.org/app:2");
  WaitUntilObserved("web");
  const std::string live = YadOut({"diff", "web"}, kNo);
  EXPECT_THAT(live, AllOf(StartsWith("# 2 pools: " + Pool("a") + ", " + Pool("b") + "\n"),
                          HasSubstr("\n-      - image: example.org/app:1\n+      - image: example.org/app:2\n")));
  EXPECT_THAT(live, Not(HasSubstr("resourceVersion")));
  for (const auto& [pool, workload] : ByPool("web")) EXPECT_EQ(ImageOf(workload), "example.org/app:1");
}

TEST_P(PluginBothKindsTest, DiffOfAFileShowsWhatApplyingItWouldChange) {
  StartTwoPools();
  const Json unchanged = Manifest();
  EXPECT_EQ(YadOut({"diff", "-f", "-"}, kDone, unchanged.dump()), "");
  Json file = unchanged;
  file["spec"]["overrides"] = {{{"pools", {Pool("b")}}, {"images", {{{"name", "main"}, {"image", "b:2"}}}}}};
  const Json before = GetDaemon("web");
  const std::string one = YadOut({"diff", "-f", "-"}, kNo, file.dump());
  EXPECT_THAT(one, AllOf(StartsWith("# pool " + Pool("b") + "\n"), HasSubstr("+      - image: b:2\n")));
  EXPECT_THAT(one, Not(HasSubstr(Pool("a"))));
  // The operator makes exactly the changes that the diff shows.
  const WallTime since = Now();
  EXPECT_EQ(VersionOf(GetDaemon("web")), VersionOf(before));
  PatchSpec("web", {{"overrides", file["spec"]["overrides"]}});
  WaitUntilReady("web");
  for (const AuditedRequest& write : WritesSince(since)) {
    if (write.resource != type().resource) continue;
    EXPECT_EQ(write.name, NameOf(WorkloadOf("web", Pool("b"))));
  }
  EXPECT_EQ(YadOut({"diff", "-f", "-"}, kDone, file.dump()), "");

  file["spec"]["nodePools"] = {{"exclude", {Pool("a")}}};
  EXPECT_EQ(YadOut({"diff", "-f", "-"}, kNo, file.dump()),
            "# pool " + Pool("a") + ": " + Workload() + NameOf(WorkloadOf("web", Pool("a"))) + " would be removed\n");
  Json other = unchanged;
  other["metadata"]["name"] = "other";
  EXPECT_THAT(YadOut({"diff", "-f", "-"}, kNo, other.dump()),
              AllOf(HasSubstr("--- /dev/null\n"), HasSubstr("+  name: other-" + Pool("a") + "-")));
  other["spec"].erase("selector");
  EXPECT_EQ(Yad({"diff", "-f", "-"}, other.dump()).exit_code, kFailed);
}

TEST_P(PluginBothKindsTest, RenderPrintsTheWorkloadThatTheOperatorCreates) {
  StartOperator();
  AddPool("a", {{"taints", {{{"key", "site"}, {"value", "a"}, {"effect", "NoSchedule"}}}}}, {{"size", "big"}});
  AddPool("b");
  Json daemon = Daemon("web", 0);
  daemon["spec"]["overrides"] = {
      {{"nodepoolSelector", {{"matchLabels", {{"size", "big"}}}}},
       {"patch", {{"spec", {{"template", {{"metadata", {{"annotations", {{"pool", "{{nodepool-name}}"}}}}}}}}}}}}};
  CreateDaemon(daemon);
  WaitUntilReady("web");
  Json file = Manifest();
  const std::string pools = plane().dir() + "/" + ns() + "-pools.json";
  Json list = {{"apiVersion", "v1"}, {"kind", "List"}, {"items", Json::array()}};
  for (const char* pool : {"a", "b"}) list["items"].push_back(kube().Get(kNodePoolType, Pool(pool)));
  WriteFile(pools, list.dump());
  const std::string uid = UidOf(GetDaemon("web"));
  const std::vector<Json> rendered =
      ParseYaml(YadOut({"render", "-", "--pool-file", pools, "--uid", uid}, kDone, file.dump()));
  ASSERT_EQ(rendered.size(), 2u);
  for (Json workload : rendered) {
    const std::string pool = Annotation(workload, kRefNodePoolAnnotation);
    Json live = WorkloadOf("web", pool);
    EXPECT_EQ(NameOf(workload), NameOf(live));
    EXPECT_EQ(At(workload, "/metadata/ownerReferences"), At(live, "/metadata/ownerReferences"));
    EXPECT_EQ(ThreeWayMerge(workload, workload, live), live);
    // The result is the same after the server has set its defaults.
    workload["metadata"]["name"] = "as-rendered";
    WriteOptions dry_run;
    dry_run.dry_run = true;
    const auto stored = kube().client().Create(type(), workload, dry_run);
    ASSERT_TRUE(stored) << stored.error().ToString();
    live["metadata"]["annotations"].erase("deployment.kubernetes.io/revision");
    for (const char* part : {"/spec", "/metadata/labels", "/metadata/annotations"})
      EXPECT_EQ(At(*stored, part), At(live, part)) << part;
  }
  const Json one =
      Json::parse(YadOut({"render", "-f", "-", "--pool-file", pools, "--pool", Pool("b"), "--uid", uid, "-o", "json"},
                         kDone, file.dump()));
  EXPECT_EQ(NameOf(one), NameOf(WorkloadOf("web", Pool("b"))));
}

TEST_P(PluginOnceTest, SimulationOfAFileWritesNothingAndCountsThePoolsThatABadRevisionReaches) {
  StartTwoPools("RollingUpdate");
  Json manifest = Manifest();
  SetImageIn(manifest, "example.org/app:2");
  const std::string version = VersionOf(GetDaemon("web"));
  EXPECT_THAT(YadOut({"simulate", "-f", "-", "--duration", "2m"}, kDone, manifest.dump()),
              HasSubstr("\nComplete after 4m: 2 of 2 pools get web-"));
  const Json bad = Json::parse(YadOut({"simulate", "-f", "-", "--failing", "-o", "json"}, kDone, manifest.dump()));
  EXPECT_EQ(bad["end"], "FailureBudgetExceeded");
  EXPECT_EQ(bad["poolsReached"], 1);
  EXPECT_THAT(YadOut({"simulate", "web"}), HasSubstr("\nNothing to roll out: all 2 pools have web-"));
  EXPECT_EQ(VersionOf(GetDaemon("web")), version);
  EXPECT_EQ(Revisions("web").size(), 1u);
}

TEST_P(PluginOneKindTest, SimulationFromASnapshotEqualsThatOfTheCluster) {
  StartTwoPools("RollingUpdate");
  SetImage("web", "example.org/app:2");
  WaitUntilReady("web");
  Json manifest = Manifest();
  SetImageIn(manifest, "example.org/app:3");
  manifest["spec"]["updateStrategy"]["rollingUpdate"] = {
      {"groups", {{{"name", "first"}, {"pools", {Pool("b")}}}}}, {"minReadySeconds", 30}, {"onFailure", "Rollback"}};
  const std::string file = ::testing::TempDir() + ns() + "-simulate.json";
  std::ofstream(file) << manifest.dump();
  const std::string now = FormatTime(Now());
  const std::string types = "yurtappdaemons,nodepools,deployments,statefulsets,controllerrevisions,services,configmaps";
  for (const char* format : {"yaml", "json"}) {
    const std::string snapshot = Kubectl({"get", types, "-A", "-o", format});
    for (const std::vector<std::string>& what : std::vector<std::vector<std::string>>{
             {"web"}, {"-f", file}, {"-f", file, "--failing"}, {"-f", file, "--failure-rate=50%", "--runs=20"}}) {
      std::vector<std::string> live{"simulate", "--now", now, "-o", "json"};
      live.insert(live.end(), what.begin(), what.end());
      std::vector<std::string> from{YAD_PLUGIN_BINARY, "-n", ns(), "--kubeconfig=/nonexistent"};
      from.insert(from.end(), live.begin(), live.end());
      from.insert(from.end(), {"--from", "-"});
      const Json expected = Json::parse(YadOut(live));
      ProcessOptions input;
      input.stdin_text = snapshot;
      const ProcessResult result = RunProcess(from, input);
      ASSERT_EQ(result.exit_code, kDone) << result.out << result.err;
      EXPECT_EQ(Json::parse(result.out), expected) << what.back();
      if (what.front() == "web") continue;
      const bool failing = std::count(what.begin(), what.end(), "--failing") > 0;
      EXPECT_EQ(expected["poolsReached"], failing ? 1 : 2);
    }
  }
  std::remove(file.c_str());
}

}  // namespace
}  // namespace yad::testing
