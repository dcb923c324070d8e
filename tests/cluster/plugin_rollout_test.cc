// The commands of kubectl yad that change a rollout: undo, pause, hold, restart and approve.
#include <gtest/gtest.h>

#include "tests/cluster/fixture.h"
#include "tests/cluster/plugin_fixture.h"
#include "tests/support/process.h"

namespace yad::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_P(PluginOneKindTest, UndoRestoresTemplateAndOverrides) {
  StartTwoPools();
  const Json first = At(GetDaemon("web"), "/spec/workloadTemplate");
  PatchSpec("web", {{"overrides", {{{"pools", {Pool("b")}}, {"images", {{{"name", "main"}, {"image", "b:2"}}}}}}}});
  Eventually("the revision with the overrides exists", [&] { return Revisions("web").size() == 2; });
  kube().MergePatch(kYurtAppDaemonType, "web",
                    {{"metadata", {{"annotations", {{"kubernetes.io/change-cause", "new logo"}}}}}});
  SetImage("web", "example.org/app:2");
  WaitUntilReady("web");
  Eventually("three revisions exist", [&] { return Revisions("web").size() == 3; });

  EXPECT_THAT(YadOut({"history", "web"}), AllOf(StartsWith("REVISION   NAME"), HasSubstr("example.org/app:2,b:2"),
                                                HasSubstr("current,update"), HasSubstr("   new logo   ")));
  EXPECT_THAT(YadOut({"history", "web", "--revision=3"}), HasSubstr("image: b:2"));
  EXPECT_EQ(YadErr({"history", "web", "--revision=9"}, kFailed),
            "error: unable to find specified revision 9 in history: it has 1, 2, 3\n");

  const std::string version = VersionOf(GetDaemon("web"));
  const std::string rolled_back =
      Subject() + " rolled back to revision 1 (" + ParseMeta(Revisions("web").front()).key.name + ")";
  EXPECT_EQ(YadOut({"undo", "web", "--to-revision=1", "--dry-run=server"}), rolled_back + " (server dry run)\n");
  EXPECT_EQ(YadOut({"undo", "web", "--to-revision=1", "--dry-run=client"}), rolled_back + " (dry run)\n");
  EXPECT_EQ(VersionOf(GetDaemon("web")), version);
  EXPECT_THAT(YadErr({"undo", "web", "--to-revision=9"}, kFailed), HasSubstr("it has 1, 2, 3"));

  EXPECT_EQ(YadOut({"undo", "web", "--to-revision=1"}), rolled_back + "\n");
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

TEST_P(PluginOnceTest, PauseStopsARolloutAndResumeContinuesIt) {
  StartTwoPools();
  EXPECT_EQ(YadOut({"pause", "web"}), Subject() + " paused\n");
  // Flux removes fields of managers whose name begins with "kubectl".
  EXPECT_THAT(
      Kubectl({"get", "yad", "web", "--show-managed-fields", "--output=jsonpath={.metadata.managedFields[*].manager}"}),
      AllOf(HasSubstr("yad"), Not(HasSubstr("kubectl"))));
  EXPECT_EQ(YadErr({"pause", "web"}, kFailed), "error: yurtappdaemons.apps.openyurt.io \"web\" is already paused\n");
  EXPECT_THAT(YadErr({"restart", "web"}, kFailed), HasSubstr("run kubectl yad resume web first"));
  SetImage("web", "example.org/app:2");
  WaitForStatus("web", "no pool is updated", [](const Json& status) { return At(status, "/updatedPools") == 0; });
  EXPECT_THAT(YadOut({"status", "web", "--watch=false"}), HasSubstr("0 of 2 pools updated (Paused"));
  EXPECT_EQ(YadOut({"resume", "web", "-o", "name"}), Subject() + "\n");
  EXPECT_EQ(YadErr({"resume", "web"}, kFailed), "error: yurtappdaemons.apps.openyurt.io \"web\" is not paused\n");
  YadOut({"status", "web", "--timeout=180s"});
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
  EXPECT_THAT(YadOut({"status", "web", "--watch=false"}), HasSubstr("held: " + a));
  EXPECT_THAT(YadOut({"pools", "web", "-o", "wide"}), HasSubstr("stocktaking"));
  EXPECT_EQ(ImageOf(ByPool("web").at(a)), "example.org/app:1");
  EXPECT_EQ(YadOut({"release", a}), subject + " released\n");
  YadOut({"status", "web", "--timeout=180s"});
  EXPECT_EQ(ImageOf(ByPool("web").at(a)), "example.org/app:2");
  EXPECT_THAT(YadErr({"hold", "elsewhere", "--reason", "x"}, kFailed), HasSubstr("\"elsewhere\" not found"));
}

TEST_P(PluginOneKindTest, ARestartCreatesARevisionAndARestartOfOnePoolChangesOnlyItsWorkload) {
  StartTwoPools();
  EXPECT_EQ(YadOut({"restart", "web"}), Subject() + " restarted\n");
  YadOut({"status", "web", "--timeout=180s"});
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

TEST_P(PluginOnceTest, AnApprovalContainsTheRevisionAndTheGroup) {
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
              AllOf(HasSubstr("no group \"canary\" with approval Manual"), HasSubstr("north, south")));
  EXPECT_EQ(approvals(), "web-old/north");
  EXPECT_EQ(YadOut({"approve", "web", "north"}),
            Subject() + " approved: revision " + revision + " may be rolled out to group north\n");
  EXPECT_EQ(approvals(), revision + "/north");
  const ProcessResult again = Yad({"approve", "web", "north"});
  EXPECT_EQ(again.exit_code, kDone);
  EXPECT_EQ(again.err, "group north is approved already for revision " + revision + "\n");
  YadOut({"approve", "web", "south"});
  EXPECT_EQ(approvals(), revision + "/north," + revision + "/south");
}

TEST_P(PluginOnceTest, ARolloutThatWaitsForApprovalContinuesOnceItIsApproved) {
  StartTwoPools();
  UseCanaryAndNorth({Pool("b")});
  SetImage("web", "example.org/app:2");
  Process status(Command({"status", "web", "--timeout=180s"}));
  Eventually("kubectl yad status reports WaitingForApproval",
             [&] { return status.Output().find("1 of 2 pools updated (WaitingForApproval") != std::string::npos; });
  EXPECT_EQ(ImageOf(WorkloadOf("web", Pool("b"))), "example.org/app:1");
  EXPECT_THAT(YadOut({"diff", "web"}, kNo), StartsWith("# pool " + Pool("b") + "\n"));
  YadOut({"approve", "web", "north"});
  EXPECT_EQ(status.Wait(kEventuallyTimeout), kDone) << status.Errors();
  EXPECT_EQ(ImageOf(WorkloadOf("web", Pool("b"))), "example.org/app:2");
  EXPECT_EQ(YadOut({"diff", "web"}), "");
}

}  // namespace
}  // namespace yad::testing
