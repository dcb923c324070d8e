// kubectl yad: the program as users run it, against a real control plane and a running operator.
#include <filesystem>

#include "operator/capacity/autoscaler.h"
#include "operator/capacity/lease.h"
#include "operator/workload/merge.h"
#include "tests/cluster/fixture.h"
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

// The exit codes of plugin/exit_code.h; scripts rely on the numbers.
constexpr int kDone = 0;
constexpr int kNo = 1;
constexpr int kUsage = 2;
constexpr int kFailed = 3;
constexpr int kTimedOut = 4;

constexpr char kRestartedAt[] = "kubectl.kubernetes.io/restartedAt";
constexpr char kPoolRestartedAt[] = "apps.openyurt.io/restartedAt";

class PluginTest : public BothKinds {
 protected:
  std::vector<std::string> Command(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {YAD_PLUGIN_BINARY, "--kubeconfig=" + plane().kubeconfig(), "-n", ns()});
    return arguments;
  }
  ProcessResult Yad(std::vector<std::string> arguments, const std::string& input = "") {
    ProcessOptions options;
    options.stdin_text = input;
    return RunProcess(Command(std::move(arguments)), options);
  }
  // Runs the plugin, which must end with `code`; returns stdout.
  std::string YadOut(std::vector<std::string> arguments, int code = kDone, const std::string& input = "") {
    const ProcessResult result = Yad(arguments, input);
    EXPECT_EQ(result.exit_code, code) << arguments.front() << ": " << result.out << result.err;
    return result.out;
  }
  // Runs the plugin, which must end with `code`; returns stderr.
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
  std::string Subject() const { return "yurtappdaemon.apps.openyurt.io/web"; }
  std::string Workload() const {
    return kind() == WorkloadKind::kDeployment ? "deployment.apps/" : "statefulset.apps/";
  }
  // Returns the daemon's manifest as a file, with everything that the server has added.
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
INSTANTIATE_BOTH_KINDS(PluginBothKindsTest);
// Tests that do not depend on the kind.
class PluginOnceTest : public PluginTest {};
INSTANTIATE_TEST_SUITE_P(Kind, PluginOnceTest, ::testing::Values(WorkloadKind::kDeployment), KindName);

