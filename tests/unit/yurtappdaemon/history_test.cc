#include "operator/yurtappdaemon/observe/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/yurtappdaemon/world.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class RevisionHistoryTest : public ::testing::Test {
 protected:
  RevisionHistoryTest() { world_.CreateDaemon(); }

  YurtAppDaemon Daemon(const std::string& image = "app:1") {
    world_.SetImage(image);
    return *ParseYurtAppDaemon(world_.Daemon());
  }
  RevisionHistory::State Sync(const YurtAppDaemon& daemon) {
    world_.Sync();
    auto state = history_.Sync(daemon, {});
    EXPECT_TRUE(state) << state.error().ToString();
    return state.value_or(RevisionHistory::State{});
  }
  // Returns the numbers of all revisions, sorted.
  std::vector<std::int64_t> Numbers() {
    std::vector<std::int64_t> numbers;
    for (const Json& revision : world_.Revisions()) numbers.push_back(revision["revision"]);
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }
  void Edit(const std::string& name, const std::function<void(Json&)>& edit) {
    world_.cluster.Edit(kControllerRevisionType, {kNs, name}, edit);
  }
  // Sets the number of app:1's revision to 7 on the server, but not in the cache. Sync must then fail with a conflict.
  void ExpectTheServersNumberIsKept(const std::string& revision_name) {
    const YurtAppDaemon daemon = Daemon("app:1");
    Edit(revision_name, [](Json& revision) { revision["revision"] = 7; });
    const auto state = history_.Sync(daemon, {});
    ASSERT_FALSE(state);
    EXPECT_EQ(state.error().reason, Reason::kConflict);
    EXPECT_THAT(Numbers(), ElementsAre(2, 7));
  }

  World world_;
  RevisionHistory history_{world_.client, world_.stores().revisions};
};

TEST_F(RevisionHistoryTest, NewContentIsANewRevisionWithTheNextNumber) {
  const auto first = Sync(Daemon("app:1"));
  EXPECT_TRUE(first.created);
  EXPECT_EQ(first.update->number, 1);
  const auto second = Sync(Daemon("app:2"));
  EXPECT_EQ(second.update->number, 2);
  EXPECT_NE(second.update->name, first.update->name);
  world_.cluster.ClearWrites();
  const auto again = Sync(Daemon("app:2"));
  EXPECT_FALSE(again.created);
  EXPECT_EQ(history_.Sync(Daemon("app:2"), {})->update, again.update) << "equal content must be parsed once";
  EXPECT_THAT(world_.Writes(), IsEmpty());
}

TEST_F(RevisionHistoryTest, TheSameContentAgainGetsAHigherNumber) {
  const auto first = Sync(Daemon("app:1"));
  Sync(Daemon("app:2"));
  const auto again = Sync(Daemon("app:1"));
  EXPECT_EQ(again.update->name, first.update->name);
  EXPECT_EQ(again.update->number, 3);
  EXPECT_EQ(again.all.back()->meta().key.name, first.update->name) << "the state is sorted by the new numbers";
  EXPECT_THAT(Numbers(), ElementsAre(2, 3));
}

TEST_F(RevisionHistoryTest, EqualRevisionIsRenderedFromTheTextOfTheSpec) {
  const auto lifecycle = [&](Json value) {
    world_.EditDaemon([&](Json& daemon) { PodSpecOf(TemplateOf(daemon))["containers"][0]["lifecycle"] = value; });
    return *ParseYurtAppDaemon(world_.Daemon());
  };
  const auto rejected = Sync(lifecycle({{"postStart", Json::object()}}));
  const auto fixed = Sync(lifecycle({{"postStart", nullptr}}));
  EXPECT_EQ(fixed.update->name, rejected.update->name);
  EXPECT_EQ(fixed.update->content.workload_template.dump().find("postStart"), std::string::npos);
  EXPECT_EQ(Sync(lifecycle({{"postStart", nullptr}})).update, fixed.update) << "equal content must be parsed once";
  EXPECT_EQ(history_.Named(fixed, fixed.update->name), fixed.update);
}

