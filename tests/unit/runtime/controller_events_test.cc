// The keys that a Controller queues for the events of its informers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/base/metrics.h"
#include "operator/runtime/controller.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/unit/runtime/controller_fixture.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

TEST_F(ControllerTest, EventsOfAPrimaryQueueItsKey) {
  MakeWithoutWorkers().For(*primary_.informer);
  primary_.Sync({Object("a", "1")});
  EXPECT_THAT(Queued(), ElementsAre("ns/a"));
  primary_.Push("MODIFIED", Object("a", "101"));
  EXPECT_THAT(Queued(), ElementsAre("ns/a"));
  primary_.Push("DELETED", Object("a", "102"));
  EXPECT_THAT(Queued(), ElementsAre("ns/a"));
}

TEST_F(ControllerTest, PredicatesFilterEvents) {
  MakeWithoutWorkers()
      .For(*primary_.informer, [](const Event& event) { return event.before == nullptr; })
      .Owns(*owned_.informer, [](const Event&) { return false; });
  primary_.Sync({Object("a", "1")});
  EXPECT_THAT(Queued(), ElementsAre("ns/a"));
  primary_.Push("MODIFIED", Object("a", "101"));
  owned_.Sync({OwnedBy(Object("child", "2"), "a", "uid")});
  EXPECT_THAT(Queued(), ElementsAre());
}

TEST_F(ControllerTest, OwnedObjectsQueueTheirControllerByKindGroupAndUid) {
  MakeWithoutWorkers().For(*primary_.informer).Owns(*owned_.informer);
  primary_.Sync({Object("a", "1", "uid-a"), Object("b", "2", "uid-b")});
  Queued();
  owned_.Sync({});
  owned_.Push("ADDED", OwnedBy(Object("x1", "101"), "a", "uid-a"));
  EXPECT_THAT(Queued(), ElementsAre("ns/a")) << "the version in the reference does not count";
  owned_.Push("ADDED", OwnedBy(Object("x2", "102"), "a", "uid-a", "Gadget"));
  owned_.Push("ADDED", OwnedBy(Object("x3", "103"), "a", "uid-a", "Widget", "other.com/v1"));
  owned_.Push("ADDED", OwnedBy(Object("x4", "104"), "a", "uid-a", "Widget", "example.com/v1", /*controller=*/false));
  owned_.Push("ADDED", OwnedBy(Object("x5", "105"), "a", "uid of its predecessor"));
  owned_.Push("ADDED", Object("x6", "106"));
  EXPECT_THAT(Queued(), ElementsAre());
  owned_.Push("ADDED", OwnedBy(Object("x7", "107"), "unknown", "uid-c"));
  EXPECT_THAT(Queued(), ElementsAre("ns/unknown")) << "the cache may lag, so the reconciler decides";
}

TEST_F(ControllerTest, ChangeOfTheControllerReferenceQueuesBothOwners) {
  MakeWithoutWorkers().For(*primary_.informer).Owns(*owned_.informer);
  primary_.Sync({Object("a", "1", "uid-a"), Object("b", "2", "uid-b")});
  owned_.Sync({OwnedBy(Object("x", "3"), "a", "uid-a")});
  Queued();
  owned_.Push("MODIFIED", OwnedBy(Object("x", "101"), "b", "uid-b"));
  EXPECT_THAT(Queued(), ElementsAre("ns/a", "ns/b"));
  owned_.Push("MODIFIED", Object("x", "102"));
  EXPECT_THAT(Queued(), ElementsAre("ns/b"));
}

TEST_F(ControllerTest, DeletedOwnedObjectQueuesItsOwner) {
  MakeWithoutWorkers().For(*primary_.informer).Owns(*owned_.informer);
  primary_.Sync({Object("a", "1", "uid-a")});
  owned_.Sync({OwnedBy(Object("x", "3"), "a", "uid-a")});
  Queued();
  owned_.Push("DELETED", OwnedBy(Object("x", "101"), "a", "uid-a"));
  EXPECT_THAT(Queued(), ElementsAre("ns/a"));
}

TEST_F(ControllerTest, FirstPacedEventQueuesTheKeyImmediatelyAndLaterOnesOncePerPeriod) {
  ControllerOptions options = NoResync();
  options.pace = [](const Request& key) { return std::chrono::seconds(key.name == "a" ? 3 : 9); };
  MakeWithoutWorkers(options).For(*primary_.informer).Owns(*owned_.informer, nullptr, [](const Event& event) {
    return IsSameObject(event) && event.before->digest() == event.after->digest();
  });
  primary_.Sync({Object("a", "1", "uid-a")});
  Json child = OwnedBy(Object("x", "101"), "a", "uid-a");
  owned_.Sync({});
  owned_.Push("ADDED", child);
  Queued();
  const auto report = [&](int ready) {
    child["metadata"]["resourceVersion"] = std::to_string(101 + ready);
    child["status"]["ready"] = ready;
    owned_.Push("MODIFIED", child);
  };
  report(1);
  EXPECT_THAT(Queued(), ElementsAre("ns/a")) << "the first event";
  report(2);
  report(3);
  EXPECT_THAT(Queued(), ElementsAre());
  child["spec"]["replicas"] = 5;
  report(4);
  EXPECT_THAT(Queued(), ElementsAre("ns/a")) << "a new spec does not wait";
  clock_.Advance(std::chrono::seconds(3));
  controller_->queue().Add({"ns", "b"});
  EXPECT_THAT(Queued(), ElementsAre("ns/b", "ns/a")) << "the delayed events";
}

