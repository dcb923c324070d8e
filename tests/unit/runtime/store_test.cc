#include "operator/runtime/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/runtime/store_objects.h"

namespace yad::testing {
namespace {

using ::testing::UnorderedElementsAre;

// ---- Reading

TEST(StoreTest, UnsyncedStoreDoesNotReportAnObjectAsAbsent) {
  Store store;
  store.AddIndex("i", [](const StoredObject&) { return std::vector<std::string>{"v"}; });
  EXPECT_FALSE(store.synced());
  EXPECT_EQ(store.List().error().reason, Reason::kNotSynced);
  EXPECT_EQ(store.Get({"ns", "a"}).error().reason, Reason::kNotSynced);
  EXPECT_EQ(store.ByIndex("i", "v").error().reason, Reason::kNotSynced);
  store.Apply(Make("a", "1"));
  EXPECT_EQ(store.List().error().reason, Reason::kNotSynced);
}

TEST(StoreTest, AnEmptyListSyncsTheStore) {
  Store store;
  EXPECT_TRUE(store.Replace({}, "5").empty());
  EXPECT_TRUE(store.synced());
  EXPECT_TRUE(store.List()->empty());
  EXPECT_EQ(store.Get({"ns", "a"}).error().reason, Reason::kNotFound);
}

TEST(StoreTest, IndexIsUpdatedByEveryChange) {
  Store store;
  store.AddIndex("uid", [](const StoredObject& object) { return std::vector<std::string>{object.meta().uid}; });
  const auto names = [&](const std::string& uid) {
    std::vector<std::string> result;
    const auto objects = store.ByIndex("uid", uid);
    for (const ObjectPtr& object : *objects) result.push_back(object->meta().key.name);
    return result;
  };
  store.Replace({Make("a", "1", "u1"), Make("b", "2", "u1"), Make("c", "3", "u2")}, "3");
  EXPECT_THAT(names("u1"), UnorderedElementsAre("a", "b"));
  store.Apply(Make("a", "4", "u2"));
  EXPECT_THAT(names("u1"), UnorderedElementsAre("b"));
  EXPECT_THAT(names("u2"), UnorderedElementsAre("a", "c"));
  store.Remove(Make("c", "5", "u2"));
  EXPECT_THAT(names("u2"), UnorderedElementsAre("a"));
  store.Observe(Make("d", "6", "u2"));
  EXPECT_THAT(names("u2"), UnorderedElementsAre("a", "d"));
  store.Replace({}, "7");
  EXPECT_THAT(names("u2"), UnorderedElementsAre());
  EXPECT_EQ(store.ByIndex("no such", "x").error().reason, Reason::kConfig);
}

// ---- List and watch

TEST(StoreTest, ObjectsMissingInANewListAreDeleted) {
  Store store;
  EXPECT_THAT(Describe(store.Replace({Make("a", "1"), Make("b", "2"), Make("c", "3")}, "3")),
              UnorderedElementsAre("a -->1", "b -->2", "c -->3"));
  EXPECT_THAT(Describe(store.Replace({Make("b", "2"), Make("c", "8"), Make("d", "9")}, "10")),
              UnorderedElementsAre("a 1->-", "c 3->8", "d -->9"));
  EXPECT_EQ(store.size(), 3u);
}

TEST(StoreTest, NewestOfDuplicatesInAListIsStored) {
  Store store;
  EXPECT_THAT(Describe(store.Replace({Make("a", "7"), Make("a", "3"), Make("b", "1"), Make("b", "2")}, "9")),
              UnorderedElementsAre("a -->7", "b -->2"));
}

TEST(StoreTest, ObjectsWithoutANameAreSkipped) {
  Store store;
  EXPECT_THAT(Describe(store.Replace({Make("", "1"), Make("a", "2")}, "3")), UnorderedElementsAre("a -->2"));
  EXPECT_EQ(Describe(store.Apply(Make("", "4"))), "no change");
  store.Observe(Make("", "5"));
  EXPECT_EQ(store.size(), 1u);
}

TEST(StoreTest, AnOlderObjectInANewerListDoesNotReplaceTheStoredOne) {
  Store store;
  store.Replace({Make("a", "5")}, "5");
  EXPECT_THAT(Describe(store.Replace({Make("a", "4")}, "6")), UnorderedElementsAre());
  EXPECT_EQ(InStore(store, "a"), "5");
}

TEST(StoreTest, DuplicateAndOlderEventsAreIgnored) {
  Store store;
  store.Replace({Make("a", "5")}, "5");
  EXPECT_EQ(Describe(store.Apply(Make("a", "7"))), "a 5->7");
  EXPECT_EQ(Describe(store.Apply(Make("a", "7"))), "no change");
  EXPECT_EQ(Describe(store.Apply(Make("a", "6"))), "no change");
  EXPECT_EQ(Describe(store.Remove(Make("a", "6"))), "no change");
  EXPECT_EQ(InStore(store, "a"), "7");
  EXPECT_EQ(Describe(store.Remove(Make("a", "8"))), "a 7->-");
  EXPECT_EQ(Describe(store.Remove(Make("a", "8"))), "no change");
  EXPECT_EQ(Describe(store.Apply(Make("a", "7"))), "no change") << "a repeated event must not restore a deleted object";
  EXPECT_EQ(InStore(store, "a"), "NotFound");
}

TEST(StoreTest, DeletionWithTheStoredVersionIsApplied) {
  Store store;
  store.Replace({Make("a", "5")}, "5");
  EXPECT_EQ(Describe(store.Remove(Make("a", "5"))), "a 5->-");
}

TEST(StoreTest, EventsWithNonNumericVersionsAreAlwaysApplied) {
  Store store;
  store.Replace({Make("a", "x")}, "list");
  EXPECT_EQ(Describe(store.Apply(Make("a", "w"))), "a x->w");
  EXPECT_EQ(Describe(store.Apply(Make("a", "w"))), "no change");
  store.Observe(Make("a", "z"));
  EXPECT_EQ(InStore(store, "a"), "w");
  EXPECT_EQ(Describe(store.Apply(Make("b", "list"))), "b -->list");
  EXPECT_EQ(Describe(store.Remove(Make("a", "v"))), "a w->-");
}

TEST(StoreTest, RecreatedObjectIsReportedAsOneChangeWithTwoUids) {
  Store store;
  store.Replace({Make("a", "5", "u1")}, "5");
  const auto changes = store.Replace({Make("a", "9", "u2")}, "9");
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].before->meta().uid, "u1");
  EXPECT_EQ(changes[0].after->meta().uid, "u2");
}

