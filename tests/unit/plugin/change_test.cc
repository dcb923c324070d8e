// The changes of objects that the commands undo, approve and diff -f compute.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/commands/changes.h"
#include "plugin/commands/cluster_snapshot.h"
#include "plugin/commands/revisions.h"
#include "plugin/manifest/preview.h"
#include "tests/unit/yurtappdaemon/builders.h"

namespace yad {
namespace {

using namespace testing;  // NOLINT: the builders

using ::testing::ElementsAre;
using ::testing::HasSubstr;

RevisionEntry Entry(const std::string& image, std::int64_t number, const std::string& failed_at = "") {
  auto revision = std::make_shared<Revision>(*MakeRevision(DaemonJson(image), number));
  revision->failed_at = failed_at;
  return {revision, nullptr};
}

TEST(UndoTest, TemplateAndOverridesAreRestoredAndNothingElseChanges) {
  Json old_daemon = DaemonJson("app:1");
  TemplateOf(old_daemon)["spec"].erase("selector");
  old_daemon["spec"]["overrides"] = R"([{"pools": ["a"], "replicas": 3}])"_json;
  Json daemon = DaemonJson("app:2");
  TemplateOf(daemon)["spec"].erase("selector");
  TemplateOf(daemon)["spec"]["paused"] = true;
  daemon["spec"]["paused"] = true;
  const Json before = daemon;
  EXPECT_EQ(RestoreRevision(MakeRevision(old_daemon)->content, daemon), true);
  EXPECT_EQ(daemon["spec"]["workloadTemplate"], old_daemon["spec"]["workloadTemplate"]);
  EXPECT_EQ(daemon["spec"]["overrides"], old_daemon["spec"]["overrides"]);
  EXPECT_EQ(daemon["spec"]["paused"], true);
  EXPECT_EQ(daemon["metadata"], before["metadata"]);

  EXPECT_EQ(RestoreRevision(MakeRevision(old_daemon)->content, daemon), false);
  EXPECT_EQ(RestoreRevision(MakeRevision(before)->content, daemon), true);
  EXPECT_FALSE(daemon["spec"].contains("overrides"));
}

TEST(UndoTest, AServiceTemplateIsRestoredOrRemoved) {
  const Json without = DaemonJson("app:1");
  Json with = DaemonJson("app:1");
  with["spec"]["serviceTemplate"]["spec"]["ports"] = R"([{"port": 80}])"_json;
  Json daemon = without;
  EXPECT_EQ(RestoreRevision(MakeRevision(with)->content, daemon), true);
  EXPECT_EQ(daemon["spec"]["serviceTemplate"], with["spec"]["serviceTemplate"]);
  EXPECT_EQ(RestoreRevision(MakeRevision(without)->content, daemon), true);
  EXPECT_FALSE(daemon["spec"].contains("serviceTemplate"));
}

TEST(UndoTest, ASelectorInTheTemplateIsKept) {
  Json daemon = DaemonJson("app:2");
  EXPECT_EQ(RestoreRevision(MakeRevision(DaemonJson("app:1"))->content, daemon), true);
  EXPECT_EQ(daemon, DaemonJson("app:1"));
}

TEST(UndoTest, InvalidSpecIsReplacedByAnUndo) {
  Json daemon = DaemonJson("app:2");
  TemplateOf(daemon)["spec"].erase("template");
  EXPECT_EQ(RestoreRevision(MakeRevision(DaemonJson("app:1"))->content, daemon), true);
  EXPECT_EQ(daemon, DaemonJson("app:1"));
}

TEST(UndoTest, RestoresTheRevisionBeforeThatOfTheSpec) {
  const std::vector<RevisionEntry> revisions = {Entry("app:1", 1), Entry("app:2", 2), Entry("app:3", 3)};
  const auto target = [&](const Json& daemon, std::int64_t number = 0) {
    const auto found = UndoTarget(daemon, revisions, number);
    return found ? found->revision->number : -1;
  };
  EXPECT_EQ(target(DaemonJson("app:3")), 2);
  EXPECT_EQ(target(DaemonJson("app:3"), 1), 1);
  EXPECT_EQ(target(DaemonJson("app:3"), 4), -1);
  EXPECT_EQ(target(DaemonJson("app:4")), 3) << "the operator has not created a revision for the spec yet";
  Json invalid = DaemonJson("app:3");
  TemplateOf(invalid)["spec"].erase("template");
  EXPECT_EQ(target(invalid), 3);
  EXPECT_FALSE(UndoTarget(DaemonJson("app:1"), {revisions[0]}, 0));
  EXPECT_TRUE(UndoTarget(invalid, {revisions[0]}, 0));
  EXPECT_FALSE(UndoTarget(invalid, {}, 0));
}

TEST(UndoTest, FailedRevisionsAreSkippedIfAnEarlierOneHasNotFailed) {
  const std::string failed = "2026-01-01T00:00:00Z";
  const auto target = [](const std::vector<RevisionEntry>& revisions) {
    return UndoTarget(DaemonJson("app:3"), revisions, 0)->revision->number;
  };
  EXPECT_EQ(target({Entry("app:1", 1), Entry("app:2", 2, failed), Entry("app:3", 3, failed)}), 1);
  EXPECT_EQ(target({Entry("app:1", 1), Entry("app:2", 2, failed)}), 1) << "the operator has not stored the spec yet";
  EXPECT_EQ(target({Entry("app:1", 1, failed), Entry("app:2", 2, failed), Entry("app:3", 3)}), 2);
  EXPECT_EQ(UndoTarget(DaemonJson("app:3"), {Entry("app:2", 2, failed), Entry("app:3", 3)}, 2)->revision->number, 2);
}

TEST(UndoTest, AfterAStoppedRolloutTheRevisionWithMostReadyPoolsIsRestored) {
  const std::vector<RevisionEntry> revisions = {Entry("app:1", 1), Entry("app:2", 2), Entry("app:3", 3),
                                                Entry("app:4", 4)};
  const auto target = [&](const std::string& image, const char* progressing, std::vector<std::size_t> ready) {
    Json daemon = DaemonJson(image);
    daemon["status"] = {{"updateRevision", revisions[3].revision->name},
                        {"currentRevision", revisions[0].revision->name},
                        {"conditions", {{{"type", "Progressing"}, {"status", progressing}}}}};
    Json& pools = daemon["status"]["pools"] = {{{"phase", "Failed"}, {"revision", revisions[3].revision->name}}};
    for (const std::size_t i : ready) pools.push_back({{"phase", "Ready"}, {"revision", revisions[i].revision->name}});
    return UndoTarget(daemon, revisions, 0)->revision->number;
  };
  EXPECT_EQ(target("app:4", "False", {2, 1, 1}), 2) << "revision 3 has failed in other pools";
  EXPECT_EQ(target("app:5", "False", {1}), 2) << "the operator has not stored the spec yet";
  EXPECT_EQ(target("app:4", "False", {0, 2, 2, 3, 3, 3}), 3) << "a partition keeps a pool on revision 1";
  EXPECT_EQ(target("app:4", "False", {0, 2}), 3) << "the newest of several revisions with equally many pools";
  EXPECT_EQ(target("app:4", "False", {3}), 3) << "no other revision is in use, so the previous revision is restored";
  EXPECT_EQ(target("app:4", "False", {}), 1) << "no pool is Ready, so currentRevision is restored";
  EXPECT_EQ(target("app:4", "True", {0, 1}), 3) << "the rollout has not stopped";
}

TEST(UndoTest, UndoToAnotherKindIsRejected) {
  Json daemon = DaemonJson("app:2");
  const auto undone = RestoreRevision(MakeRevision(DaemonJson("app:1", WorkloadKind::kStatefulSet))->content, daemon);
  ASSERT_FALSE(undone);
  EXPECT_THAT(undone.error().message, HasSubstr("the kind of the workloads can't be changed"));
  EXPECT_EQ(daemon, DaemonJson("app:2"));
}

Json WithGroups() {
  Json daemon = DaemonJson();
  daemon["spec"]["updateStrategy"] = R"({"type": "RollingUpdate", "rollingUpdate": {"groups": [
    {"name": "canary", "pools": ["a"]}, {"name": "north", "pools": ["b"], "approval": "Manual"},
    {"name": "south", "pools": ["c"], "approval": "Manual"}]}})"_json;
  daemon["status"] = {{"updateRevision", "web-2"}, {"observedGeneration", 1}};
  return daemon;
}
std::string Approvals(const Json& daemon) {
  return StringAt(daemon, {"metadata", "annotations", "apps.openyurt.io/approve"});
}