TEST_P(PluginOnceTest, StatusWaitsUntilTheRolloutIsComplete) {
  StartTwoPools("OnDelete");
  EXPECT_EQ(YadOut({"status", "web"}), "yurtappdaemon \"web\" successfully rolled out\n");

  SetImage("web", "example.org/app:2");
  Process status(Command({"status", "yad/web", "--timeout=60s"}));
  Eventually("it says what it waits for",
             [&] { return status.Output().find("updated when their") != std::string::npos; });
  EXPECT_THAT(YadOut({"status", "web", "--watch=false"}),
              StartsWith("Waiting for the rollout of yurtappdaemon \"web\" to finish: 0 of 2 pools updated (Waiting"));
  EXPECT_THAT(YadErr({"status", "web", "--timeout=1s"}, kTimedOut), HasSubstr("error: timed out waiting"));
  ASSERT_EQ(status.ExitCode(), std::nullopt);
  kube().Delete(type(), NameOf(WorkloadOf("web", Pool("a"))));
  Eventually("it tells of the first pool",
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
  Eventually("it waits", [&] { return status.Output().find("updated when their") != std::string::npos; });
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
  Eventually("the watch shows both", [&] { return watch.Output().find(Pool("b")) != std::string::npos; });
  const std::string before = watch.Output();
  Unselect(a);
  AddPool("c");
  Eventually("and what is new", [&] { return watch.Output().find(Pool("c")) != std::string::npos; });
  EXPECT_THAT(watch.Output().substr(before.size()), Not(HasSubstr("NAME")));
}

TEST_P(PluginBothKindsTest, UndoBringsBackTemplateAndOverrides) {
  StartTwoPools();
  const Json first = At(GetDaemon("web"), "/spec/workloadTemplate");
  PatchSpec("web", {{"overrides", {{{"pools", {Pool("b")}}, {"images", {{{"name", "main"}, {"image", "b:2"}}}}}}}});
  Eventually("the overrides have a revision", [&] { return Revisions("web").size() == 2; });
  kube().MergePatch(kYurtAppDaemonType, "web",
                    {{"metadata", {{"annotations", {{"kubernetes.io/change-cause", "new logo"}}}}}});
  SetImage("web", "example.org/app:2");
  WaitUntilReady("web");
  Eventually("three revisions", [&] { return Revisions("web").size() == 3; });

  EXPECT_THAT(YadOut({"history", "web"}), AllOf(StartsWith("REVISION   NAME"), HasSubstr("example.org/app:2,b:2"),
                                                HasSubstr("current,update"), HasSubstr("   new logo   ")));
  EXPECT_THAT(YadOut({"history", "web", "--revision=3"}), HasSubstr("image: b:2"));
  EXPECT_EQ(YadErr({"history", "web", "--revision=9"}, kFailed),
            "error: unable to find specified revision 9 in history: there are 1, 2, 3\n");

  const std::string version = VersionOf(GetDaemon("web"));
  EXPECT_EQ(YadOut({"undo", "web", "--to-revision=1", "--dry-run=server"}),
            Subject() + " rolled back (server dry run)\n");
  EXPECT_EQ(YadOut({"undo", "web", "--to-revision=1", "--dry-run=client"}), Subject() + " rolled back (dry run)\n");
  EXPECT_EQ(VersionOf(GetDaemon("web")), version);
  EXPECT_THAT(YadErr({"undo", "web", "--to-revision=9"}, kFailed), HasSubstr("there are 1, 2, 3"));

  EXPECT_EQ(YadOut({"undo", "web", "--to-revision=1"}), Subject() + " rolled back\n");
  const Json back = WaitUntilReady("web");
  EXPECT_EQ(At(back, "/spec/workloadTemplate"), first);
  EXPECT_EQ(At(back, "/spec/overrides"), Json());
  for (const auto& [pool, workload] : ByPool("web")) EXPECT_EQ(ImageOf(workload), "example.org/app:1");
  EXPECT_THAT(YadOut({"undo", "web", "--to-revision=4"}),
              HasSubstr("skipped rollback (current template already matches revision 4)"));
  // A second undo returns to the revision before the first undo.
  YadOut({"undo", "web"});
  EXPECT_EQ(ImageOf(GetDaemon("web")["spec"]["workloadTemplate"][TemplateField(kind())]), "example.org/app:2");
  EXPECT_EQ(At(GetDaemon("web"), "/spec/overrides/0/images/0/image"), "b:2");
}

TEST_P(PluginOnceTest, PauseHoldsARolloutAndResumeLetsItGo) {
  StartTwoPools();
  EXPECT_EQ(YadOut({"pause", "web"}), Subject() + " paused\n");
  EXPECT_EQ(YadErr({"pause", "web"}, kFailed), "error: yurtappdaemons.apps.openyurt.io \"web\" is already paused\n");
  EXPECT_THAT(YadErr({"restart", "web"}, kFailed), HasSubstr("run kubectl yad resume web first"));
  SetImage("web", "example.org/app:2");
  WaitForStatus("web", "is held", [](const Json& status) { return At(status, "/updatedPools") == 0; });
  EXPECT_THAT(YadOut({"status", "web", "--watch=false"}), HasSubstr("0 of 2 pools updated (Paused"));
  EXPECT_EQ(YadOut({"resume", "web", "-o", "name"}), Subject() + "\n");
  EXPECT_EQ(YadErr({"resume", "web"}, kFailed), "error: yurtappdaemons.apps.openyurt.io \"web\" is not paused\n");
  YadOut({"status", "web", "--timeout=60s"});
  for (const auto& [pool, workload] : ByPool("web")) EXPECT_EQ(ImageOf(workload), "example.org/app:2");
}

TEST_P(PluginOnceTest, HeldPoolIsNotUpdatedUntilItIsReleased) {
  StartTwoPools();
  PatchSpec("web", {{"updateStrategy", {{"type", "RollingUpdate"}}}});
  const std::string a = Pool("a");
  const std::string subject = "nodepool.apps.openyurt.io/" + a;
  EXPECT_THAT(YadErr({"release", a}, kFailed), HasSubstr(subject + " is not held"));
  EXPECT_EQ(YadOut({"hold", a, "--reason", "no time"}), subject + " held\n");
  EXPECT_EQ(YadOut({"hold", a, "--reason", "stocktaking", "-o", "name"}), subject + "\n");
  SetImage("web", "example.org/app:2");
  WaitForStatus("web", "the other pool is updated",
                [](const Json& status) { return status.dump().find("PoolsHeld") != std::string::npos; });
  EXPECT_THAT(YadOut({"status", "web", "--watch=false"}), HasSubstr("held by their sites: " + a));
  EXPECT_THAT(YadOut({"pools", "web", "-o", "wide"}), HasSubstr("stocktaking"));
  EXPECT_EQ(ImageOf(ByPool("web").at(a)), "example.org/app:1");
  EXPECT_EQ(YadOut({"release", a}), subject + " released\n");
  YadOut({"status", "web", "--timeout=60s"});
  EXPECT_EQ(ImageOf(ByPool("web").at(a)), "example.org/app:2");
  EXPECT_THAT(YadErr({"hold", "elsewhere", "--reason", "x"}, kFailed), HasSubstr("\"elsewhere\" not found"));
}

TEST_P(PluginBothKindsTest, ARestartIsARevisionAndThatOfAPoolTouchesItsWorkloadOnly) {
  StartTwoPools();
  EXPECT_EQ(YadOut({"restart", "web"}), Subject() + " restarted\n");
  YadOut({"status", "web", "--timeout=60s"});
  EXPECT_EQ(Revisions("web").size(), 2u);
  const auto before = ByPool("web");
  for (const auto& [pool, workload] : before) {
    EXPECT_NE(At(PodTemplate(workload), "/metadata/annotations").value(kRestartedAt, ""), "") << pool;
  }

  const std::string a = Pool("a");
  EXPECT_EQ(YadOut({"restart", "web", "--pool", a}), Workload() + NameOf(before.at(a)) + " restarted\n");
  Barrier();
  Barrier();
  const auto after = ByPool("web");
  const Json annotations = At(PodTemplate(after.at(a)), "/metadata/annotations");
  EXPECT_NE(annotations.value(kPoolRestartedAt, ""), "");
  EXPECT_EQ(annotations.value(kRestartedAt, ""),
            At(PodTemplate(before.at(a)), "/metadata/annotations").value(kRestartedAt, ""));
  EXPECT_EQ(PodTemplate(after.at(Pool("b"))), PodTemplate(before.at(Pool("b"))));
  EXPECT_EQ(Revisions("web").size(), 2u);

  const std::string error = YadErr({"restart", "web", "--pool", a, "--pool", "elsewhere"}, kFailed);
  EXPECT_THAT(error, AllOf(HasSubstr("has no workload in pool \"elsewhere\""), HasSubstr(a + ", " + Pool("b"))));
  EXPECT_EQ(PodTemplate(ByPool("web").at(a)), PodTemplate(after.at(a)));
}

TEST_P(PluginOnceTest, AnApprovalNamesRevisionAndGroup) {
  StartTwoPools();
  const std::string revision = StringAt(GetDaemon("web"), {"status", "updateRevision"});
  kube().MergePatch(kYurtAppDaemonType, "web",
                    {{"metadata", {{"annotations", {{"apps.openyurt.io/approve", "web-old/north"}}}}},
                     {"spec",
                      {{"updateStrategy",
                        {{"type", "RollingUpdate"},
                         {"rollingUpdate",
                          {{"groups",
                            {{{"name", "canary"}, {"pools", {Pool("a")}}},
                             {{"name", "north"}, {"pools", {Pool("b")}}, {"approval", "Manual"}},
                             {{"name", "south"}, {"pools", {"c"}}, {"approval", "Manual"}}}}}}}}}}});
  WaitUntilObserved("web");
  const auto approvals = [&] { return Annotation(GetDaemon("web"), "apps.openyurt.io/approve"); };
  EXPECT_THAT(YadErr({"approve", "web", "canary"}, kFailed),
              AllOf(HasSubstr("no group \"canary\" that waits for approval"), HasSubstr("north, south")));
  EXPECT_EQ(approvals(), "web-old/north");
  EXPECT_EQ(YadOut({"approve", "web", "north"}),
            Subject() + " approved: north may begin with revision " + revision + "\n");
  EXPECT_EQ(approvals(), revision + "/north");
  const ProcessResult again = Yad({"approve", "web", "north"});
  EXPECT_EQ(again.exit_code, kDone);
  EXPECT_EQ(again.err, "group north is approved already for revision " + revision + "\n");
  YadOut({"approve", "web", "south"});
  EXPECT_EQ(approvals(), revision + "/north," + revision + "/south");
}

TEST_P(PluginOnceTest, ARolloutThatWaitsForApprovalGoesOnOnceItIsGiven) {
  StartTwoPools();
  PatchSpec("web", {{"updateStrategy",
                     {{"type", "RollingUpdate"},
                      {"rollingUpdate",
                       {{"groups",
                         {{{"name", "canary"}, {"pools", {Pool("a")}}},
                          {{"name", "north"}, {"pools", {Pool("b")}}, {"approval", "Manual"}}}}}}}}});
  SetImage("web", "example.org/app:2");
  Process status(Command({"status", "web", "--timeout=60s"}));
  Eventually("it waits for approval",
             [&] { return status.Output().find("1 of 2 pools updated (WaitingForApproval") != std::string::npos; });
  EXPECT_EQ(ImageOf(WorkloadOf("web", Pool("b"))), "example.org/app:1");
  EXPECT_THAT(YadOut({"diff", "web"}, kNo), StartsWith("# pool " + Pool("b") + "\n"));
  YadOut({"approve", "web", "north"});
  EXPECT_EQ(status.Wait(kEventuallyTimeout), kDone) << status.Errors();
  EXPECT_EQ(ImageOf(WorkloadOf("web", Pool("b"))), "example.org/app:2");
  EXPECT_EQ(YadOut({"diff", "web"}), "");
}

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
  // The apply makes exactly the changes of the diff.
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

TEST_P(PluginBothKindsTest, RenderIsWhatTheOperatorCreates) {
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

TEST_P(PluginOnceTest, CapacityShowsAutoscalersAndPlansWhatKubectlPrints) {
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
  EXPECT_THAT(YadErr({"capacity", "nobody"}, kFailed), HasSubstr("\"nobody\" not found"));

  // The second run reads the same objects from a file: with Auto, it would lease the standby.
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

TEST_P(PluginOnceTest, KubectlFindsItAndItsCompletion) {
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
  // A user chooses the image, so it may contain anything.
  kube().Edit(kYurtAppDaemonType, "web", [this](Json& daemon) { SetImageIn(daemon, "x\n1;reboot"); });
  Eventually("it is a revision", [&] {
    return run({YAD_PLUGIN_BINARY, "__complete", "undo", "-n", ns(), "web", "--to-revision", ""}).find("\n2\tx") !=
           std::string::npos;
  });
  EXPECT_THAT(run({YAD_PLUGIN_BINARY, "__complete", "undo", "-n", ns(), "web", "--to-revision", ""}),
              ::testing::Not(HasSubstr("\n1;reboot")));
  EXPECT_EQ(run({"bash", "-c",
                 "source <(kubectl-yad completion bash); COMP_WORDS=(kubectl-yad -n " + ns() +
                     " history w); COMP_CWORD=4; _kubectl_yad; echo \"${COMPREPLY[@]}\""}),
            "web\n");
}

TEST_P(PluginOnceTest, ErrorsReadLikeKubectlsAndNameTheFix) {
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