// ---- Observe

TEST(StoreTest, ObservedObjectIsStoredImmediatelyAndReportedByTheWatch) {
  Store store;
  store.Replace({Make("a", "5")}, "5");
  store.Observe(Make("a", "9"));
  store.Observe(Make("b", "10"));
  EXPECT_EQ(InStore(store, "a"), "9");
  EXPECT_EQ(InStore(store, "b"), "10");
  EXPECT_EQ(Describe(store.Apply(Make("a", "9"))), "a 5->9");
  EXPECT_EQ(Describe(store.Apply(Make("a", "9"))), "no change");
  EXPECT_EQ(Describe(store.Apply(Make("b", "10"))), "b -->10");
}

TEST(StoreTest, HandlersGetTheWatchsEventsWhileTheStoreIsNewer) {
  Store store;
  store.Replace({Make("a", "5")}, "5");
  store.Observe(Make("a", "9"));
  EXPECT_EQ(Describe(store.Apply(Make("a", "7"))), "a 5->7");
  EXPECT_EQ(InStore(store, "a"), "9");
  EXPECT_EQ(Describe(store.Apply(Make("a", "9"))), "a 7->9");
}

TEST(StoreTest, ObserveDoesNotRestoreADeletedObject) {
  Store store;
  store.Replace({Make("a", "5")}, "5");
  store.Remove(Make("a", "9"));
  store.Observe(Make("a", "8"));  // a late response to a write before the deletion
  EXPECT_EQ(InStore(store, "a"), "NotFound");
}

TEST(StoreTest, ObserveDoesNotReplaceANewerObject) {
  Store store;
  store.Replace({Make("a", "5")}, "5");
  store.Apply(Make("a", "9"));
  store.Observe(Make("a", "7"));
  EXPECT_EQ(InStore(store, "a"), "9");
  store.Observe(Make("a", "12"));
  store.Observe(Make("a", "11"));
  EXPECT_EQ(InStore(store, "a"), "12");
}