TEST_F(RevisionHistoryTest, FailedMarkIsKeptUntilTheRevisionIsRequestedAgain) {
  const auto good = Sync(Daemon("app:1"));
  const YurtAppDaemon daemon = Daemon("app:2");
  auto bad = Sync(daemon);
  EXPECT_EQ(bad.update->failed_at, "");
  // Revisions that the cache does not show are appended, so the update revision is not always the last revision.
  std::swap(bad.all.front(), bad.all.back());
  const auto marked = history_.MarkFailed(daemon, bad, ParseTime("2026-05-01T10:00:00Z"), "pool a: Invalid", {});
  ASSERT_TRUE(marked);
  EXPECT_EQ((*marked)->failed_at, "2026-05-01T10:00:00Z");
  EXPECT_EQ(Sync(daemon).update->failure, "pool a: Invalid");
  EXPECT_EQ(Sync(daemon).update->failed_at, "2026-05-01T10:00:00Z");
  EXPECT_EQ(Sync(Daemon("app:1")).update->name, good.update->name);
  const auto again = Sync(Daemon("app:2"));
  EXPECT_EQ(again.update->name, bad.update->name);
  EXPECT_EQ(again.update->failed_at, "");
  EXPECT_EQ(again.update->failure, "");
}

TEST_F(RevisionHistoryTest, KeepsThePercentGroupsUntilTheNextRolloutOfTheRevision) {
  Sync(Daemon("app:1"));
  const YurtAppDaemon daemon = Daemon("app:2");
  const auto state = Sync(daemon);
  EXPECT_EQ(state.update->percent_groups, "");
  ASSERT_TRUE(history_.StorePercentGroups(daemon, state, "{}", {}));
  EXPECT_EQ(Sync(daemon).update->percent_groups, "{}");
  Sync(Daemon("app:1"));
  EXPECT_EQ(Sync(Daemon("app:2")).update->percent_groups, "");
}

TEST_F(RevisionHistoryTest, AnnotationThatTheServerDropsIsAnError) {
  const YurtAppDaemon daemon = Daemon("app:1");
  const auto state = Sync(daemon);
  world_.cluster.SetMutation([](const ResourceType&, const Json&, Json& object) {
    if (object["metadata"].contains("annotations")) object["metadata"].erase("annotations");
  });
  const Status stored = history_.StorePercentGroups(daemon, state, "{}", {});
  ASSERT_FALSE(stored);
  EXPECT_NE(stored.error().reason, Reason::kConflict) << "a conflict would be retried every second";
}

TEST_F(RevisionHistoryTest, UsedRevisionGetsAHigherNumberIfAnotherHasTheSameNumber) {
  const auto first = Sync(Daemon("app:1"));
  const auto second = Sync(Daemon("app:2"));
  Edit(first.update->name, [](Json& revision) { revision["revision"] = 2; });
  EXPECT_EQ(Sync(Daemon("app:2")).update->number, 3);
  EXPECT_EQ(Sync(Daemon("app:2")).update->number, 3);
  EXPECT_THAT(Numbers(), ElementsAre(2, 3));
}

TEST_F(RevisionHistoryTest, TheHighestPossibleNumberIsUsedAgain) {
  constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();
  const auto first = Sync(Daemon("app:1"));
  Edit(first.update->name, [=](Json& revision) { revision["revision"] = kHighest; });
  EXPECT_EQ(Sync(Daemon("app:2")).update->number, kHighest);
  EXPECT_EQ(Sync(Daemon("app:1")).update->name, first.update->name);
  EXPECT_THAT(Numbers(), ElementsAre(kHighest, kHighest));
}