TEST(ApprovalTest, EntriesOfOtherRevisionsAreRemoved) {
  Json daemon = WithGroups();
  daemon["metadata"]["annotations"]["apps.openyurt.io/approve"] = "web-1/north, web-2/south ,web-22/north,";
  std::vector<std::string> before;
  EXPECT_EQ(Approve({"north", "south"}, "", daemon, before), true);
  EXPECT_EQ(Approvals(daemon), "web-2/south,web-2/north");
  EXPECT_THAT(before, ElementsAre("south"));
  before.clear();
  EXPECT_EQ(Approve({"north"}, "", daemon, before), false);
  EXPECT_THAT(before, ElementsAre("north"));
}

TEST(ApprovalTest, OnlyGroupsThatWaitCanBeApproved) {
  Json daemon = WithGroups();
  std::vector<std::string> before;
  for (const char* group : {"canary", "west", "default"}) {
    const auto approved = Approve({"north", group}, "", daemon, before);
    ASSERT_FALSE(approved);
    EXPECT_THAT(approved.error().message, HasSubstr("valid: north, south"));
  }
  daemon["metadata"]["generation"] = 2;
  ASSERT_FALSE(Approve({"north"}, "", daemon, before));
  EXPECT_THAT(Approve({"north"}, "", daemon, before).error().message, HasSubstr("try again in a few seconds"));
  EXPECT_EQ(Approvals(daemon), "");
}