TEST(StoreTest, ObserveIgnoresAnObjectThatIsOlderThanTheLastBookmark) {
  Store store;
  store.Replace({}, "5");
  store.Advance("20");
  store.Observe(Make("a", "15"));
  EXPECT_EQ(InStore(store, "a"), "NotFound");
  store.Advance("3");
  store.Observe(Make("a", "15"));
  EXPECT_EQ(InStore(store, "a"), "NotFound") << "an old bookmark must not move the position back";
}

TEST(StoreTest, RecreatedObjectIsKeptAfterTheDeletionOfItsPredecessor) {
  Store store;
  store.Replace({Make("a", "5", "u1")}, "5");
  store.Observe(Make("a", "9", "u2"));
  EXPECT_EQ(Describe(store.Remove(Make("a", "7", "u1"))), "a 5->-");
  EXPECT_EQ(InStore(store, "a"), "9");
  EXPECT_EQ(Describe(store.Remove(Make("a", "7", "u1"))), "no change");
  EXPECT_EQ(Describe(store.Apply(Make("a", "9", "u2"))), "a -->9");
}

TEST(StoreTest, DeletionOfAnObservedObjectIsReportedWithItsLastKnownState) {
  Store store;
  store.Replace({}, "5");
  store.Observe(Make("a", "9"));
  EXPECT_EQ(Describe(store.Remove(Make("a", "12"))), "a 9->-");
  EXPECT_EQ(InStore(store, "a"), "NotFound");
}

TEST(StoreTest, ANewListKeepsObservedObjectsThatAreNewer) {
  Store store;
  store.Replace({Make("a", "1"), Make("b", "2"), Make("c", "3")}, "5");
  store.Observe(Make("a", "12"));
  store.Observe(Make("new", "11"));
  store.Observe(Make("c", "9"));
  // Another client changed a at 7, and deleted b and c. It deleted c at 10, after this process's write at 9.
  EXPECT_THAT(Describe(store.Replace({Make("a", "7")}, "10")), UnorderedElementsAre("a 1->7", "b 2->-", "c 9->-"));
  EXPECT_EQ(InStore(store, "a"), "12");
  EXPECT_EQ(InStore(store, "new"), "11");
  EXPECT_EQ(InStore(store, "c"), "NotFound");
  EXPECT_EQ(Describe(store.Apply(Make("new", "11"))), "new -->11");
  EXPECT_EQ(Describe(store.Apply(Make("a", "12"))), "a 7->12");
}

TEST(StoreTest, NewListReportsTheDeletionBeforeAnObservedSuccessor) {
  Store store;
  store.Replace({Make("a", "1", "u1")}, "5");
  store.Observe(Make("a", "12", "u2"));
  EXPECT_THAT(Describe(store.Replace({}, "10")), UnorderedElementsAre("a 1->-"));
  EXPECT_EQ(InStore(store, "a"), "12");
  EXPECT_EQ(Describe(store.Apply(Make("a", "12", "u2"))), "a -->12");
}

TEST(StoreTest, AnObservedObjectThatAListContainsIsReported) {
  Store store;
  store.Replace({}, "5");
  store.Observe(Make("a", "9"));
  EXPECT_THAT(Describe(store.Replace({Make("a", "9")}, "10")), UnorderedElementsAre("a -->9"));
}

TEST(StoreTest, ObservedWriteIsRemovedIfANewerWatchPositionDoesNotContainIt) {
  Store store;
  store.Replace({Make("a", "1")}, "5");
  store.Observe(Make("a", "8"));  // A webhook removed the label by which the informer selects.
  store.Observe(Make("b", "9"));
  store.Observe(Make("later", "20"));
  store.Advance("10");
  EXPECT_EQ(InStore(store, "a"), "1");
  EXPECT_EQ(InStore(store, "b"), "NotFound");
  EXPECT_EQ(InStore(store, "later"), "20");
}

TEST(StoreTest, ObjectObservedBeforeTheFirstListIsKeptIfItIsNewer) {
  Store store;
  store.Observe(Make("old", "3"));
  store.Observe(Make("new", "9"));
  EXPECT_THAT(Describe(store.Replace({}, "5")), UnorderedElementsAre("old 3->-"));
  EXPECT_EQ(InStore(store, "new"), "9");
}

}  // namespace
}  // namespace yad::testing