TEST_F(RevisionHistoryTest, RevisionCreatedWithAStaleCacheGetsItsOwnNumberLater) {
  Sync(Daemon("app:1"));
  World late;  // Another process has an empty cache.
  late.Sync();
  RevisionHistory of_late{world_.client, late.stores().revisions};
  Sync(Daemon("app:2"));
  ASSERT_TRUE(of_late.Sync(Daemon("app:3"), {}));
  EXPECT_THAT(Numbers(), ElementsAre(1, 1, 2));
  const auto state = Sync(Daemon("app:4"));
  EXPECT_THAT(Numbers(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(state.update->number, 4);
  world_.cluster.ClearWrites();
  Sync(Daemon("app:4"));
  EXPECT_THAT(world_.Writes(), IsEmpty());
}

TEST_F(RevisionHistoryTest, NumberOnTheServerIsNotOverwrittenFromAStaleCache) {
  const auto first = Sync(Daemon("app:1"));
  Sync(Daemon("app:2"));
  ExpectTheServersNumberIsKept(first.update->name);
}

TEST_F(RevisionHistoryTest, RevisionOfAnotherOwnerWithTheSameNameIncreasesTheCollisionCount) {
  YurtAppDaemon daemon = Daemon();
  const RevisionContent content = ContentOf(daemon);
  Json foreign = MakeControllerRevision(daemon, content, RevisionHash(content, 0), 1);
  foreign["metadata"]["ownerReferences"][0]["uid"] = "somebody";
  const Json before = world_.cluster.Create(kControllerRevisionType, foreign);
  const auto state = Sync(daemon);
  EXPECT_EQ(state.collision_count, 1);
  EXPECT_EQ(state.update->hash, RevisionHash(content, 1));
  EXPECT_EQ(*world_.cluster.Get(kControllerRevisionType, {kNs, StringAt(before, {"metadata", "name"})}), before);
  // The collision count is stored in status. The operator must find the revision with and without this count.
  EXPECT_EQ(Sync(daemon).update->name, state.update->name);
  daemon.status = {{"collisionCount", 1}};
  EXPECT_EQ(Sync(daemon).collision_count, 1);
  EXPECT_THAT(world_.Revisions(), SizeIs(2));
}

TEST_F(RevisionHistoryTest, OtherContentWithTheSameNameIncreasesTheCollisionCount) {
  const YurtAppDaemon daemon = Daemon();
  const RevisionContent content = ContentOf(daemon);
  Json other = MakeControllerRevision(daemon, ContentOf(*ParseYurtAppDaemon(DaemonJson("other:1"))),
                                      RevisionHash(content, 0), 1);
  world_.cluster.Create(kControllerRevisionType, other);
  const auto state = Sync(daemon);
  EXPECT_EQ(state.collision_count, 1);
  EXPECT_EQ(state.update->number, 2);
}

TEST_F(RevisionHistoryTest, OwnRevisionThatTheCacheDoesNotHaveIsUsed) {
  const YurtAppDaemon daemon = Daemon();
  const auto first = Sync(daemon);
  // The revision has lost its label, so the informer does not select it.
  Edit(first.update->name, [](Json& revision) {
    revision["metadata"]["labels"].erase(kOurRevisionLabel);
    revision["revision"] = 7;
  });
  const auto again = Sync(daemon);
  EXPECT_EQ(again.update->name, first.update->name);
  EXPECT_EQ(again.update->number, 7) << "the number must never decrease";
  EXPECT_EQ(world_.Revisions()[0]["metadata"]["labels"][kOurRevisionLabel], "true");
}

TEST_F(RevisionHistoryTest, AnOrphanWithTheSameContentIsAdoptedUnlessTheDaemonIsBeingDeleted) {
  const YurtAppDaemon daemon = Daemon();
  const auto first = Sync(daemon);
  const auto orphan = [&] {
    Edit(first.update->name, [](Json& revision) { revision["metadata"].erase("ownerReferences"); });
  };
  orphan();
  EXPECT_EQ(Sync(daemon).update->name, first.update->name);
  EXPECT_EQ(world_.Revisions()[0]["metadata"]["ownerReferences"][0]["uid"], world_.uid);

  orphan();
  world_.EditDaemon([](Json& d) { d["metadata"]["finalizers"] = {"orphan"}; });
  world_.cluster.Delete(kYurtAppDaemonType, {kNs, "web"});
  world_.Sync();
  EXPECT_FALSE(history_.Sync(daemon, {}));
  EXPECT_FALSE(world_.Revisions()[0]["metadata"].contains("ownerReferences"));
}

TEST_F(RevisionHistoryTest, ARevisionThatIsBeingDeletedIsNotUsed) {
  const YurtAppDaemon daemon = Daemon();
  const auto first = Sync(daemon);
  Edit(first.update->name, [](Json& revision) { revision["metadata"]["finalizers"] = {"x"}; });
  world_.cluster.Delete(kControllerRevisionType, {kNs, first.update->name});
  const auto again = Sync(daemon);
  EXPECT_NE(again.update->name, first.update->name);
}

TEST_F(RevisionHistoryTest, PruneKeepsExactlyTheLimitAndTheLiveRevisions) {
  YurtAppDaemon daemon = Daemon();
  RevisionHistory::State state;
  for (int i = 1; i <= 6; ++i) {
    daemon = Daemon("app:" + std::to_string(i));
    state = Sync(daemon);
  }
  const auto name = [&](std::int64_t number) {
    return state.all[static_cast<std::size_t>(number - 1)]->meta().key.name;
  };
  daemon.revision_history_limit = 2;
  EXPECT_TRUE(history_.Prune(daemon, state, {name(1), name(6)}, {}));
  EXPECT_THAT(Numbers(), ElementsAre(1, 4, 5, 6));
  daemon.revision_history_limit = 0;
  EXPECT_TRUE(history_.Prune(daemon, Sync(daemon), {name(1), name(6)}, {}));
  EXPECT_THAT(Numbers(), ElementsAre(1, 6));
}

TEST_F(RevisionHistoryTest, AnOlderSpecChangesNoRevision) {
  YurtAppDaemon old = Daemon("app:1");
  old.revision_history_limit = 0;
  const auto before = Sync(old);
  const YurtAppDaemon other = Daemon("app:3");
  Sync(Daemon("app:2"));
  world_.Sync();
  world_.cluster.ClearWrites();
  for (const YurtAppDaemon& daemon : {old, other}) {  // `old` raises the number of a revision, `other` creates one
    const auto state = history_.Sync(daemon, {});
    ASSERT_FALSE(state);
    EXPECT_EQ(state.error().reason, Reason::kConflict);
  }
  EXPECT_FALSE(history_.Prune(old, before, {}, {}));
  EXPECT_THAT(world_.Writes(), IsEmpty());
}

TEST_F(RevisionHistoryTest, ARevisionThatGotAHigherNumberMeanwhileIsNotPruned) {
  Sync(Daemon("app:1"));
  YurtAppDaemon daemon = Daemon("app:2");
  const auto before = Sync(daemon);
  Sync(Daemon("app:1"));
  daemon = Daemon("app:1");
  daemon.revision_history_limit = 0;
  EXPECT_TRUE(history_.Prune(daemon, before, {before.update->name}, {}));
  EXPECT_THAT(Numbers(), ElementsAre(2, 3));
}

// The cache of workloads is stale and does not have the new workload yet.
TEST_F(RevisionHistoryTest, RevisionOfAWorkloadOnTheServerIsNotPruned) {
  const auto first = Sync(Daemon("app:1"));
  world_.cluster.Create(kDeploymentType, WorkloadJson(world_.Daemon(), first.update, PoolJson("a")));
  Sync(Daemon("app:2"));
  YurtAppDaemon daemon = Daemon("app:3");
  daemon.revision_history_limit = 0;
  const auto state = Sync(daemon);
  EXPECT_TRUE(history_.Prune(daemon, state, {state.update->name}, {}));
  EXPECT_THAT(Numbers(), ElementsAre(1, 3));
}

TEST_F(RevisionHistoryTest, RevisionsAreFoundByNameAndByHash) {
  const auto state = Sync(Daemon());
  EXPECT_EQ(history_.Named(state, state.update->name), state.update);
  EXPECT_EQ(history_.Named(state, state.update->label), state.update);
  EXPECT_EQ(history_.Named(state, "nonsense"), nullptr);
  EXPECT_EQ(history_.Named(state, ""), nullptr);
}

// The apiserver rejects each patch of a revision whose `data` has other whitespace or escapes than Go writes. The
// operator then writes the number, the failed mark, the owner and the label by PUT.
TEST_F(RevisionHistoryTest, MetadataOfARevisionIsWrittenAlthoughTheServerRejectsPatches) {
  const auto first = Sync(Daemon("app:1"));
  const Json stored = world_.Revisions()[0];
  world_.cluster.StoreDataAs({kNs, first.update->name}, stored["data"].dump(2));
  Sync(Daemon("app:2"));
  const YurtAppDaemon daemon = Daemon("app:1");
  auto again = Sync(daemon);
  EXPECT_EQ(again.update->name, first.update->name);
  EXPECT_EQ(again.update->number, 3);
  ASSERT_TRUE(history_.MarkFailed(daemon, again, ParseTime("2026-05-01T10:00:00Z"), "pool a: Invalid", {}));
  EXPECT_EQ(Sync(daemon).update->failed_at, "2026-05-01T10:00:00Z");

  Edit(first.update->name, [](Json& revision) { revision["metadata"].erase("ownerReferences"); });
  world_.Sync();
  const auto orphans = world_.stores().revisions.ByIndex(kOrphansByNamespace, kNs);
  ASSERT_TRUE(history_.ClaimOrphans(daemon, *orphans, {}));
  Edit(first.update->name, [](Json& revision) { revision["metadata"]["labels"].erase(kOurRevisionLabel); });
  ASSERT_TRUE(history_.ClaimOpenYurtRevisions(daemon, {}));
  const Json now = *world_.cluster.Get(kControllerRevisionType, {kNs, first.update->name});
  EXPECT_EQ(now["metadata"]["ownerReferences"][0]["uid"], world_.uid);
  EXPECT_EQ(now["metadata"]["labels"][kOurRevisionLabel], "true");
  EXPECT_EQ(now["data"], stored["data"]);
}

TEST_F(RevisionHistoryTest, DoesNotOverwriteARevisionThatChangedBeforeItsPatchWasRejected) {
  const auto first = Sync(Daemon("app:1"));
  world_.cluster.StoreDataAs({kNs, first.update->name}, world_.Revisions()[0]["data"].dump(2));
  Sync(Daemon("app:2"));
  ExpectTheServersNumberIsKept(first.update->name);
}

TEST_F(RevisionHistoryTest, FindsARevisionWhoseContentDiffersOnlyInServerDefaults) {
  const auto with = [&](Json terminationMessagePath) {
    world_.EditDaemon([&](Json& daemon) {
      PodSpecOf(TemplateOf(daemon))["containers"][0]["terminationMessagePath"] = terminationMessagePath;
    });
    return *ParseYurtAppDaemon(world_.Daemon());
  };
  const auto first = Sync(with("/dev/termination-log"));
  world_.cluster.ClearWrites();
  const auto again = Sync(with(nullptr));
  EXPECT_EQ(again.update->name, first.update->name);
  EXPECT_THAT(world_.Writes(), IsEmpty());
  EXPECT_NE(Sync(with("/tmp/log")).update->name, first.update->name);
}

// Older versions could create two revisions with the same content. Here, a rollout updates from one to the other.
TEST_F(RevisionHistoryTest, UsesTheNewestOfTwoEqualRevisionsOfAnOlderVersion) {
  const YurtAppDaemon plain = Daemon("app:1");
  world_.EditDaemon([](Json& daemon) { PodSpecOf(TemplateOf(daemon))["dnsPolicy"] = "ClusterFirst"; });
  const YurtAppDaemon spelled_out = *ParseYurtAppDaemon(world_.Daemon());
  std::vector<std::string> names;
  for (const YurtAppDaemon& daemon : {plain, spelled_out}) {
    const RevisionContent content = ContentOf(daemon);
    const Json made = MakeControllerRevision(daemon, content, RevisionHash(content, 0), names.empty() ? 1 : 2);
    names.push_back(StringAt(world_.cluster.Create(kControllerRevisionType, made), {"metadata", "name"}));
  }
  ASSERT_NE(names[0], names[1]) << "the names must differ as in the older version";
  world_.cluster.ClearWrites();
  EXPECT_EQ(Sync(spelled_out).update->name, names[1]);
  EXPECT_THAT(world_.Writes(), IsEmpty());
  EXPECT_THAT(Numbers(), ElementsAre(1, 2));
}

TEST_F(RevisionHistoryTest, ReplacedRevisionIsRenderedFromItsOwnText) {
  world_.EditDaemon([](Json& daemon) { PodSpecOf(TemplateOf(daemon))["dnsPolicy"] = "ClusterFirst"; });
  const auto first = Sync(Daemon("app:1"));
  world_.EditDaemon([](Json& daemon) { PodSpecOf(TemplateOf(daemon)).erase("dnsPolicy"); });
  const auto spelled = Sync(Daemon("app:1"));
  EXPECT_EQ(spelled.update->name, first.update->name);
  EXPECT_EQ(spelled.update->content.workload_template.dump().find("dnsPolicy"), std::string::npos);
  const auto second = Sync(Daemon("app:2"));
  const RevisionPtr old = history_.Named(second, first.update->name);
  ASSERT_NE(old, nullptr);
  EXPECT_NE(old->content.workload_template.dump().find("dnsPolicy"), std::string::npos);
}

// The label is the revision's name if that is a valid label value (at most 63 characters), otherwise its hash.
TEST(RevisionHistoryFindTest, ReadsAnUncachedRevisionForDaemonNamesOfAnyLength) {
  for (const std::size_t length : {3U, 25U, 26U, 40U, 52U, 53U, 63U}) {
    World world;
    Json object = DaemonJson();
    object["metadata"]["name"] = std::string(length, 'd');
    const Json created = world.cluster.Create(kYurtAppDaemonType, object);
    const YurtAppDaemon daemon = *ParseYurtAppDaemon(created);
    RevisionHistory history{world.client, world.stores().revisions};
    world.Sync();
    const auto state = history.Sync(daemon, {});
    ASSERT_TRUE(state) << state.error().ToString();
    RevisionHistory::State empty;
    const auto found = history.Find(daemon, empty, state->update->label, {});
    ASSERT_TRUE(found) << found.error().ToString();
    ASSERT_NE(*found, nullptr) << length;
    EXPECT_EQ((*found)->name, state->update->name);
  }
}

TEST_F(RevisionHistoryTest, RevisionsOfOtherNamespacesWithTheDaemonAsOwnerAreNotChanged) {
  Sync(Daemon("app:1"));
  Json foreign = world_.Revisions().at(0);
  foreign["metadata"]["namespace"] = "elsewhere";
  foreign["metadata"].erase("uid");
  foreign["revision"] = 9;
  for (const char* name : {"web-1", "web-2"}) {
    foreign["metadata"]["name"] = name;
    world_.cluster.Create(kControllerRevisionType, foreign);
  }
  world_.cluster.ClearWrites();
  YurtAppDaemon daemon = Daemon("app:1");
  daemon.revision_history_limit = 0;
  const auto state = Sync(daemon);
  EXPECT_THAT(state.all, SizeIs(1));
  EXPECT_EQ(state.update->number, 1);
  ASSERT_TRUE(history_.Prune(daemon, state, {state.update->name}, {}));
  EXPECT_THAT(world_.Writes(), IsEmpty());
}

TEST_F(RevisionHistoryTest, AdoptionLabelsOnlyOwnRevisionsWithATemplate) {
  const YurtAppDaemon daemon = Daemon();
  const RevisionContent content = ContentOf(daemon);
  const auto create = [&](const std::string& name, const std::function<void(Json&)>& change) {
    Json revision = MakeControllerRevision(daemon, content, "h", 1);
    revision["metadata"]["name"] = name;
    revision["metadata"]["labels"] = {{kHashLabel, "h"}};
    change(revision);
    world_.cluster.Create(kControllerRevisionType, revision);
  };
  create("ours", [](Json&) {});
  create("of-a-statefulset", [](Json& r) { r["metadata"]["ownerReferences"][0]["uid"] = "a-statefulset"; });
  create("unreadable", [](Json& r) { r["data"] = {{"x", 1}}; });
  create("elsewhere", [](Json& r) { r["metadata"]["namespace"] = "other"; });
  ASSERT_TRUE(history_.ClaimOpenYurtRevisions(daemon, {}));
  std::vector<std::string> labelled;
  for (const Json& revision : world_.Revisions()) {
    if (revision["metadata"]["labels"].contains(kOurRevisionLabel)) labelled.push_back(revision["metadata"]["name"]);
  }
  EXPECT_THAT(labelled, ElementsAre("ours"));
}

}  // namespace
}  // namespace yad::testing