TEST(ApprovalTest, OnlyTheRevisionThatTheUserHasSeenIsApproved) {
  Json daemon = WithGroups();
  std::vector<std::string> before;
  const auto approved = Approve({"north"}, "web-1", daemon, before);
  ASSERT_FALSE(approved);
  EXPECT_EQ(approved.error().reason, Reason::kConflict);
  EXPECT_EQ(approved.error().message,
            "the update revision of yurtappdaemons.apps.openyurt.io \"web\" is web-2, and no longer web-1: check it "
            "(kubectl yad diff, kubectl yad history), and approve it with --revision=web-2");
  EXPECT_EQ(Approvals(daemon), "");
  EXPECT_EQ(Approve({"north"}, "web-2", daemon, before), true);
  EXPECT_EQ(Approvals(daemon), "web-2/north");
}

TEST(RevisionOfTest, FindsTheNewestRevisionWithThisContentOrCreatesOne) {
  const YurtAppDaemon daemon = *ParseYurtAppDaemon(DaemonJson("app:1"));
  const RevisionPtr one = MakeRevision(DaemonJson("app:1"), 1);
  const RevisionPtr two = MakeRevision(DaemonJson("app:2"), 2);
  const RevisionPtr again = MakeRevision(DaemonJson("app:1"), 3);
  EXPECT_EQ(RevisionOf(daemon, {one, two, again}), again);
  const RevisionPtr made = RevisionOf(daemon, {two});
  EXPECT_EQ(made->name, one->name);
  EXPECT_EQ(made->label, one->label);
  EXPECT_EQ(made->number, 3);
  // Another revision already has this name, so the plugin uses the next hash, as the operator does.
  auto taken = std::make_shared<Revision>(*two);
  taken->name = one->name;
  EXPECT_EQ(RevisionOf(daemon, {taken})->hash, RevisionHash(one->content, 1));
}

TEST(ComposeSnapshotTest, ReturnToAnEarlierRevisionForgetsItsFailureAndItsPercentGroups) {
  auto failed = std::make_shared<Revision>(*Entry("app:2", 2, "2026-01-01T00:00:00Z").revision);
  failed->percent_groups = "canary=a";
  SnapshotParts parts;
  parts.revisions = {Entry("app:1", 1), {failed, nullptr}, Entry("app:3", 3)};
  Json daemon = DaemonJson("app:2");
  daemon["status"]["currentRevision"] = parts.revisions[2].revision->name;
  const auto again = ComposeSnapshot(daemon, parts, WallTime());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->update->name, failed->name);
  EXPECT_EQ(again->update->number, 4);
  EXPECT_EQ(again->update->failed_at, "");
  EXPECT_EQ(again->update->percent_groups, "");
  EXPECT_EQ(again->current, parts.revisions[2].revision);
  EXPECT_THAT(again->revisions, ElementsAre(again->update, again->current));

  daemon["status"]["currentRevision"] = failed->name;
  const auto current = ComposeSnapshot(daemon, parts, WallTime());
  EXPECT_EQ(current->current, current->update);
  EXPECT_THAT(current->revisions, ElementsAre(current->update));

  parts.revisions.pop_back();
  EXPECT_EQ(ComposeSnapshot(daemon, parts, WallTime())->update, failed) << "the failed revision is the newest";
}