TEST_F(ControllerTest, PacedEventsOfThePrimaryQueueItsKeyImmediatelyAndThenOncePerPeriod) {
  MakeWithoutWorkers().For(*primary_.informer, nullptr, [](const Event& event) { return IsSameObject(event); });
  primary_.Sync({Object("a", "1")});
  Queued();
  primary_.Push("MODIFIED", Object("a", "101"));
  EXPECT_THAT(Queued(), ElementsAre("ns/a")) << "the first event";
  primary_.Push("MODIFIED", Object("a", "102"));
  EXPECT_THAT(Queued(), ElementsAre());
  primary_.Push("DELETED", Object("a", "103"));
  EXPECT_THAT(Queued(), ElementsAre("ns/a")) << "a deletion does not wait";
}

TEST_F(ControllerTest, OwnedObjectsAreIndexedByTheUidOfTheirController) {
  MakeWithoutWorkers().For(*primary_.informer).Owns(*owned_.informer);
  owned_.Sync({OwnedBy(Object("x", "3"), "a", "uid-a"), OwnedBy(Object("y", "4"), "b", "uid-b"), Object("z", "5")});
  const auto mine = owned_.informer->store().ByIndex(Controller::kControllerUidIndex, "uid-a");
  ASSERT_TRUE(mine);
  ASSERT_EQ(mine->size(), 1u);
  EXPECT_EQ(mine->front()->meta().key.name, "x");
}

TEST_F(ControllerTest, WatchedObjectsAreMappedToAnyNumberOfKeys) {
  MakeWithoutWorkers().Watches(*primary_.informer, [](const Event& event) {
    const std::string name = (event.after ? event.after : event.before)->meta().key.name;
    return std::vector<Request>{{"x", name + "1"}, {"x", name + "2"}};
  });
  primary_.Sync({Object("a", "1")});
  EXPECT_THAT(Queued(), ElementsAre("x/a1", "x/a2"));
}

TEST_F(ControllerTest, OwnerWhoseNameIsTooLongForAnObjectIsNotQueued) {
  MakeWithoutWorkers().For(*primary_.informer).Owns(*owned_.informer);
  primary_.Sync({});
  owned_.Sync({});
  owned_.Push("ADDED", OwnedBy(Object("x", "101"), std::string(254, 'a'), "uid-a"));
  EXPECT_THAT(Queued(), ElementsAre());
  owned_.Push("ADDED", OwnedBy(Object("y", "102"), std::string(253, 'a'), "uid-a"));
  EXPECT_THAT(Queued(), ElementsAre("ns/" + std::string(253, 'a')));
}

// A replica that does not lead has no workers for months, and any user can write any owner name.
TEST_F(ControllerTest, NoKeyIsKeptBeforeRunAndRunQueuesAllPrimaryObjects) {
  Make(NoResync()).For(*primary_.informer).Owns(*owned_.informer);
  primary_.Sync({Object("a", "1", "uid-a"), Object("b", "2", "uid-b"), Object("deleted", "3")});
  owned_.Sync({});
  for (int i = 101; i <= 110; ++i) {
    owned_.Push("MODIFIED", OwnedBy(Object("x", std::to_string(i)), "owner-" + std::to_string(i), "uid"));
  }
  primary_.Push("DELETED", Object("deleted", "111"));
  EXPECT_EQ(controller_->queue().size(), 0u);
  Run();
  EXPECT_THAT(script_.Take(2), UnorderedElementsAre("ns/a", "ns/b"));
  owned_.Push("MODIFIED", OwnedBy(Object("x", "112"), "c", "uid"));
  EXPECT_THAT(script_.Take(2), UnorderedElementsAre("ns/owner-110", "ns/c"));
}

// For example, the pools whose nodes have changed can't be found later in a cache.
TEST_F(ControllerTest, KeysOfAControllerWithoutAPrimaryTypeAreKeptUntilRun) {
  Make(NoResync()).Watches(*primary_.informer, [](const Event&) { return std::vector<Request>{{"x", "y"}}; });
  primary_.Sync({Object("a", "1")});
  EXPECT_THAT(Queued(), ElementsAre("x/y"));
}

}  // namespace
}  // namespace yad::testing