TEST(PreviewTest, PoolsWithEqualChangesAreListedTogether) {
  const Json old_daemon = DaemonJson("app:1");
  Json new_daemon = DaemonJson("app:2");
  new_daemon["spec"]["overrides"] = R"([{"pools": ["shop-3"], "images": [{"name": "main", "image": "app:3"}]},
                                        {"pools": ["shop-5"], "images": [{"name": "main", "image": "app:1"}]}])"_json;
  const RevisionPtr before = MakeRevision(old_daemon, 1);
  Snapshot snapshot;
  snapshot.daemon = *ParseYurtAppDaemon(new_daemon);
  snapshot.update = MakeRevision(new_daemon, 2);
  snapshot.current = before;
  snapshot.revisions = {snapshot.update, before};
  for (const char* name : {"shop-1", "shop-2", "shop-3", "shop-4", "shop-5", "new-1", "new-2"}) {
    snapshot.pools.push_back(MakePool(PoolJson(name)));
    if (std::string(name).starts_with("shop")) {
      snapshot.workloads.push_back(MakeWorkload(WorkloadJson(old_daemon, before, PoolJson(name))));
    }
  }
  snapshot.workloads.push_back(MakeWorkload(WorkloadJson(old_daemon, before, PoolJson("left"))));
  snapshot.pools.push_back(MakePool(PoolJson(std::string(64, 'x'))));
  const auto preview = MakePreview(snapshot);
  ASSERT_TRUE(preview);
  ASSERT_EQ(preview->changes.size(), 3u);
  EXPECT_THAT(preview->changes[0].pools, ElementsAre("shop-1", "shop-2", "shop-4"));
  EXPECT_EQ(ImageOf(preview->changes[0].before), "app:1");
  EXPECT_EQ(ImageOf(preview->changes[0].after), "app:2");
  EXPECT_THAT(preview->changes[1].pools, ElementsAre("shop-3"));  // shop-5 does not change.
  EXPECT_THAT(preview->changes[2].pools, ElementsAre("new-1", "new-2"));
  EXPECT_TRUE(preview->changes[2].before.is_null());
  ASSERT_EQ(preview->removals.size(), 1u);
  EXPECT_EQ(preview->removals[0].pool, "left");
  ASSERT_EQ(preview->failures.size(), 1u);
  EXPECT_EQ(preview->failures[0].reason, "InvalidPoolName");
}

TEST(PreviewTest, ServicesAreShownBesideTheirWorkloads) {
  const Json old_daemon = DaemonJson("app:1");
  Json new_daemon = old_daemon;
  new_daemon["spec"]["serviceTemplate"]["spec"]["ports"] = R"([{"port": 80}])"_json;
  const RevisionPtr before = MakeRevision(old_daemon, 1);
  Snapshot snapshot;
  snapshot.daemon = *ParseYurtAppDaemon(new_daemon);
  snapshot.update = MakeRevision(new_daemon, 2);
  snapshot.revisions = {snapshot.update, before};
  for (const char* name : {"a", "b"}) {
    snapshot.pools.push_back(MakePool(PoolJson(name)));
    snapshot.workloads.push_back(MakeWorkload(WorkloadJson(old_daemon, before, PoolJson(name))));
  }
  const auto preview = MakePreview(snapshot);
  ASSERT_TRUE(preview);
  ASSERT_EQ(preview->changes.size(), 2u);
  EXPECT_EQ(preview->changes[0].after["kind"], "Service");
  EXPECT_THAT(preview->changes[0].pools, ElementsAre("a", "b"));
  EXPECT_EQ(preview->changes[1].after["kind"], "Deployment") << "the workload has a new revision label";
}

TEST(PreviewTest, OnlyWholeWordsAreReplaced) {
  EXPECT_EQ(ReplaceWord("a: a-b, ba a1 x.a", "a", "?"), "?: ?-b, ba a1 x.?");
  EXPECT_EQ(ReplaceWord("aa", "a", "?"), "aa");
  EXPECT_EQ(ReplaceWord("aaa a", "aa", "?"), "aaa a");
  EXPECT_EQ(ReplaceWord("x", "", "?"), "x");
}

TEST(PreviewTest, FieldsThatControllersWriteAreNotShown) {
  Json workload = WorkloadJson(DaemonJson(), MakeRevision(DaemonJson()), PoolJson("a"));
  const Json shown = Shown(workload);
  for (const char* field : {"uid", "resourceVersion", "generation", "creationTimestamp"}) {
    EXPECT_FALSE(shown["metadata"].contains(field)) << field;
  }
  EXPECT_FALSE(shown.contains("status"));
  EXPECT_EQ(shown["spec"], workload["spec"]);
}

}  // namespace
}  // namespace yad
